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
        f"The network multiplies group elements by the matrices of the representations {names}. "
        f"Without these representations in the embedding, {m.causal.accuracy_without:.1%} of the "
        f"answers are right; with these representations alone, {m.causal.accuracy_alone:.1%}. If only "
        "these representations are restored in the embedding of another pair, "
        f"{m.causal.rescue[0]:.1%} of the accuracy is recovered; restoring random representations "
        f"recovers {m.causal.rescue[1]:.1%}."
    )


REPRESENTATIONS = Algorithm(
    "representations",
    FOURIER,
    {
        "accuracy_without": REMOVED,
        "accuracy_alone": at_least(0.95, "the key representations must suffice for the answer"),
        "rescue": at_least(0.95, "restoring the key representations must restore the answer"),
    },
    _says,
    shows_in_logits=True,
)
