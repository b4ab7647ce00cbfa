"""Claims on the paper's figures 1 to 3, which illustrate the tasks: numbers on a spiral, and the tasks for p = 11."""

from __future__ import annotations

import torch

from modinterp.analyses.embeddings.primality import angular_spread, multiples
from modinterp.claims.band import at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value
from modinterp.sources.miiii.claims.task import SMALL_P, ZERO, N
from modinterp.tasks import PrimeRemainders, addition, primes_below


def _polar() -> dict[str, Value]:
    """Return how many numbers the sets of figure 1 hold."""
    of_two, of_11, primes = multiples([17, 23], N), multiples([11], N), primes_below(N)
    union = {n for q in (17, 23) for n in range(0, N, q)}
    return {
        "multiples of 17 or 23": len(of_two),
        "multiples of 11": len(of_11),
        "primes": len(primes),
        "sets are as defined": set(of_two.tolist()) == union and of_11.tolist() == list(range(0, N, 11)),
        "multiples of 13 or 23, as in the code": len(multiples([13, 23], N)),
    }


def _rays() -> dict[str, Value]:
    """Return the angles between the multiples of a number on the spiral, for a turn of that number. [radians]"""
    turns = (11, 17, 23)
    return {
        "largest angle off the ray, multiples of m at 2 pi n / m": max(
            angular_spread(multiples([m], N), m) for m in turns
        )
    }


def _small_inputs() -> dict[str, Value]:
    """Return the numbers that the pairs of digits write for p = 11, against a plain loop."""
    task = PrimeRemainders(SMALL_P)
    numbers = task.numbers().unflatten(0, (SMALL_P, SMALL_P))
    by_hand = torch.tensor([[a + SMALL_P * b for b in range(SMALL_P)] for a in range(SMALL_P)])
    return {
        "cells": numbers.numel(),
        "first number": int(numbers[0, 0]),
        "last number": int(numbers[-1, -1]),
        "cells that differ": int((numbers != by_hand).sum()),
    }


def _small_labels() -> dict[str, Value]:
    """Return the remainders for p = 11 against a plain loop and their own period, and the symmetry of addition."""
    task = PrimeRemainders(SMALL_P)
    in_order = task.labels()[task.numbers().argsort()]
    wrong = sum(int((in_order[q:, i] != in_order[:-q, i]).sum()) for i, q in enumerate(task.output_sizes))
    looped = torch.tensor([[n % q for q in (2, 3, 5, 7)] for n in range(SMALL_P**2)])
    sums = addition(SMALL_P).labels().view(SMALL_P, SMALL_P)
    return {
        "panels of remainders": len(task.output_sizes),
        "cells that differ from n mod q": int((in_order != looped).sum()),
        "cells that differ from those q numbers on": wrong,
        "cells of the addition that differ from their mirror image": int((sums != sums.T).sum()),
    }


CLAIMS = (
    Claim(
        id="miiii.fig1",
        where="figure 1",
        statement=(
            "The source's figure draws each number n below 12,769 at radius n and angle n. Figure 1 of the "
            "source shows multiples of 17 or 23, multiples of 11, and primes."
        ),
        source_says="the three sets have 1,275, 1,161 and 1,523 points",
        measure=_polar,
        expected={
            "multiples of 17 or 23": equals(1275),
            "multiples of 11": equals(1161),
            "primes": equals(1523),
            "sets are as defined": equals(1),
        },
        needs=(),
        scope="any network",
        figure="polar",
    ),
    Claim(
        id="miiii.fig1.scaling",
        where="introduction",
        statement="If n is drawn at the angle 2 pi n / m, all multiples of m lie on a straight line.",
        source_says="the source invites the reader to try other angles",
        measure=_rays,
        expected={"largest angle off the ray, multiples of m at 2 pi n / m": at_most(1e-9)},
        needs=(),
        scope="any network",
        figure="polar",
    ),
    Claim(
        id="miiii.fig2",
        where="figure 2",
        statement="For p = 11 the inputs are the numbers from (0, 0) = 0 to (10, 10) = 120.",
        source_says="121 samples",
        measure=_small_inputs,
        expected={"cells": equals(121), "first number": ZERO, "last number": equals(120), "cells that differ": ZERO},
        needs=(),
        scope="any network",
        figure="inputs",
    ),
    Claim(
        id="miiii.fig3",
        where="figure 3",
        statement="For p = 11 the remainders by 2, 3, 5 and 7 are periodic in the number, and the table of modular "
        "addition is symmetric.",
        source_says="the source's figure has five panels",
        measure=_small_labels,
        expected={
            "panels of remainders": equals(4),
            "cells that differ from n mod q": ZERO,
            "cells that differ from those q numbers on": ZERO,
            "cells of the addition that differ from their mirror image": ZERO,
        },
        needs=(),
        scope="any network",
        figure="labels",
    ),
)
