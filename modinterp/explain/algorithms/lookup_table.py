"""Hypothesis lookup table: the network stores each pair's answer separately, so vectors between numbers fail."""

from __future__ import annotations

from typing import Any

from modinterp.claims.band import at_most
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.labels import MEMORISED


def _says(m: Any) -> str:
    turned = m.causal.turn_of_all
    return (
        "The network looks pairs up in a table. Turn all circles of its embedding by half a step for both "
        f"numbers, where no entry is: the answer moves by one on {turned.moved:.1%} of all pairs, and "
        f"{turned.kept:.0%} of the logits' waves are kept. In networks that add, most answers move and most of the "
        "waves are kept."
    )


LOOKUP_TABLE = Algorithm(
    "lookup table",
    MEMORISED,
    {
        "turn_of_all_carried": at_most(
            0.3, "a table has no entry between two numbers; networks that add have 0.4 or more"
        )
    },
    _says,
)
