"""Hypothesis copying: attention selects one token of the input, and the OV circuit writes its value into the answer."""

from __future__ import annotations

from typing import Any

from modinterp.claims.band import at_least, at_most
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.labels import COPIES

MOVED = at_least(
    0.75,
    "the algorithm predicts that all answers change; three of four changed answers are far more than after "
    "any control change",
)
STILL = at_most(
    0.35,
    "no algorithm predicts that a control change gives the other input's answer or token; with few possible "
    "answers, this often happens by chance",
)


def _says(m: Any) -> str:
    value, key = m.interchanges.value, m.interchanges.key
    return (
        "The network copies a token that its attention finds. If the value vector at the answer's "
        "position is taken from another input, the network gives the other input's answer on "
        f"{value.moved:.1%} of {value.share.of:,} answers. If the value vector at any other "
        f"position is taken from another input, {value.moved_by_control:.1%} of the answers become that input's "
        "answer. If the key vectors of the answer's position and another position are exchanged, the "
        f"network copies the other token on {key.moved:.1%} of the answers. If two other key vectors "
        f"are exchanged, the network copies the other token on {key.moved_by_control:.1%} of the "
        "answers."
    )


COPYING = Algorithm(
    "copy a token",
    COPIES,
    {"value_swap": MOVED, "value_swap_control": STILL, "key_swap": MOVED, "key_swap_control": STILL},
    _says,
)
