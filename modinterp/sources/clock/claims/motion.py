"""Section 9: circles that revolve and rotate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch

from modinterp.analyses.circles.alignment import gains, mean_cosine
from modinterp.analyses.circles.circle import Winding
from modinterp.analyses.circles.linearity import MID
from modinterp.analyses.circles.rotation import Motion
from modinterp.claims.band import Band, at_least, at_most, between, equals
from modinterp.claims.claim import Claim, Value, each, refuted
from modinterp.measurements import PairMeasurements
from modinterp.measurements.network import NEURONS
from modinterp.measurements.waves import ATTN_OUT, MLP_OUT
from modinterp.sources.clock.runs import SEEDS

REVOLUTION = "revolution [turns]"
REVOLUTION_FIT = "revolution, lowest R squared"
LARGEST_ROTATION = "largest rotation [turns]"
ROTATION = "rotation [turns]"
ROTATION_FIT = "rotation, lowest R squared"
ORBIT = "largest orbit over radius"
REVOLVING_PART = "largest revolving part over radius"
LOGITS_DIFFERENCE = "largest difference to the logits"
WITHIN_CIRCLE = "smallest share of points within the embedding's circle"
LARGE_VALUES = "large singular values less 2 K"
ACCURACY = "accuracy"
OWNERS = "key frequencies that own two"
LOWEST_SHARE = "lowest share"
NEARER_TO_SECOND = "share of key frequencies twice as near to directions 3, 4"
LOWEST_GAINS = "lowest ratio of gains"

_WITH_HEAD = ", with a head"
ROTATION_FIT_WITH_HEAD = f"{ROTATION_FIT}{_WITH_HEAD}"
FIRST, SECOND = 0, 1  # pairs of principal directions


def _worst_turns(windings: Iterable[Winding]) -> float:
    """Number of turns, in whichever sense, that is farthest from 1; NaN if there are no windings."""
    return max((abs(winding.turns) for winding in windings), key=lambda n: abs(n - 1), default=math.nan)


def _revolving(m: PairMeasurements, hook: str) -> dict[str, Value]:
    motions = m.motions(hook, FIRST)
    return {
        REVOLUTION: _worst_turns(motion.revolution for motion in motions.values()),
        REVOLUTION_FIT: min(motion.revolution.explained for motion in motions.values()),
        LARGEST_ROTATION: max(abs(motion.rotation.turns) for motion in motions.values()),
    }


def _rotating(motions: Mapping[int, Motion]) -> dict[str, Value]:
    return {
        ROTATION: _worst_turns(motion.rotation for motion in motions.values()),
        ROTATION_FIT: min((motion.rotation.explained for motion in motions.values()), default=math.nan),
        "turning backwards": sum(motion.rotation.turns < 0 for motion in motions.values()),
        "lowest quality of the circles": min((motion.quality for motion in motions.values()), default=math.nan),
        ORBIT: max((motion.orbit_over_radius for motion in motions.values()), default=math.nan),
        REVOLVING_PART: max((motion.revolution_over_radius for motion in motions.values()), default=math.nan),
    }


def _rotation_in_second_pair(m: PairMeasurements, hook: str) -> dict[str, Value]:
    """Rotation in principal directions 3 and 4: at all key frequencies, and at those that a head is tuned to."""
    motions = m.motions(hook, SECOND)
    attended = {k: motion for k, motion in motions.items() if k in m.attended_frequencies}
    return {
        **_rotating(motions),
        "key frequencies": len(motions),
        "of them with a head": len(attended),
        **{f"{name}{_WITH_HEAD}": value for name, value in _rotating(attended).items()},
    }


def _parts_of_logits(m: PairMeasurements) -> dict[str, Value]:
    of_neurons, constant = m.post @ (m.W_out.double() @ m.W_U), m.b_out.double() @ m.W_U
    total = of_neurons + constant + m.activation(MID) @ m.W_U
    return {LOGITS_DIFFERENCE: float((total - m.logits).abs().max())}


def _revolution_of_attention(m: PairMeasurements) -> dict[str, Value]:
    shares = []
    for k in m.freqs:
        pair = m.plane_directions(ATTN_OUT, k).pair(FIRST)
        images = torch.einsum("hrm,mi->ri", m.ov, pair)
        images = images - images.mean(dim=0)
        points = m.activation(ATTN_OUT) @ pair
        points = points - points.mean(dim=(0, 1))
        shares.append(float((points.norm(dim=-1) <= images.norm(dim=-1).max()).double().mean()))
    return {**_revolving(m, ATTN_OUT), WITHIN_CIRCLE: min(shares)}


def _rotation_of_attention(m: PairMeasurements) -> dict[str, Value]:
    return _rotation_in_second_pair(m, ATTN_OUT)


def _motion_of_neurons(m: PairMeasurements) -> dict[str, Value]:
    return {**_revolving(m, NEURONS), **_rotation_in_second_pair(m, NEURONS)}


def _rotation_of_neurons(m: PairMeasurements) -> dict[str, Value]:
    return _rotation_in_second_pair(m, NEURONS)


def _motion_of_output(m: PairMeasurements) -> dict[str, Value]:
    return _rotating(m.motions(MLP_OUT, FIRST))


def _singular_values(m: PairMeasurements) -> dict[str, Value]:
    values = m.singular_directions.values
    return {
        LARGE_VALUES: m.singular_directions.large_count - 2 * len(m.freqs),
        "large singular values": m.singular_directions.large_count,
        "key frequencies": len(m.freqs),
        "singular value 2 K over the next": float(values[2 * len(m.freqs) - 1] / values[2 * len(m.freqs)]),
        ACCURACY: m.accuracy,
    }


def _singular_pairs(m: PairMeasurements) -> dict[str, Value]:
    owned = {k: m.singular_directions.of_frequency(k) for k in m.freqs}
    return {
        OWNERS: sum(len(numbers) == 2 for numbers in owned.values()) / len(owned),
        LOWEST_SHARE: min(direction.share for direction in m.singular_directions.directions),
        "lowest share of all variance": min(direction.of_variance for direction in m.singular_directions.directions),
    }


def _singular_and_principal(m: PairMeasurements) -> dict[str, Value]:
    ratios = []
    for k in m.freqs:
        vectors = m.singular_directions.vectors[:, m.singular_directions.of_frequency(k)]
        directions = m.plane_directions(NEURONS, k)
        cosines = [
            mean_cosine(vectors, directions.pair(pair)) if vectors.shape[1] else math.nan for pair in (FIRST, SECOND)
        ]
        ratios.append(cosines[SECOND] / cosines[FIRST])
    return {
        NEARER_TO_SECOND: sum(r >= 2 for r in ratios) / len(ratios),
        "lowest ratio": min(ratios),
        "highest ratio": max(ratios),
    }


def _gains_of_W_out(m: PairMeasurements) -> dict[str, Value]:
    ratios = []
    for k in m.freqs:
        first, second = (gains(m.W_out, m.plane_directions(NEURONS, k).pair(pair)).mean() for pair in (FIRST, SECOND))
        ratios.append(float(second / first))
    return {LOWEST_GAINS: min(ratios), "highest ratio of gains": max(ratios)}


_ONE_TURN = between(0.9, 1.1, "one turn, forwards or backwards, as a goes round")
_ROTATES: dict[str, Band] = {
    ROTATION: _ONE_TURN,
    ROTATION_FIT: at_least(0.8, "a rotation that can be seen"),
}
_REVOLVES: dict[str, Band] = {
    REVOLUTION: _ONE_TURN,
    REVOLUTION_FIT: at_least(0.9, "a revolution that can be seen"),
    LARGEST_ROTATION: at_most(0.1, "the circles do not turn"),
}

CLAIMS = (
    Claim(
        id="clock.s91.wl_probes",
        where="section 9.1",
        statement="The columns of W_L are probes that do not depend on the input: the logits are the neurons times "
        "W_L, and what the residual stream and the bias add.",
        source_says="algebra",
        measure=_parts_of_logits,
        expected={LOGITS_DIFFERENCE: at_most(1e-9)},
        needs=SEEDS[:1],
        scope="any network",
    ),
    Claim(
        id="clock.s92.revolve",
        where="section 9.2",
        statement="As a runs, the circles that attention writes revolve around the origin within the embedding's "
        "circle, without turning.",
        source_says="animation",
        measure=each(_revolution_of_attention),
        expected={**_REVOLVES, WITHIN_CIRCLE: at_least(0.95, "inside the grey circle")},
        needs=SEEDS,
        scope="any seed",
        figure="motion",
    ),
    Claim(
        id="clock.s93.rotate",
        where="section 9.3",
        statement="In the third and fourth principal direction of the planes of all a the circles turn, the origin "
        "inside them.",
        source_says="animation",
        measure=each(_rotation_of_attention),
        expected={**_ROTATES, ORBIT: at_most(1, "the centre of the orbit lies inside the circle")},
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "True of every key frequency that some head's attention swings at (one turn, R squared 0.96 at least, "
            "origin inside); but each seed has one or two key frequencies without such a head, and there nothing "
            "turns before the MLP."
        ),
        figure="motion",
    ),
    Claim(
        id="clock.s94.mlp_3d",
        where="section 9.4",
        statement="Among the neurons the circles revolve in the first two principal directions and turn in the next "
        "two.",
        source_says="animation in three dimensions",
        measure=each(_motion_of_neurons),
        expected={**_REVOLVES, **_ROTATES},
        needs=SEEDS,
        scope="any seed",
        figure="neurons_3d",
    ),
    Claim(
        id="clock.s95.mlpout_rotation",
        where="section 9.5",
        statement="In the MLP's output the circles are centred, and turn without revolving.",
        source_says="animation",
        measure=each(_motion_of_output),
        expected={**_ROTATES, ORBIT: at_most(0.3, "centred")},
        needs=SEEDS,
        scope="any seed",
        figure="mlp_out",
    ),
    Claim(
        id="clock.s95.wdown_sv",
        where="section 9.5",
        statement="W_out has two large singular values for each circle.",
        source_says="6 for 3 circles",
        measure=each(_singular_values),
        expected={
            LARGE_VALUES: between(-2, 2, "6 in the source; 10 and 8 in networks of the paper's authors"),
            ACCURACY: at_least(0.99, "of a network that has learned the task"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="singular",
    ),
    Claim(
        id="clock.s95.wdown_pairs",
        where="section 9.5",
        statement="The singular vectors of W_out come in pairs, one pair a circle.",
        source_says="pairs 3 and 5, 1 and 2, 0 and 4",
        measure=each(_singular_pairs),
        expected={
            OWNERS: equals(1, "every circle has its pair"),
            LOWEST_SHARE: at_least(0.6, "a vector belongs to one circle"),
        },
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "In every seed each circle owns two of the first vectors; but in one of the three its wave makes up no "
            "more than 52.8% of the waves of a + b along the least of them (45.1% of all variance), where 60% is "
            "expected. 60.5% and 95.3% in the others."
        ),
        figure="singular",
    ),
    Claim(
        id="clock.s95.wdown_cos",
        where="section 9.5",
        statement="The pair of singular vectors of W_out that a circle owns is like the third and fourth principal "
        "direction of the neurons' planes, not like the first two.",
        source_says="like the third and fourth",
        measure=each(_singular_and_principal),
        expected={NEARER_TO_SECOND: at_least(2 / 3, "all three in the source")},
        needs=SEEDS,
        scope="any seed",
        figure="singular",
    ),
    Claim(
        id="clock.s95.pc34_rotation",
        where="section 9.5",
        statement="Among the neurons, in the third and fourth principal direction, there is rotation alone.",
        source_says="animation",
        measure=each(_rotation_of_neurons),
        expected={
            REVOLVING_PART: at_most(0.3, "no revolution to be seen"),
            ROTATION_FIT: at_least(0.8, "but a rotation"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="neurons_3d",
    ),
    Claim(
        id="clock.s96.focus",
        where="section 9.6",
        statement="W_out magnifies the directions that turn: the third and fourth, over the first and second.",
        source_says="magnified",
        measure=each(_gains_of_W_out),
        expected={LOWEST_GAINS: at_least(2, "clearly longer")},
        needs=SEEDS,
        scope="any seed",
        figure="singular",
    ),
)
