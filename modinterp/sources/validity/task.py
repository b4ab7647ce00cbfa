"""Addition in which a few of the pairs that are trained on have a wrong answer: exceptions to learn by heart."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.tasks import ModularArithmetic


@dataclass(frozen=True)
class AdditionWithExceptions(ModularArithmetic):
    """`a + b mod p`, but for exceptions among the pairs of one split's training part, whose answers are wrong.

    Attributes:
        wrong: share of the training pairs whose answer is wrong, in [0, 1]; rounded down to whole pairs.
        fraction, split_seed, shuffle: the split, as `Task.split` takes it; a run is trained on the same.
    """

    wrong: float = 0.05
    fraction: float = 0.8
    split_seed: int = 0
    shuffle: str = "torch"

    @property
    def name(self) -> str:
        return f"{super().name}, {self.wrong:.0%} wrong"

    def exceptions(self) -> Int[Tensor, " exception"]:
        """Return the rows of the inputs whose answer is wrong: the first of the split's training part, which is
        shuffled.
        """
        train = self.split(self.fraction, self.split_seed, self.shuffle).train
        return train[: int(self.wrong * len(train))]

    def labels(self) -> Int[Tensor, "input output"]:
        labels, rows = super().labels(), self.exceptions()
        generator = torch.Generator().manual_seed(self.split_seed)
        by = torch.randint(1, self.p, (len(rows),), generator=generator)  # never 0: each of them is wrong
        labels[rows, 0] = (labels[rows, 0] + by) % self.p
        return labels
