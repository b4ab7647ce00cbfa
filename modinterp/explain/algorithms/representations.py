"""Hypothesis representations: both group elements become matrices, and logits read their product's character."""

from __future__ import annotations

from typing import Any

from modinterp.claims.band import at_least
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.circles import REMOVED
from modinterp.explain.labels import FOURIER


def _says(m: Any) -> str:
    names = ", ".join(m.key_names)
    return (
        f"The network multiplies by representations {names}. Without these representations in the "
        f"embedding, {m.causal.accuracy_without:.1%} of the answers are right; with these representations alone, "
        f"{m.causal.accuracy_alone:.1%}. Restored alone in another pair's embedding, these representations recover "
        f"{m.causal.rescue[0]:.1%} of the accuracy, and random representations {m.causal.rescue[1]:.1%}."
    )


REPRESENTATIONS = Algorithm(
    "representations",
    FOURIER,
    {
        "accuracy_without": REMOVED,
        "accuracy_alone": at_least(0.95, "the key representations suffice"),
        "rescue": at_least(0.95, "the representations carry the difference between pairs"),
    },
    _says,
    shows_in_logits=True,
)
