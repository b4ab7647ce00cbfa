"""Every named run of every source, and what it is trained from.

The paper states: one layer, d_model 128, 4 heads of 32, 512 ReLU neurons, no LayerNorm, p = 113, 30% of the pairs,
AdamW with learning rate 1e-3 and weight decay 1, full batch, 40,000 epochs. Its released code adds betas (0.9, 0.98),
10 steps of warm-up, the initialisation, and the split from Python's shuffle. Ours are the order in which the initial
weights are drawn, and 113 outputs where the code trains 114 and drops the one for "=".
"""

from __future__ import annotations

from dataclasses import dataclass

from modinterp.models import TransformerConfig
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec


@dataclass(frozen=True)
class Entry:
    """A named run: what it is trained from, and which statements are measured on it."""

    spec: RunSpec
    serves: str


def _nanda(seed: int, **recipe: float) -> RunSpec:
    task = addition(113)
    return RunSpec(task, TransformerConfig.of(task), Recipe(**recipe), seed)  # type: ignore[arg-type]


CATALOGUE: dict[str, Entry] = {
    "nanda/mainline-0": Entry(_nanda(0), "nanda: main text, appendices A, B and C.1"),
    **{
        f"nanda/mainline-{seed}": Entry(_nanda(seed), "nanda: figure 2, appendices A.1 and C.2.1")
        for seed in range(1, 5)
    },
    "nanda/no-decay-0": Entry(_nanda(0, weight_decay=0.0), "nanda: section 3, appendix D.1"),
}


def named(name: str) -> RunSpec:
    """The spec of a named run.

    Raises:
        ValueError: no run of that name.
    """
    if name not in CATALOGUE:
        raise ValueError(f"unknown run {name!r}; `python -m modinterp.runs list` shows all {len(CATALOGUE)}")
    return CATALOGUE[name].spec
