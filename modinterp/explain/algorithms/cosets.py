"""Hypothesis cosets: each neuron of a group network depends only on the cosets of the two elements."""

from __future__ import annotations

from typing import Any

from modinterp.claims.band import at_least, at_most
from modinterp.explain.algorithms.algorithm import Algorithm
from modinterp.explain.algorithms.representations import REPRESENTATIONS
from modinterp.explain.labels import FOURIER


def _says(m: Any) -> str:
    return (
        f"{REPRESENTATIONS.says(m)} Its neurons distinguish cosets of the group, but not single elements. "
        f"If each neuron is replaced by its mean over pairs of cosets, {m['coset_means']:.1%} of the "
        "answers are right. With means over other sets of equal sizes in place of cosets, "
        f"{m['coset_means_control']:.1%} of the answers are right."
    )


COSETS = Algorithm(
    "cosets",
    FOURIER,
    {
        **REPRESENTATIONS.foretells,
        "cosets_a": at_least(0.5, "most neurons that could be constant on cosets are constant on cosets"),
        "cosets_null_a": at_most(0.1, "random functions of these representations are rarely constant on cosets"),
        "coset_means": at_least(0.95, "a neuron distinguishes only cosets of its two elements"),
        "coset_means_control": at_most(
            0.5, "with other sets of equal sizes in place of cosets, the neurons cannot distinguish the products"
        ),
    },
    _says,
    shows_in_logits=True,
)
