"""Tasks with too many inputs to list: a fixed sample of distinct ones, or as many fresh ones as are asked for."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.tasks.task import Examples, Task


@dataclass(frozen=True, kw_only=True)
class SampledTask(Task):
    """A task whose inputs are drawn from a seeded generator.

    Attributes:
        size: number of distinct inputs in the fixed sample, which a split cuts into those trained on and the others.
            Fresh inputs are drawn without looking at it.
        data_seed: of the fixed sample.
    """

    size: int = 1024
    data_seed: int = 0

    def __post_init__(self) -> None:
        if self.size < 2:
            raise ValueError(f"a sample to split has a size of at least 2, got {self.size}")

    @property
    def grid(self) -> None:
        return None

    @abstractmethod
    def drawn(self, n: int, generator: torch.Generator) -> Examples:
        """`n` inputs at random, with their labels; repetitions may occur."""

    def inputs(self) -> Int[Tensor, "input pos"]:
        return _distinct(self).inputs

    def labels(self) -> Int[Tensor, "input output"]:
        return _distinct(self).labels

    def fresh(self, n: int, seed: int) -> Examples:
        return self.drawn(n, torch.Generator().manual_seed(seed))


@lru_cache(maxsize=4)
def _distinct(task: SampledTask) -> Examples:
    """The first `size` distinct inputs of a generator seeded with `data_seed`."""
    generator, found = torch.Generator().manual_seed(task.data_seed), None
    for _ in range(100):
        more = task.drawn(task.size, generator)
        found = more if found is None else Examples(*(torch.cat(both) for both in zip(found, more, strict=True)))
        kinds, kind = found.inputs.unique(dim=0, return_inverse=True)
        rows = torch.arange(len(kind))
        first = torch.full((len(kinds),), len(kind)).scatter_reduce(0, kind, rows, "amin").sort().values
        found = Examples(found.inputs[first], found.labels[first])
        if len(first) >= task.size:
            return Examples(found.inputs[: task.size], found.labels[: task.size])
    raise ValueError(f"{task.name} has too few different inputs for a sample of {task.size}")
