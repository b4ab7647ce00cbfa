"""A task: a finite set of inputs, the right answer to each, and the split into training and test inputs.

A task is a frozen dataclass of plain numbers and strings, so it can be compared, hashed and written to JSON (see
`modinterp.tasks.description`). Inputs, labels and other large data are computed when they are used.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor


@lru_cache(maxsize=8)
def _python_permutation(n: int, seed: int) -> Int[Tensor, " input"]:
    order = list(range(n))
    random.Random(seed).shuffle(order)
    return torch.tensor(order)


def _torch_permutation(n: int, seed: int) -> Int[Tensor, " input"]:
    return torch.randperm(n, generator=torch.Generator().manual_seed(seed))


MOST_RESIDUES = 2**12  # whose pairs can still be listed
SHUFFLES = {"python": _python_permutation, "torch": _torch_permutation}  # code of Nanda et al.; Kissane's notebook
REGISTERED: dict[str, type[Task]] = {}  # the classes of tasks in this package, by their bare names


class Split(NamedTuple):
    """Rows of `Task.inputs()` that are trained on, and all the others, which are tested on, both in shuffled order."""

    train: Int[Tensor, " train"]
    test: Int[Tensor, " test"]


class Examples(NamedTuple):
    """Inputs `[input, pos]` and their labels `[input, output]`, row by row."""

    inputs: Int[Tensor, "input pos"]
    labels: Int[Tensor, "input output"]


@dataclass(frozen=True)
class Task(ABC):
    """Base class of tasks. A task of your own is a frozen dataclass derived from it.

    The fields of a task are numbers, strings, or tuples of them; its class lies in an importable module, so that a run
    trained on it can be loaded again.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.startswith("modinterp.tasks."):
            REGISTERED[cls.__name__] = cls

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name for people, such as `a + b mod 113`."""

    @property
    @abstractmethod
    def d_vocab(self) -> int:
        """Number of input tokens."""

    @property
    @abstractmethod
    def d_vocab_out(self) -> int | tuple[int, ...]:
        """Number of classes of the answer; one number per question where an input has several answers at once."""

    @property
    @abstractmethod
    def n_ctx(self) -> int:
        """Number of tokens in one input."""

    @property
    @abstractmethod
    def grid(self) -> tuple[int, ...] | None:
        """Shape into which all inputs fold, such as `(p, p)`; None where inputs are sampled."""

    @abstractmethod
    def inputs(self) -> Int[Tensor, "input pos"]:
        """Every input there is, the first number varying slowest; where inputs are sampled, the fixed sample."""

    @abstractmethod
    def labels(self) -> Int[Tensor, "input output"]:
        """The correct answers, one column for each output; -1 where an output has no answer."""

    def answers(self) -> Int[Tensor, " input"]:
        """The correct answers of a task with one answer, as a row: Return `labels()` as one row, without its single
        column.

        The comparison `(logits.argmax(-1) == task.answers())` then works input by input.

        >>> from modinterp.tasks import addition
        >>> addition(5).answers().shape
        torch.Size([25])

        Raises:
            ValueError: an input has several answers.
        """
        labels = self.labels()
        if labels.shape[1] != 1:
            raise ValueError(f"{self.name} has {labels.shape[1]} answers for each input; labels() has them all")
        return labels[:, 0]

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """Number of classes of each answer; the logits of all of them stand side by side in the network's output."""
        return self.d_vocab_out if isinstance(self.d_vocab_out, tuple) else (self.d_vocab_out,)

    @property
    def loss_weights(self) -> tuple[float, ...]:
        """The factor of the mean cross-entropy of each answer in the loss, in the order of `output_sizes`."""
        return tuple(1 / len(self.output_sizes) for _ in self.output_sizes)

    @property
    def n_read(self) -> int:
        """Number of positions, counted from the last, at which the logits are the network's answers."""
        return 1

    @property
    def n_asked(self) -> int:
        """At how many of those positions an input has an answer; a training computes the logits of no others."""
        return self.n_read

    @property
    def read_positions(self) -> tuple[int, ...]:
        """Positions at which an input may have an answer: the last `n_read`, unless a task names some of them."""
        return tuple(range(self.n_ctx - self.n_read, self.n_ctx))

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the columns of `labels()`, where a history should follow each; empty where their mean is enough."""
        return ()

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the positions, for tables and figures: numbers from 0, unless a task names them."""
        return tuple(map(str, range(self.n_ctx)))

    def kinds(self, inputs: Int[Tensor, "input pos"]) -> dict[str, Int[Tensor, "input *answer"]]:
        """By what inputs are grouped where a network's errors are looked for, such as the number of carries.

        A task of one's own may name some; by default there are none.

        Returns:
            Name to a whole number for each input, or for each answer at `read_positions`; -1 counts in no group.
        """
        return {}

    def fresh(self, n: int, seed: int) -> Examples:
        """`n` random inputs with their labels; unless a task says otherwise, rows of `inputs()` with replacement."""
        inputs = self.inputs()
        rows = torch.randint(len(inputs), (n,), generator=torch.Generator().manual_seed(seed))
        return Examples(inputs[rows], self.labels()[rows])

    def shuffler(self, seed: int) -> torch.Generator:
        """The generator of the orders in which a training with `permuted` batches takes the inputs.

        Args:
            seed: of the training.
        """
        return torch.Generator().manual_seed(seed)

    def of_any_seed(self) -> Task:
        """Return the task without the parts that depend on the training's seed, so that trainings of one recipe share
        it.
        """
        return self

    def split(self, fraction: float, seed: int, shuffle: str = "python") -> Split:
        """A seeded split of all inputs; the same on every device and platform.

        Args:
            fraction: share of the inputs to train on, in (0, 1]; rounded down to whole inputs.
            seed: any integer.
            shuffle: a key of `SHUFFLES`, so that a seed means the same inputs here and in a source's own code.
        Raises:
            ValueError: an unknown shuffle, fraction outside (0, 1], or so small that nothing is left to train on.

        >>> from modinterp.tasks import addition
        >>> train, test = addition(5).split(0.3, seed=0)
        >>> len(train), len(test)
        (7, 18)
        """
        if not 0 < fraction <= 1:
            raise ValueError(f"fraction of the data to train on must lie in (0, 1], got {fraction}")
        n = len(self.inputs())
        n_train = int(fraction * n)
        if n_train == 0:
            raise ValueError(f"fraction {fraction} of {n} inputs leaves nothing to train on")
        if shuffle not in SHUFFLES:
            raise ValueError(f"unknown shuffle {shuffle!r}; known are {', '.join(SHUFFLES)}")
        rows = SHUFFLES[shuffle](n, seed)
        return Split(rows[:n_train], rows[n_train:])
