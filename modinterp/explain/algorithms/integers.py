"""Hypothesis integer arithmetic: the embedding puts numbers on a line, adds them as integers, and subtracts a carry."""

from __future__ import annotations

from typing import Any

from modinterp.claims.band import at_least
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.circles import STILL
from modinterp.explain.labels import INTEGERS


def _says(m: Any) -> str:
    moved, control = m.causal.moved_along_line
    return (
        "The network adds integers: its embedding orders the numbers along a line. If the embedding of a "
        f"is moved along this line by one number, the answer changes by one on {moved:.1%} of all pairs. "
        f"After an equal change in a random direction, the answer changes by one on {control:.1%} of all "
        "pairs."
    )


INTEGER_ARITHMETIC = Algorithm(
    "integers",
    INTEGERS,
    {
        "line_step": at_least(
            0.9,
            "the answer must change by one on all pairs, except where the sum leaves the range of the training data",
        ),
        "line_step_control": STILL,
    },
    _says,
)
