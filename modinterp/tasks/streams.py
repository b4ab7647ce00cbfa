"""Define tasks on sequences whose training inputs and held-out inputs are drawn separately from a random generator.

In all these tasks, `read_positions` gives the positions whose logits are answers, and `labels` gives the right answer
at each of these positions.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor

from modinterp.arguments import SEED, Limits, check_fields
from modinterp.tasks.carries import Columns, columns
from modinterp.tasks.sampled import MOST_INPUTS
from modinterp.tasks.task import Examples, Split, Task


@dataclass(frozen=True, kw_only=True)
class StreamTask(Task):
    """A task on sequences, with training inputs drawn from one seed and held-out inputs drawn from the next seed.

    Use this class if a source draws its data from torch's global generator: the same `data_seed` gives the same inputs
    as in the source. A random input may occur more than once, and may be both a training input and a held-out input.

    Attributes:
        size: number of training inputs.
        held_out: number of held-out inputs.
        data_seed: seed of the training inputs; the held-out inputs are drawn with the next seed.
    """

    size: int = 100_000
    held_out: int = 5_000
    data_seed: int = 0

    def __post_init__(self) -> None:
        count = Limits(1, MOST_INPUTS)
        check_fields(self, size=count, held_out=count, data_seed=SEED)

    @property
    @abstractmethod
    def read_positions(self) -> tuple[int, ...]:
        """Positions at which the logits are the network's answers, in order."""

    @abstractmethod
    def draw(self, n: int, generator: torch.Generator) -> Examples:
        """Draw `n` random inputs, with the right answers at `read_positions`."""

    @property
    def grid(self) -> None:
        return None

    @property
    def n_read(self) -> int:
        return self.n_ctx - self.read_positions[0]

    @property
    def n_asked(self) -> int:
        return len(self.read_positions)

    @property
    def share(self) -> float:
        """The share of `inputs()` used for training, for `Recipe.fraction`."""
        return self.size / (self.size + self.held_out)

    def inputs(self) -> Int[Tensor, "input pos"]:
        return _both_draws(self).inputs

    def labels(self) -> Int[Tensor, "input output"]:
        return _both_draws(self).labels

    def fresh(self, n: int, seed: int) -> Examples:
        return self._padded(self.draw(n, torch.Generator().manual_seed(seed)))

    def answers_at_read_positions(self, labels: Int[Tensor, "input output"]) -> Int[Tensor, "input answer"]:
        """Return the labels at the positions that have an answer."""
        first = self.read_positions[0]
        return labels[:, [position - first for position in self.read_positions]]

    def _padded(self, examples: Examples) -> Examples:
        """Give examples a label at each of the last `n_read` positions, with -1 for no answer."""
        columns = torch.tensor(self.read_positions) - self.read_positions[0]
        labels = torch.full((len(examples.labels), self.n_read), -1)
        labels[:, columns] = examples.labels
        return Examples(examples.inputs, labels)

    def split(self, fraction: float, seed: int, shuffle: str = "python") -> Split:
        """Return the training inputs and the held-out inputs, without shuffling.

        Args:
            fraction: share of training inputs, which must equal `share`.
            seed, shuffle: ignored; the data have a seed of their own.
        Raises:
            ValueError: `fraction` is not `share`.
        """
        if abs(fraction - self.share) > 1e-9:
            raise ValueError(
                f"{self.name} must be trained on the fraction `share` of its inputs, {self.share:.9g}, got {fraction}"
            )
        rows = torch.arange(self.size + self.held_out)
        return Split(rows[: self.size], rows[self.size :])

    def shuffler(self, seed: int) -> torch.Generator:
        generator = torch.Generator().manual_seed(self.data_seed + 1)
        self.draw(self.held_out, generator)
        return generator

    def of_any_seed(self) -> Task:
        return replace(self, data_seed=0)


@lru_cache(maxsize=4)
def _both_draws(task: StreamTask) -> Examples:
    """Return the training inputs, followed by the held-out inputs."""
    seeds = ((task.size, task.data_seed), (task.held_out, task.data_seed + 1))
    train, test = (task.fresh(n, seed) for n, seed in seeds)
    return Examples(torch.cat([train.inputs, test.inputs]), torch.cat([train.labels, test.labels]))


@dataclass(frozen=True, kw_only=True)
class ColumnSum(StreamTask):
    """The task of adding numbers digit by digit, as in `0 1 2 3 + 4 5 6 7 = 4 6 9 0`; each digit is read at the
    preceding token.

    The most significant digit of a number comes first. The first digit of each number is below 5, so a sum has no more
    digits than a number. The whole sum is fed into the network as input.

    Attributes:
        digits: number of digits of each number and of the sum.

    >>> task = ColumnSum(size=2, held_out=1)
    >>> task.n_ctx, task.read_positions
    (14, (9, 10, 11, 12))
    """

    digits: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, digits=Limits(1, 17))

    name = property(lambda self: f"columns of a sum of {self.digits} digits")
    d_vocab = property(lambda self: 12)
    d_vocab_out = property(lambda self: 12)
    n_ctx = property(lambda self: 3 * self.digits + 2)

    @property
    def position_names(self) -> tuple[str, ...]:
        a, b, c = (tuple(f"{name}{place}" for place in range(1, self.digits + 1)) for name in "abc")
        return (*a, "+", *b, "=", *c)

    def columns(self, inputs: Int[Tensor, "input pos"]) -> Columns:
        """Return the columns of the sums, one for each digit of the answer."""
        return columns(inputs[:, : self.digits], inputs[:, self.digits + 1 : 2 * self.digits + 1])

    def kinds(self, inputs: Int[Tensor, "input pos"]) -> dict[str, Int[Tensor, "input *answer"]]:
        """Return the number of carries in each sum, and through how many columns each carry came."""
        found = self.columns(inputs)
        return {"carries": found.carry.sum(dim=1), "columns that the carry came through": found.crossed}

    @property
    def read_positions(self) -> tuple[int, ...]:
        return tuple(range(2 * self.digits + 1, 3 * self.digits + 1))

    def draw(self, n: int, generator: torch.Generator) -> Examples:
        def number() -> Tensor:
            first = torch.randint(0, 5, (n, 1), generator=generator)
            return torch.cat([first, torch.randint(0, 10, (n, self.digits - 1), generator=generator)], dim=1)

        return self.examples(number(), number())

    def examples(self, a: Int[Tensor, "input digit"], b: Int[Tensor, "input digit"]) -> Examples:
        """Build inputs from the digits of two numbers, with the right answers at `read_positions`.

        >>> ColumnSum(digits=2).examples(torch.tensor([[1, 7]]), torch.tensor([[2, 5]]))
        Examples(inputs=tensor([[ 1,  7, 10,  2,  5, 11,  4,  2]]), labels=tensor([[4, 2]]))
        """
        powers = 10 ** torch.arange(self.digits - 1, -1, -1)
        total = ((a + b) * powers).sum(dim=1, keepdim=True)
        answer = total // powers % 10
        plus, equals = torch.full((len(a), 1), 10), torch.full((len(a), 1), 11)
        return Examples(torch.cat([a, plus, b, equals, answer], dim=1), answer)


@dataclass(frozen=True, kw_only=True)
class SortedList(StreamTask):
    """The task of sorting different numbers, as in `4 9 3 SEP 3 4 9`; each sorted number is read at the preceding
    token.

    The whole sorted list is fed into the network.

    Attributes:
        n: how many numbers each input has.
        limit: the numbers lie from 0 to limit - 1; the token SEP is `limit`.

    >>> task = SortedList(n=3, limit=10, size=2, held_out=1)
    >>> task.n_ctx, task.read_positions
    (7, (3, 4, 5))
    """

    n: int = 10
    limit: int = 51

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, n=Limits(1, 1024), limit=Limits(2, 2**20))
        if self.n > self.limit:
            raise ValueError(f"there are not {self.n} different numbers below {self.limit}")

    name = property(lambda self: f"{self.n} different numbers below {self.limit}, sorted")
    d_vocab = property(lambda self: self.limit + 1)
    d_vocab_out = property(lambda self: self.limit + 1)
    n_ctx = property(lambda self: 2 * self.n + 1)

    @property
    def position_names(self) -> tuple[str, ...]:
        return (*(f"number {i}" for i in range(1, self.n + 1)), "SEP", *(f"rank {i}" for i in range(1, self.n + 1)))

    def kinds(self, inputs: Int[Tensor, "input pos"]) -> dict[str, Int[Tensor, "input *answer"]]:
        """Return the difference of each number to the preceding one in sorted order."""
        ordered = inputs[:, self.n + 1 :]
        return {"step from the number before": F.pad(ordered.diff(dim=1), (1, 0), value=-1)}

    @property
    def read_positions(self) -> tuple[int, ...]:
        return tuple(range(self.n, 2 * self.n))

    def draw(self, n: int, generator: torch.Generator) -> Examples:
        return self.examples(torch.rand(n, self.limit, generator=generator).argsort(dim=-1)[:, : self.n])

    def examples(self, numbers: Int[Tensor, "input n"]) -> Examples:
        """Build inputs from lists of numbers, with the right answers at `read_positions`.

        >>> SortedList(n=2, limit=10).examples(torch.tensor([[7, 5]]))
        Examples(inputs=tensor([[ 7,  5, 10,  5,  7]]), labels=tensor([[5, 7]]))
        """
        ordered = numbers.sort(dim=1).values
        return Examples(torch.cat([F.pad(numbers, (0, 1), value=self.limit), ordered], dim=1), ordered)


@dataclass(frozen=True, kw_only=True)
class SignOfSum(StreamTask):
    """The task of finding the sign of the sum so far, at every number of a list such as `-3 5 -2 1`.

    Random numbers pull the sum back to 0: after a positive sum, the next number is likely negative, and otherwise
    likely not negative.

    Attributes:
        n: how many numbers each input has.
        largest: the numbers lie from -largest to largest; the token of v is v mod 2 largest + 1.
        back: probability with which a number pulls the sum back.

    >>> SignOfSum(n=3).examples(torch.tensor([[-3, 5, -2]]))
    Examples(inputs=tensor([[8, 5, 9]]), labels=tensor([[0, 2, 1]]))
    """

    n: int = 20
    largest: int = 5
    back: float = 0.7

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, n=Limits(1, 2**12), largest=Limits(1, 2**16), back=Limits(0, 1))

    name = property(lambda self: f"sign of the sum of up to {self.n} numbers")
    d_vocab = property(lambda self: 2 * self.largest + 1)
    d_vocab_out = property(lambda self: 3)
    n_ctx = property(lambda self: self.n)

    def kinds(self, inputs: Int[Tensor, "input n"]) -> dict[str, Int[Tensor, "input *answer"]]:
        """Return the distance of each sum from 0."""
        return {"size of the sum": self.numbers(inputs).cumsum(dim=1).abs()}

    @property
    def read_positions(self) -> tuple[int, ...]:
        return tuple(range(self.n))

    def draw(self, n: int, generator: torch.Generator) -> Examples:
        numbers = torch.randint(-self.largest, self.largest + 1, (n, self.n), generator=generator)
        for place in range(1, self.n):
            pulls_back = torch.rand(n, generator=generator) < self.back
            size = torch.randint(0, self.largest + 1, (n,), generator=generator)
            negative = (numbers[:, :place].sum(dim=1) > 0) == pulls_back
            numbers[:, place] = torch.where(negative, -size, size)
        return self.examples(numbers)

    def examples(self, numbers: Int[Tensor, "input n"]) -> Examples:
        """Build inputs from numbers, with the sign of each partial sum: 0 for negative, 1 for zero, 2 for positive."""
        return Examples(numbers % self.d_vocab, numbers.cumsum(dim=1).sign() + 1)

    def numbers(self, inputs: Int[Tensor, "input n"]) -> Int[Tensor, "input n"]:
        """Convert tokens to the numbers that they represent.

        >>> SignOfSum(n=3).numbers(torch.tensor([[8, 5, 9]]))
        tensor([[-3,  5, -2]])
        """
        return torch.where(inputs > self.largest, inputs - self.d_vocab, inputs)
