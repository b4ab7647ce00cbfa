"""Define the base class of tasks: a finite set of inputs, their right answers, and the split into training and test.

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
    """Indices into `Task.inputs()` of the training inputs and of the held-out inputs, both in shuffled order."""

    train: Int[Tensor, " train"]
    test: Int[Tensor, " test"]


class Examples(NamedTuple):
    """Inputs `[input, pos]` and their labels `[input, output]`, row by row."""

    inputs: Int[Tensor, "input pos"]
    labels: Int[Tensor, "input output"]


@dataclass(frozen=True)
class Task(ABC):
    """Base class of tasks, which have inputs, right answers, and a split into training and held-out inputs. A task of
    your own is a frozen dataclass derived from `Task`.

    The fields of a task are numbers, strings, or tuples of these. The task's class lies in an importable module, so
    that a run trained on the task can be loaded again.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.startswith("modinterp.tasks."):
            REGISTERED[cls.__name__] = cls

    @property
    @abstractmethod
    def name(self) -> str:
        """Short readable name of the task, such as `a + b mod 113`."""

    @property
    @abstractmethod
    def d_vocab(self) -> int:
        """Number of tokens in the input vocabulary."""

    @property
    @abstractmethod
    def d_vocab_out(self) -> int | tuple[int, ...]:
        """Number of classes of the answer; for inputs with several answers, one number for each question."""

    @property
    @abstractmethod
    def n_ctx(self) -> int:
        """Number of tokens in one input."""

    @property
    @abstractmethod
    def grid(self) -> tuple[int, ...] | None:
        """Shape of the grid of all inputs, such as `(p, p)`; None if inputs are sampled."""

    @abstractmethod
    def inputs(self) -> Int[Tensor, "input pos"]:
        """Return all inputs, with the first number varying slowest; for sampled inputs, return the fixed sample."""

    @abstractmethod
    def labels(self) -> Int[Tensor, "input output"]:
        """Return the correct answers, with one column for each output; -1 if an output has no answer."""

    def answers(self) -> Int[Tensor, " input"]:
        """Return the correct answers of a task with one answer per input: the single column of `labels()`.

        With `answers`, the comparison `(logits.argmax(-1) == task.answers())` works input by input.

        >>> from modinterp.tasks import addition
        >>> addition(5).answers().shape
        torch.Size([25])

        Raises:
            ValueError: an input has several answers.
        """
        labels = self.labels()
        if labels.shape[1] != 1:
            raise ValueError(
                f"{self.name} has {labels.shape[1]} answers for each input; labels() returns all of these answers"
            )
        return labels[:, 0]

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """Number of classes of each answer; the network's output holds the logits of all answers side by side."""
        return self.d_vocab_out if isinstance(self.d_vocab_out, tuple) else (self.d_vocab_out,)

    @property
    def loss_weights(self) -> tuple[float, ...]:
        """Weight of each answer's mean cross-entropy in the loss, in the same order as `output_sizes`."""
        return tuple(1 / len(self.output_sizes) for _ in self.output_sizes)

    @property
    def n_read(self) -> int:
        """Number of positions, counted from the last, at which the logits are the network's answers."""
        return 1

    @property
    def n_asked(self) -> int:
        """Number of the `n_read` last positions where an input has an answer; training computes only these logits."""
        return self.n_read

    @property
    def read_positions(self) -> tuple[int, ...]:
        """Positions at which an input may have an answer: the last `n_read` positions, unless a task names others."""
        return tuple(range(self.n_ctx - self.n_read, self.n_ctx))

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the columns of `labels()`, if a history should log each column; empty to log only the mean."""
        return ()

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the positions, for tables and figures: numbers from 0, unless a task names them."""
        return tuple(map(str, range(self.n_ctx)))

    def kinds(self, inputs: Int[Tensor, "input pos"]) -> dict[str, Int[Tensor, "input *answer"]]:
        """Return properties of inputs by which a network's errors are grouped, such as the number of carries.

        A task of your own may define properties of its inputs; by default there are none.

        Returns:
            Map from the name of a property to one integer for each input, or for each answer at `read_positions`; -1
            belongs to no group.
        """
        return {}

    def fresh(self, n: int, seed: int) -> Examples:
        """Draw `n` random inputs with their labels; by default, rows of `inputs()` with replacement."""
        inputs = self.inputs()
        rows = torch.randint(len(inputs), (n,), generator=torch.Generator().manual_seed(seed))
        return Examples(inputs[rows], self.labels()[rows])

    def shuffler(self, seed: int) -> torch.Generator:
        """Return the random generator that orders the inputs of a training with `permuted` batches.

        Args:
            seed: seed of the training.
        """
        return torch.Generator().manual_seed(seed)

    def of_any_seed(self) -> Task:
        """Return the task without the parts that depend on the training's seed, so that trainings of one recipe share
        it.
        """
        return self

    def split(self, fraction: float, seed: int, shuffle: str = "python") -> Split:
        """Return a seeded split of all inputs, which is the same on every device and platform.

        Args:
            fraction: share of training inputs, in (0, 1]; the number of inputs is rounded down.
            seed: seed of the split, any integer.
            shuffle: method of shuffling, a key of `SHUFFLES`; a source's method reproduces the source's own split.
        Raises:
            ValueError: `shuffle` is unknown; `fraction` is outside (0, 1], or too small for one training input.

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
            raise ValueError(f"a fraction of {fraction} of {n} inputs leaves no input to train on")
        if shuffle not in SHUFFLES:
            raise ValueError(f"unknown shuffle {shuffle!r}; known are {', '.join(SHUFFLES)}")
        rows = SHUFFLES[shuffle](n, seed)
        return Split(rows[:n_train], rows[n_train:])
