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
        "pizza_circles": at_least(1, "taken alone, a Pizza's wave falls with the difference as |cos|"),
        "clock_circles": at_most(0, "a Clock's wave is as large for every difference"),
        "other_circles": at_most(0, "every circle is a Pizza"),
    },
    CIRCLES.says,
)
