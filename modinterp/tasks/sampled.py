"""Define tasks with too many inputs to list: a fixed sample of distinct inputs, or any number of fresh inputs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.arguments import SEED, Limits, check_fields
from modinterp.tasks.task import Examples, Task

MOST_INPUTS = 2**24


@dataclass(frozen=True, kw_only=True)
class SampledTask(Task):
    """A task whose inputs are drawn from a seeded generator.

    Attributes:
        size: number of distinct inputs in the fixed sample, which a split divides into training and held-out inputs.
            Fresh random inputs may also be in the fixed sample.
        data_seed: seed of the fixed sample.
    """

    size: int = 1024
    data_seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self, size=Limits(2, MOST_INPUTS), data_seed=SEED)

    @property
    def grid(self) -> None:
        return None

    @abstractmethod
    def draw(self, n: int, generator: torch.Generator) -> Examples:
        """Draw `n` random inputs with their labels; an input may occur more than once."""

    def inputs(self) -> Int[Tensor, "input pos"]:
        return _distinct(self).inputs

    def labels(self) -> Int[Tensor, "input output"]:
        return _distinct(self).labels

    def fresh(self, n: int, seed: int) -> Examples:
        return self.draw(n, torch.Generator().manual_seed(seed))


@lru_cache(maxsize=4)
def _distinct(task: SampledTask) -> Examples:
    """Return the first `size` distinct inputs, with their labels, that a generator seeded with `data_seed` draws."""
    generator = torch.Generator().manual_seed(task.data_seed)
    inputs, labels = task.draw(task.size, generator)
    for _ in range(100):
        first = first_occurrences(inputs)
        inputs, labels = inputs[first], labels[first]
        if len(first) >= task.size:
            return Examples(inputs[: task.size], labels[: task.size])
        more = task.draw(task.size, generator)
        inputs, labels = torch.cat([inputs, more.inputs]), torch.cat([labels, more.labels])
    raise ValueError(f"{task.name} has too few different inputs for a sample of {task.size}")


def first_occurrences(rows: Int[Tensor, "input pos"]) -> Int[Tensor, " distinct"]:
    """Return the indices of rows that occur for the first time, in ascending order; rows contain numbers from 0.

    >>> first_occurrences(torch.tensor([[4, 1], [1, 4], [4, 1], [0, 0]])).tolist()
    [0, 1, 3]
    """
    base, most = (int(rows.max()) + 1 if rows.numel() else 1), 1
    number = torch.zeros(len(rows), dtype=torch.long)  # one number a row is sorted in a tenth of the time of rows
    for column in rows.T:
        if most * base >= 2**63:
            number, most = number.unique(return_inverse=True)[1], len(rows)
        number, most = number * base + column, most * base
    distinct, number = number.unique(return_inverse=True)
    places = torch.arange(len(number))
    return torch.full((len(distinct),), len(number)).scatter_reduce(0, number, places, "amin").sort().values
