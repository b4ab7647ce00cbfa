"""Define a task with random labels, which a network can only memorise."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.arguments import SEED, check_fields
from modinterp.tasks.modular import ModularArithmetic


@dataclass(frozen=True)
class RandomLabels(ModularArithmetic):
    """A task with the pairs of `ModularArithmetic` and a uniformly random label for each pair.

    Use this task to train a control: a property that a network with random labels also has is no sign of an algorithm.

    Attributes:
        labels_seed: seed of the random labels.
        mirrored: True if (a, b) and (b, a) have the same label; a network that adds its embeddings needs this to
            memorise.

    >>> RandomLabels(5).labels()[:3].flatten().tolist() == RandomLabels(5).labels()[:3].flatten().tolist()
    True
    """

    labels_seed: int = 0
    mirrored: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, labels_seed=SEED)

    @property
    def name(self) -> str:
        return f"random labels mod {self.p}"

    def labels(self) -> Int[Tensor, "input output"]:
        generator = torch.Generator().manual_seed(self.labels_seed)
        labels = torch.randint(self.p, (self.p**2, 1), generator=generator)
        if not self.mirrored:
            return labels
        upper = labels.view(self.p, self.p).triu()
        return (upper + upper.T.tril(-1)).view(-1, 1)
