"""Hypotheses Clock and Pizza: the embedding puts numbers on a few circles, and the angles of a and b add up to the
answer's.
"""

from __future__ import annotations

from typing import Any

from modinterp.claims.band import at_least, at_most
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.labels import FOURIER

TURNED = at_least(0.95, "the algorithm predicts all pairs; 28 of 29 networks that were held out reach it")
KEPT = at_least(0.5, "the formula explains more than everything else together; a table of tokens keeps 0.13 at most")
STILL = at_most(0.15, "no algorithm predicts this move; by chance 1 of p answers moves, 14% at p = 7")
REMOVED = at_most(0.25, "without its circles the network has nothing to add")


def kinds(m: Any) -> str:
    """Return text with the numbers of circles that are clocks, pizzas or between, such as `3 clock, 2 pizza`."""
    counts = {kind: m.causal.count_of_kind(kind) for kind in ("clock", "pizza", "between")}
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def _says(m: Any) -> str:
    turned, names = m.causal.half_turn, ", ".join(map(str, m.causal.half_turn.freqs))
    circles = f"circle {names}" if len(turned.freqs) == 1 else f"circles {names}"
    return (
        f"It adds by turning {circles} of its embedding. Turned by half a step for both numbers, where no token "
        f"stands, they move the answer by one on {turned.moved:.1%} of all pairs; changes of equal size move at most "
        f"{turned.largest_control:.1%}. Without them {m.causal.accuracy_without:.1%} of the answers are right. "
        f"Taken alone, the circles are {kinds(m)}."
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
