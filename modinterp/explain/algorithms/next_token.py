"""Hypothesis "next token": each query attends to the token that follows in sorted order, and the network copies this
token.
"""

from __future__ import annotations

from typing import Any

from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.copying import MOVED, STILL
from modinterp.explain.labels import NEXT

# Changed after numbers of two networks had been seen: exchanged keys are no longer asked for. Heads may divide the
# tokens that they copy, and then the key of another head's token leads to a head that does not copy it.


def _says(m: Any) -> str:
    query, value = m.interchanges.query, m.interchanges.value
    return (
        "The network finds the next token by its query and copies this token. With the query vector "
        f"of another answer, the network gives the other answer on {query.moved:.1%} of "
        f"{query.share.of:,} answers. After a random change of the query of equal length, the network "
        f"gives the other answer on {query.moved_by_control:.1%} of the answers. If the value vector "
        "at the answer's position is taken from another input, the network gives the other input's "
        f"answer on {value.moved:.1%} of the answers. If the value vector at another position is "
        f"replaced, the network gives the other input's answer on {value.moved_by_control:.1%} of the "
        "answers."
    )


NEXT_TOKEN = Algorithm(
    "attend to the next",
    NEXT,
    {"value_swap": MOVED, "value_swap_control": STILL, "query_swap": MOVED, "query_swap_control": STILL},
    _says,
)
