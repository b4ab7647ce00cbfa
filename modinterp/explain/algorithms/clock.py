"""Hypothesis Clock: each circle alone gives a wave of the answer in the logits, with the same size for every pair."""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.circles import CIRCLES
from modinterp.explain.labels import FOURIER

CLOCK = Algorithm(
    "clock",
    FOURIER,
    {
        **CIRCLES.foretells,
        "clock_circles": at_least(
            1, "the wave of a Clock's circle is equally large for every difference of the two numbers"
        ),
        "pizza_circles": at_most(
            0, "the wave of a Pizza's circle falls with the difference of the two numbers, as |cos|"
        ),
        "other_circles": at_most(0, "every circle of the network must be a Clock"),
    },
    CIRCLES.says,
)
