"""Attending to the next token in order: the query says which token follows, and that one is copied."""

from __future__ import annotations

from typing import Any

from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.copying import COPYING, MOVED, STILL
from modinterp.explain.labels import NEXT


def _says(m: Any) -> str:
    query = m.interchanges.query
    return (
        f"{COPYING.says(m)} Which one is decided by where it asks: with the query of another answer, that answer comes "
        f"out on {query.moved:.1%}; with the query moved as far at random on {query.moved_by_control:.1%}."
    )


NEXT_TOKEN = Algorithm(
    "attend to the next",
    NEXT,
    {**COPYING.foretells, "query_swap": MOVED, "query_swap_control": STILL},
    _says,
)
