"""Hypothesis for sums of functions, such as a^2 + b: f(a) and g(b) lie on a few circles, and their angles add up."""

from __future__ import annotations

from typing import Any

from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.circles import REMOVED, STILL, TURNED
from modinterp.explain.labels import FOURIER


def _says(m: Any) -> str:
    names = ", ".join(map(str, m.functions.circles))
    return (
        "The network computes a function of a and a function of b, and adds both by rotating circles of "
        f"frequencies {names} in its embedding. If these circles are rotated by half a step for both "
        f"numbers, to angles without a token, the answer changes by one on {m['values_half_turn']:.1%} of "
        f"all pairs. Other changes of equal size change at most {m['values_half_turn_control']:.1%} of the "
        f"answers by one. Without these circles, {m['values_accuracy_without']:.1%} of the answers are "
        f"right, and with these circles alone {m['values_accuracy_alone']:.1%}."
    )


CIRCLES_OF_FUNCTIONS = Algorithm(
    "circles of functions",
    FOURIER,
    {"values_half_turn": TURNED, "values_half_turn_control": STILL, "values_accuracy_without": REMOVED},
    _says,
)
