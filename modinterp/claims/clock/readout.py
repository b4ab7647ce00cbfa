"""Sections 10 and 11: how the answer is read off, and how many circles that takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import torch

from modinterp.analyses.ablations import accuracy_on, restricted_logits
from modinterp.analyses.alignment import ReadOut, circle_logits, distinguishes, percentile, read_out
from modinterp.analyses.cosine_sums import margin
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.claim import Claim, Value, each, refuted
from modinterp.claims.clock.clockwork import MAIN, MLP_OUT, SEEDS, Clockwork, clockwork
from modinterp.runs import TrainedRun

ONE_HEAD = "clock/one-head-0"


def circles_logits(cw: Clockwork) -> dict[int, torch.Tensor]:
    """The logits that each circle of the MLP's output gives."""
    W_U = cw.run.model.W_U.detach()[:, : cw.p]
    return circle_logits(cw.place(MLP_OUT), W_U, {k: cw.collected(MLP_OUT, k).pair(0) for k in cw.freqs})


def _pair(b: int) -> Callable[[TrainedRun], dict[str, Value]]:
    def measure(run: TrainedRun) -> dict[str, Value]:
        cw = clockwork(run)
        logits = circles_logits(cw)
        total, summed = cw.evidence.logits, sum(logits.values(), torch.zeros(()))
        return {
            "lowest percentile of b among all, over the circles": min(percentile(x, cw.a, b) for x in logits.values()),
            "the network is right": int(total[cw.a, b].argmax()) == (cw.a + b) % cw.p,
            "all circles together are right": int(summed[cw.a, b].argmax()) == (cw.a + b) % cw.p,
            "circles that are right alone": sum(int(x[cw.a, b].argmax()) == (cw.a + b) % cw.p for x in logits.values()),
            "circles": len(logits),
        }

    return measure


def _cumulative(run: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    logits = circles_logits(cw)
    found: ReadOut = read_out(logits, cw.evidence.labels)
    summed = sum(logits.values(), torch.zeros(()))
    with_constant = summed - summed.mean(dim=(0, 1)) + cw.evidence.logits.double().mean(dim=(0, 1))
    return {
        "accuracy of all circles together": found.together,
        "the same with the logits' mean over all pairs": accuracy_on(with_constant, cw.evidence.labels),
        "highest accuracy of a circle alone": max(found.alone.values()),
        "lowest accuracy of a circle alone": min(found.alone.values()),
    }


def _how_many(run: TrainedRun, one_head: TrainedRun) -> dict[str, Value]:
    cw = clockwork(run)
    alone = []
    for k in cw.freqs:
        logits = restricted_logits(cw.evidence.logits, [k])
        alone.append(accuracy_on(logits, cw.evidence.labels))
    return {
        "margin of one exact circle": margin(cw.p, [1]),
        "test accuracy with one head": float(one_head.history["test_accuracy"].max()),
        "highest accuracy with one frequency of the logits kept": max(alone),
        "key frequencies of the network with one head": len(clockwork(one_head).freqs),
        "grokking epoch of the network with one head": clockwork(one_head).evidence.grokking.grokked,
    }


def _is_unique(p: int, freqs: tuple[int, ...]) -> bool:
    """By looking at every residue."""
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
            found and math.gcd(*freqs) > 1 for (_, freqs), found in unique.items()
        ),
        "disagreements with gcd(k..., P) = 1": sum(found != distinguishes(*key) for key, found in unique.items()),
        "sets looked at": len(unique),
        "single frequencies that are enough mod 113": sum(unique[113, (k,)] for k in range(1, 57)),
    }


def _read(identity: str, b: int) -> Claim:
    return Claim(
        identity,
        "section 10",
        f"For 70 + {b} every circle has its point for b = {b} far out in the direction of the answer "
        f"{(70 + b) % 113}, and the network is right.",
        f"70 + {b} gives {(70 + b) % 113}",
        each(_pair(b)),
        {
            "lowest percentile of b among all, over the circles": at_least(0.8, "projects highly in each circle"),
            "the network is right": equals(1, "the answer"),
        },
        needs=SEEDS,
        scope="any seed",
        figure="readout",
    )  # fmt: skip


CLAIMS = (
    _read("clock.s10.readout_65", 108),
    _read("clock.s10.readout_83", 13),
    Claim(
        "clock.s10.cumulative",
        "section 10",
        "A rival in one circle loses in another: alone a circle is often wrong, together they are right.",
        "argued",
        each(_cumulative),
        {
            "accuracy of all circles together": at_least(0.999, "the sum is right"),
            "highest accuracy of a circle alone": at_most(0.999, "less than the sum"),
        },
        needs=SEEDS,
        scope="any seed",
        finding=refuted(
            "A circle alone is right in 4% to 16% of the cases, and in two seeds all together in 99.9% and more; in the third "
            "they come to 99.5%. What they lack is a bias: with the logits' mean over all pairs added they come to 100%."
        ),
        figure="readout",
    ),
    Claim(
        "clock.s111.min2",
        "section 11.1",
        "One circle cannot do: it takes at least two circles and two heads.",
        "at least 2",
        _how_many,
        {
            "margin of one exact circle": at_most(0, "with none the answer is not unique"),
            "test accuracy with one head": at_most(0.99, "one head must not be enough"),
        },
        needs=(MAIN, ONE_HEAD),
        finding=refuted(
            "One exact circle has a unique answer for a prime modulus, with a margin of 0.0015; a trained network needs "
            "several (one alone: at most 15% right). One head is enough: such a network groks at 2,660 and is right on every "
            "pair, with five circles."
        ),
        figure="readout",
    ),
    Claim(
        "clock.s112.gcd",
        "section 11.2",
        "The frequencies must be co-prime.",
        "P gcd(k1, k2, ...) = 1, which no integers fulfil",
        _coprime,
        {"unique answers though the frequencies are not co-prime": equals(0)},
        needs=(),
        scope="any network",
        finding=refuted(
            "What is needed is gcd(k1, k2, ..., P) = 1, which agrees with looking at every residue in all cases. For a prime "
            "P any frequency will do; mod 53 the paper's 10, 14 and 22 have a common divisor and generalise."
        ),
        figure="explorer",
    ),
)  # fmt: skip
