"""Hypotheses about the algorithm of a network, one file each. The verdict is the hypothesis (algorithm) whose
predictions for the interventions come true.
"""

from __future__ import annotations

from typing import Any

from modinterp.bases import Frequencies
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.all_frequencies import ALL_FREQUENCIES
from modinterp.explain.algorithms.circles import CIRCLES, kinds
from modinterp.explain.algorithms.clock import CLOCK
from modinterp.explain.algorithms.copying import COPYING
from modinterp.explain.algorithms.cosets import COSETS
from modinterp.explain.algorithms.direction import ONE_DIRECTION, RUNNING_MEAN
from modinterp.explain.algorithms.functions import CIRCLES_OF_FUNCTIONS
from modinterp.explain.algorithms.integers import INTEGER_ARITHMETIC
from modinterp.explain.algorithms.long_sums import CARRY_THROUGH_NINES, DIGITS_ON_A_CIRCLE, ONE_CARRY
from modinterp.explain.algorithms.lookup_table import LOOKUP_TABLE
from modinterp.explain.algorithms.mixture import MIXTURE
from modinterp.explain.algorithms.next_token import NEXT_TOKEN
from modinterp.explain.algorithms.pizza import PIZZA
from modinterp.explain.algorithms.representations import REPRESENTATIONS
from modinterp.measurements import PositionMeasurements

__all__ = [
    "ADDING",
    "AT_POSITIONS",
    "BY_CIRCLES",
    "CIRCLES_OF_FUNCTIONS",
    "COMPOSING",
    "LOOKUP_TABLE",
    "Algorithm",
    "algorithm_of",
    "algorithms_for",
    "kinds",
]

BY_CIRCLES = (CLOCK, PIZZA, CIRCLES)  # all of one kind, or of several
ADDING = (*BY_CIRCLES, ALL_FREQUENCIES, INTEGER_ARITHMETIC, MIXTURE)  # the likeliest first
COMPOSING = (COSETS, REPRESENTATIONS)
AT_POSITIONS = (  # the more that one predicts the earlier
    NEXT_TOKEN, COPYING, DIGITS_ON_A_CIRCLE, CARRY_THROUGH_NINES, ONE_CARRY, RUNNING_MEAN, ONE_DIRECTION,
)  # fmt: skip


def algorithms_for(m: Any) -> tuple[Algorithm, ...]:
    """Return the algorithms that can be tested on a network, because it exposes every number that they predict."""
    if isinstance(m, PositionMeasurements):
        return tuple(each for each in AT_POSITIONS if each.is_tested_on(m))
    candidates = ADDING if isinstance(m.causal.basis, Frequencies) else COMPOSING
    return tuple(each for each in candidates if each.is_tested_on(m))


def algorithm_of(m: Any, logits_are_sums: bool) -> Algorithm | None:
    """Return the first algorithm whose predictions all came true in a network; None if no algorithm predicts right.

    Args:
        logits_are_sums: True if read-out, logits and neurons meet the criteria of a sum over key frequencies or
            representations.
    """
    candidates = (each for each in algorithms_for(m) if logits_are_sums or not each.shows_in_logits)
    return next((each for each in candidates if each.holds_for(m)), None)
