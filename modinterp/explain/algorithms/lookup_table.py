"""Hypothesis lookup table: the network stores each pair's answer separately, so vectors between numbers fail."""

from __future__ import annotations

from typing import Any

from modinterp.claims.band import at_most
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.labels import MEMORISED


def _says(m: Any) -> str:
    turned = m.causal.turn_of_all
    return (
        "The network looks pairs up in a table. If all circles of its embedding are rotated by half a "
        "step for both numbers, to angles without a table entry, the answer changes by one on "
        f"{turned.moved:.1%} of all pairs, and {turned.kept:.0%} of the logits' waves remain. In networks "
        "that add, most answers change by one and most of the waves remain."
    )


LOOKUP_TABLE = Algorithm(
    "lookup table",
    MEMORISED,
    {
        "turn_of_all_carried": at_most(
            0.3, "a lookup table has no entry between two numbers; in networks that add this share is 0.4 or more"
        )
    },
    _says,
)
