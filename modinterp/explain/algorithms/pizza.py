"""Hypothesis Pizza: each circle alone gives a wave of the answer in the logits, whose size depends on a - b."""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.circles import CIRCLES
from modinterp.explain.labels import FOURIER

PIZZA = Algorithm(
    "pizza",
    FOURIER,
    {
        **CIRCLES.foretells,
        "pizza_circles": at_least(
            1, "the wave of a Pizza's circle falls with the difference of the two numbers, as |cos|"
        ),
        "clock_circles": at_most(
            0, "the wave of a Clock's circle is equally large for every difference of the two numbers"
        ),
        "other_circles": at_most(0, "every circle of the network must be a Pizza"),
    },
    CIRCLES.says,
)
