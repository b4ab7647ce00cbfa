"""Hypothesis mixture: circles answer some pairs, and another mechanism in the same network answers the rest."""

from __future__ import annotations

from typing import Any

from modinterp.claims.band import at_least, between
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.circles import STILL
from modinterp.explain.labels import MIXED


def _says(m: Any) -> str:
    turned, same = m.causal.half_turn, m.causal.same_without
    names = ", ".join(map(str, turned.freqs))
    return (
        f"The network answers in two ways. Circles {names}, turned by half a step for both numbers, move the "
        f"answer by one on {turned.moved:.1%} of all pairs. On {same:.1%} the answer stays the same without these "
        "circles."
    )


MIXTURE = Algorithm(
    "mixture",
    MIXED,
    {
        "half_turn": between(0.1, 0.95, "the answer moves on some pairs, but not on all"),
        "half_turn_control": STILL,
        "same_without": at_least(0.1, "some pairs are answered without any circle"),
    },
    _says,
)
