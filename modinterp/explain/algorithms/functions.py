"""Hypothesis for sums of functions, such as a^2 + b: f(a) and g(b) lie on a few circles, and their angles add up."""

from __future__ import annotations

from typing import Any

from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.circles import REMOVED, STILL, TURNED
from modinterp.explain.labels import FOURIER


def _says(m: Any) -> str:
    names = ", ".join(map(str, m.functions.circles))
    return (
        "The network adds by turning circles of a function of a and of a function of b in its embedding, of "
        f"frequencies {names}. Turned by half a step for both numbers, where no token stands, they move the answer "
        f"by one on {m['values_half_turn']:.1%} of all pairs; changes of equal size move at most "
        f"{m['values_half_turn_control']:.1%}. Without these circles, "
        f"{m['values_accuracy_without']:.1%} of the answers are right, and with these circles alone "
        f"{m['values_accuracy_alone']:.1%}."
    )


CIRCLES_OF_FUNCTIONS = Algorithm(
    "circles of functions",
    FOURIER,
    {"values_half_turn": TURNED, "values_half_turn_control": STILL, "values_accuracy_without": REMOVED},
    _says,
)
