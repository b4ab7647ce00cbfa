"""Hypotheses Clock and Pizza: the embedding puts numbers on a few circles, and the angles of a and b add up to the
answer's.
"""

from __future__ import annotations

from typing import Any

from modinterp.claims.band import at_least, at_most
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.labels import FOURIER

TURNED = at_least(
    0.95,
    "the algorithm predicts that all answers change by one; 28 of 29 networks that were not used to choose this"
    " limit reach it",
)
KEPT = at_least(
    0.5,
    "the formula must explain most of the logits after the rotation; in a table of tokens at most 0.13 of the "
    "fit remains",
)
STILL = at_most(
    0.15,
    "no algorithm predicts that a control change increases the answer by one; by chance 1 of p answers changes "
    "so, 14% at p = 7",
)
REMOVED = at_most(0.25, "without its circles the network cannot add")


def kinds(m: Any) -> str:
    """Return text with the numbers of circles that are clocks, pizzas or between, such as `3 clock, 2 pizza`."""
    counts = {kind: m.causal.count_of_kind(kind) for kind in ("clock", "pizza", "between")}
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def _says(m: Any) -> str:
    turned, names = m.causal.half_turn, ", ".join(map(str, m.causal.half_turn.freqs))
    circles = f"circle {names}" if len(turned.freqs) == 1 else f"circles {names}"
    return (
        f"The network adds by rotating {circles} of its embedding. If these circles are rotated by half a "
        "step for both numbers, to angles without a token, the answer changes by one on "
        f"{turned.moved:.1%} of all pairs. Other changes of equal size change at most "
        f"{turned.largest_control:.1%} of the answers by one. Without these circles "
        f"{m.causal.accuracy_without:.1%} of the answers are right. Taken alone, each circle computes "
        f"as a clock, as a pizza, or between the two: {kinds(m)}."
    )


CIRCLES = Algorithm(
    "circles",
    FOURIER,
    {
        "half_turn": TURNED,
        "half_turn_kept": KEPT,
        "half_turn_control": STILL,
        "accuracy_without": REMOVED,
    },
    _says,
)
