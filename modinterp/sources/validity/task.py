"""Define addition with exceptions: a few training pairs have a wrong answer, which the network must memorise."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.tasks import ModularArithmetic


@dataclass(frozen=True)
class AdditionWithExceptions(ModularArithmetic):
    """The task `a + b mod p`, with wrong answers for some training pairs of one split.

    Attributes:
        wrong: share of the training pairs whose answer is wrong, in [0, 1]; rounded down to whole pairs.
        fraction, split_seed, shuffle: the split, as for `Task.split`; a run on this task trains on the same split.
    """

    wrong: float = 0.05
    fraction: float = 0.8
    split_seed: int = 0
    shuffle: str = "torch"

    @property
    def name(self) -> str:
        return f"{super().name}, {self.wrong:.0%} wrong"

    def exceptions(self) -> Int[Tensor, " exception"]:
        """Return the row indices of inputs with a wrong answer: the first pairs of the split's shuffled training part."""
        train = self.split(self.fraction, self.split_seed, self.shuffle).train
        return train[: int(self.wrong * len(train))]

    def labels(self) -> Int[Tensor, "input output"]:
        labels, rows = super().labels(), self.exceptions()
        generator = torch.Generator().manual_seed(self.split_seed)
        by = torch.randint(1, self.p, (len(rows),), generator=generator)  # never 0: each of them is wrong
        labels[rows, 0] = (labels[rows, 0] + by) % self.p
        return labels
