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
        f"The network answers pairs in two ways. If the circles of frequencies {names} are rotated by half "
        f"a step for both numbers, the answer changes by one on {turned.moved:.1%} of all pairs. If these "
        f"circles are removed, the answer stays the same on {same:.1%} of all pairs."
    )


MIXTURE = Algorithm(
    "mixture",
    MIXED,
    {
        "half_turn": between(0.1, 0.95, "the answer must change on some pairs, but not on all"),
        "half_turn_control": STILL,
        "same_without": at_least(0.1, "some pairs must be answered without any circle"),
    },
    _says,
)
