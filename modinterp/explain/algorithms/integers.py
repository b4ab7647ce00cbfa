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
        "The network adds integers. With every a moved by one along the line on which its numbers stand, the "
        f"largest included, the answer moves by one on {moved:.1%} of all pairs; in a random direction on "
        f"{control:.1%}."
    )


INTEGER_ARITHMETIC = Algorithm(
    "integers",
    INTEGERS,
    {
        "line_step": at_least(0.9, "all pairs except those whose sum leaves the range of the training data"),
        "line_step_control": STILL,
    },
    _says,
)
