"""Hypothesis copying: attention selects one token of the input, and the OV circuit writes its value into the answer."""

from __future__ import annotations

from typing import Any

from modinterp.claims.band import at_least, at_most
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.labels import COPIES

MOVED = at_least(
    0.75, "the algorithm predicts that all answers move; three of four are far more than any control moves"
)
STILL = at_most(
    0.35, "no algorithm predicts this move; with few possible answers, a random change often gives the other answer"
)


def _says(m: Any) -> str:
    value, key = m.interchanges.value, m.interchanges.key
    return (
        "The network copies a token that its attention finds. With another input's value at the answer's position, it "
        f"gives that input's answer on {value.moved:.1%} of {value.share.of:,} answers; with the value at another "
        f"position, on {value.moved_by_control:.1%}. With the keys of this position and another exchanged, it copies "
        f"the other token on {key.moved:.1%}; with two other keys exchanged, on {key.moved_by_control:.1%}."
    )


COPYING = Algorithm(
    "copy a token",
    COPIES,
    {"value_swap": MOVED, "value_swap_control": STILL, "key_swap": MOVED, "key_swap_control": STILL},
    _says,
)
