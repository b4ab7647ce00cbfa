"""Section 9: circles that revolve and rotate."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from modinterp.analyses.alignment import gains, mean_cosine
from modinterp.analyses.linearity import MID
from modinterp.analyses.rotation import Motion
from modinterp.claims.band import Band, at_least, at_most, between, equals
from modinterp.claims.claim import Claim, Value, each, refuted
from modinterp.claims.clock.clockwork import ATTN_OUT, MLP_OUT, SEEDS, Clockwork, clockwork
from modinterp.claims.evidence import NEURONS
from modinterp.runs import TrainedRun

FIRST, SECOND = 0, 1


def _worst(motions: Mapping[int, Motion], turning: str) -> float:
    """Of the numbers of turns, whichever way, the farthest from 1."""
    turns = [abs(getattr(motion, turning).turns) for motion in motions.values()]
    return max(turns, key=lambda n: abs(n - 1), default=math.nan)


def _revolving(cw: Clockwork, hook: str) -> dict[str, Value]:
    motions = cw.motions(hook, FIRST)
    return {
        "revolution [turns]": _worst(motions, "revolution"),
        "revolution, lowest R squared": min(m.revolution.explained for m in motions.values()),
        "largest rotation [turns]": max(abs(m.rotation.turns) for m in motions.values()),
    }


def _rotating(motions: Mapping[int, Motion]) -> dict[str, Value]:
    return {
        "rotation [turns]": _worst(motions, "rotation"),
        "rotation, lowest R squared": min((m.rotation.explained for m in motions.values()), default=math.nan),
        "turning backwards": sum(m.rotation.turns < 0 for m in motions.values()),
        "lowest quality of the circles": min((m.quality for m in motions.values()), default=math.nan),
        "largest orbit over radius": max((m.orbit_over_radius for m in motions.values()), default=math.nan),
        "largest revolving part over radius": max(
            (m.revolving_over_radius for m in motions.values()), default=math.nan
        ),
    }


def _second_pair(cw: Clockwork, hook: str) -> dict[str, Value]:
    """In principal directions 3 and 4: of all key frequencies, and of those that some head's attention swings at."""
    motions = cw.motions(hook, SECOND)
    attended = {k: motion for k, motion in motions.items() if k in cw.attended}
    return {
        **_rotating(motions),
        "key frequencies": len(motions),
        "of them with a head": len(attended),
        **{f"{name}, with a head": value for name, value in _rotating(attended).items()},
    }


def _probes(run: TrainedRun) -> dict[str, Value]:
    cw, model = clockwork(run), run.model
    W_U = model.W_U.detach().double()[:, : cw.p]
    W_out, b_out = (w.detach().double() for w in (model.blocks[0].mlp.W_out, model.blocks[0].mlp.b_out))
    parts = cw.evidence.post @ (W_out @ W_U) + b_out @ W_U + cw.place(MID) @ W_U
    return {"largest difference to the logits": float((parts - cw.evidence.logits).abs().max())}


def _revolution(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    inside = []
    for k in cw.freqs:
        pair = cw.collected(ATTN_OUT, k).pair(FIRST)
        images = torch.einsum("hrm,mi->ri", cw.ov, pair)
        images = images - images.mean(dim=0)
        points = cw.place(ATTN_OUT) @ pair
        points = points - points.mean(dim=(0, 1))
        inside.append(float((points.norm(dim=-1) <= images.norm(dim=-1).max()).double().mean()))
    return {**_revolving(cw, ATTN_OUT), "smallest share of points within the embedding's circle": min(inside)}


def _rotation(run: TrainedRun) -> dict[str, Value]:
    return _second_pair(clockwork(run), ATTN_OUT)


def _in_neurons(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    return {**_revolving(cw, NEURONS), **_second_pair(cw, NEURONS)}


def _pure_rotation(run: TrainedRun) -> dict[str, Value]:
    return _second_pair(clockwork(run), NEURONS)


def _after(run: TrainedRun) -> dict[str, Value]:
    return _rotating(clockwork(run).motions(MLP_OUT, FIRST))


def _singular_values(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    values = cw.singular.values
    return {
        "large singular values less 2 K": cw.singular.large - 2 * len(cw.freqs),
        "large singular values": cw.singular.large,
        "key frequencies": len(cw.freqs),
        "singular value 2 K over the next": float(values[2 * len(cw.freqs) - 1] / values[2 * len(cw.freqs)]),
        "accuracy": cw.evidence.accuracy,
    }


def _singular_pairs(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    owned = {k: cw.singular.owned_by(k) for k in cw.freqs}
    return {
        "key frequencies that own two": sum(len(numbers) == 2 for numbers in owned.values()) / len(owned),
        "lowest share": min(direction.share for direction in cw.singular.directions),
        "lowest share of all variance": min(direction.of_variance for direction in cw.singular.directions),
    }


def _singular_and_principal(run: TrainedRun) -> dict[str, Value]:
    cw, ratios = clockwork(run), []
    for k in cw.freqs:
        vectors = cw.singular.vectors[:, cw.singular.owned_by(k)]
        planes = cw.collected(NEURONS, k)
        cosines = [
            mean_cosine(vectors, planes.pair(pair)) if vectors.shape[1] else math.nan for pair in (FIRST, SECOND)
        ]
        ratios.append(cosines[SECOND] / cosines[FIRST])
    return {
        "share of key frequencies twice as near to directions 3, 4": sum(r >= 2 for r in ratios) / len(ratios),
        "lowest ratio": min(ratios),
        "highest ratio": max(ratios),
    }


def _magnified(run: TrainedRun) -> dict[str, Value]:
    cw, W_out = clockwork(run), run.model.blocks[0].mlp.W_out.detach()
    ratios = []
    for k in cw.freqs:
        first, second = (gains(W_out, cw.collected(NEURONS, k).pair(pair)).mean() for pair in (FIRST, SECOND))
        ratios.append(float(second / first))
    return {"lowest ratio of gains": min(ratios), "highest ratio of gains": max(ratios)}


_ONE_TURN = between(0.9, 1.1, "one turn, forwards or backwards, as a goes round")
_ROTATES: dict[str, Band] = {
    "rotation [turns]": _ONE_TURN,
    "rotation, lowest R squared": at_least(0.8, "a rotation that can be seen"),
}
_REVOLVES: dict[str, Band] = {
    "revolution [turns]": _ONE_TURN,
    "revolution, lowest R squared": at_least(0.9, "a revolution that can be seen"),
    "largest rotation [turns]": at_most(0.1, "the circles do not turn"),
}

CLAIMS = (
    Claim(
        "clock.s91.wl_probes",
        "section 9.1",
        "The columns of W_L are probes that do not depend on the input: the logits are the neurons times W_L, and what the "
        "residual stream and the bias add.",
        "algebra",
        _probes,
        {"largest difference to the logits": at_most(1e-9)},
        needs=SEEDS[:1],
        scope="any network",
    ),
    Claim(
        "clock.s92.revolve",
        "section 9.2",
        "As a runs, the circles that attention writes revolve around the origin within the embedding's circle, without "
        "turning.",
        "animation",
        each(_revolution),
        {**_REVOLVES, "smallest share of points within the embedding's circle": at_least(0.95, "inside the grey circle")},
        needs=SEEDS,
        scope="any seed",
        figure="motion",
    ),
    Claim(
        "clock.s93.rotate",
        "section 9.3",
        "In the third and fourth principal direction of the planes of all a the circles turn, the origin inside them.",
        "animation",
        each(_rotation),
        {**_ROTATES, "largest orbit over radius": at_most(1, "the centre of the orbit lies inside the circle")},
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "True of every key frequency that some head's attention swings at (one turn, R squared 0.96 at least, origin "
            "inside); but each seed has one or two key frequencies without such a head, and there nothing turns before the "
            "MLP."
        ),
        figure="motion",
    ),
    Claim(
        "clock.s94.mlp_3d",
        "section 9.4",
        "Among the neurons the circles revolve in the first two principal directions and turn in the next two.",
        "animation in three dimensions",
        each(_in_neurons),
        {**_REVOLVES, **_ROTATES},
        needs=SEEDS,
        scope="any seed",
        figure="neurons_3d",
    ),
    Claim(
        "clock.s95.mlpout_rotation",
        "section 9.5",
        "In the MLP's output the circles are centred, and turn without revolving.",
        "animation",
        each(_after),
        {**_ROTATES, "largest orbit over radius": at_most(0.3, "centred")},
        needs=SEEDS,
        scope="any seed",
        figure="mlp_out",
    ),
    Claim(
        "clock.s95.wdown_sv",
        "section 9.5",
        "W_out has two large singular values for each circle.",
        "6 for 3 circles",
        each(_singular_values),
        {
            "large singular values less 2 K": between(-2, 2, "6 in the source; 10 and 8 in networks of the paper's authors"),
            "accuracy": at_least(0.99, "of a network that has learned the task"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="singular",
    ),
    Claim(
        "clock.s95.wdown_pairs",
        "section 9.5",
        "The singular vectors of W_out come in pairs, one pair a circle.",
        "pairs 3 and 5, 1 and 2, 0 and 4",
        each(_singular_pairs),
        {
            "key frequencies that own two": equals(1, "every circle has its pair"),
            "lowest share": at_least(0.6, "a vector belongs to one circle"),
        },
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "In every seed each circle owns two of the first vectors; but in one of the three its wave makes up no more than "
            "52.8% of the waves of a + b along the least of them (45.1% of all variance), where 60% is expected. 60.5% and "
            "95.3% in the others."
        ),
        figure="singular",
    ),
    Claim(
        "clock.s95.wdown_cos",
        "section 9.5",
        "The pair of singular vectors of W_out that a circle owns is like the third and fourth principal direction of the "
        "neurons' planes, not like the first two.",
        "like the third and fourth",
        each(_singular_and_principal),
        {"share of key frequencies twice as near to directions 3, 4": at_least(2 / 3, "all three in the source")},
        needs=SEEDS,
        scope="any seed",
        figure="singular",
    ),
    Claim(
        "clock.s95.pc34_rotation",
        "section 9.5",
        "Among the neurons, in the third and fourth principal direction, there is rotation alone.",
        "animation",
        each(_pure_rotation),
        {
            "largest revolving part over radius": at_most(0.3, "no revolution to be seen"),
            "rotation, lowest R squared": at_least(0.8, "but a rotation"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="neurons_3d",
    ),
    Claim(
        "clock.s96.focus",
        "section 9.6",
        "W_out magnifies the directions that turn: the third and fourth, over the first and second.",
        "magnified",
        each(_magnified),
        {"lowest ratio of gains": at_least(2, "clearly longer")},
        needs=SEEDS,
        scope="any seed",
        figure="singular",
    ),
)  # fmt: skip
