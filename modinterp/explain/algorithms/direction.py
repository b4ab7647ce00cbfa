"""Hypothesis "one direction": the answer depends on a single direction of the attention's output."""

from __future__ import annotations

from typing import Any

from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.copying import MOVED, STILL
from modinterp.explain.labels import DIRECTION, MEAN


def _says(m: Any) -> str:
    found = m.interchanges.along_direction
    return (
        "The network finds the answer along one direction of the last attention layer's output. "
        "Exchanging only this direction with another input gives the other input's answer on "
        f"{found.moved:.1%} of {found.share.of:,} answers; a random change of equal length does so on "
        f"{found.moved_by_control:.1%} of the answers."
    )


def _says_mean(m: Any) -> str:
    found = m.interchanges.along_mean
    return (
        f"{_says(m)} The direction holds the mean of the numbers so far. If the output is changed along "
        "this direction as one more number would change it, the network answers with the sign of the new "
        f"sum on {found.moved:.1%} of {found.share.of:,} answers. After a random change of equal length, "
        f"the network answers with this sign on {found.moved_by_control:.1%} of the answers."
    )


ONE_DIRECTION = Algorithm(
    "one direction",
    DIRECTION,
    {"direction_swap": MOVED, "direction_swap_control": STILL},
    _says,
)
RUNNING_MEAN = Algorithm(
    "running mean",
    MEAN,
    {**ONE_DIRECTION.foretells, "mean_shift": MOVED, "mean_shift_control": STILL},
    _says_mean,
)
