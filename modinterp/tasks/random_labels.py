"""Pairs with random labels: what a network can memorise, and no algorithm can compute."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.arguments import SEED, check_fields
from modinterp.tasks.modular import ModularArithmetic


@dataclass(frozen=True)
class RandomLabels(ModularArithmetic):
    """The pairs of `ModularArithmetic`, each with a label drawn uniformly from the residues.

    Use it to train a control: whatever is also true of a network that memorised random labels is no sign of an
    algorithm.

    Attributes:
        labels_seed: of the draw of the labels.

    >>> RandomLabels(5).labels()[:3].flatten().tolist() == RandomLabels(5).labels()[:3].flatten().tolist()
    True
    """

    labels_seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, labels_seed=SEED)

    @property
    def name(self) -> str:
        return f"random labels mod {self.p}"

    def labels(self) -> Int[Tensor, "input output"]:
        generator = torch.Generator().manual_seed(self.labels_seed)
        return torch.randint(self.p, (self.p**2, 1), generator=generator)
