"""Define the maximum, minimum, median and sorted order of n numbers, read from a token CLS on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.arguments import COUNT, SHARE, Limits, check_fields
from modinterp.tasks.sampled import SampledTask, first_occurrences
from modinterp.tasks.task import Examples

QUESTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "max": lambda ordered: ordered[:, -1:],
    "min": lambda ordered: ordered[:, :1],
    "median": lambda ordered: ordered[:, [(ordered.shape[1] - 1) // 2]],
    "sort": lambda ordered: ordered,
}


def kinds_of_numbers(numbers: Int[Tensor, "input n"], ask: str) -> dict[str, Int[Tensor, "input *answer"]]:
    """Return properties by which errors on lists are grouped: repeats, and distance of the answer to the nearest
    number.

    >>> kinds_of_numbers(torch.tensor([[4, 9, 4]]), "max")
    {'numbers that repeat others': tensor([1]), 'gap to the next number': tensor([5])}
    """
    steps = numbers.sort(dim=1).values.diff(dim=1)
    found = {"numbers that repeat others": (steps == 0).sum(dim=1)}
    if ask == "sort":
        return found | {"step from the number before": torch.cat([torch.full_like(steps[:, :1], -1), steps], dim=1)}
    if steps.shape[1] and ask in ("max", "min"):
        found["gap to the next number"] = steps[:, -1] if ask == "max" else steps[:, 0]
    return found


@dataclass(frozen=True)
class Ordering(SampledTask):
    """The task of finding the maximum, minimum, median or sorted order of numbers below `limit`, followed by a token
    CLS.

    The token CLS has the number `limit`. In a sort, CLS and the sorted numbers except the last follow the list; at each
    of these tokens, the answer is the next number. Maximum, minimum and median are read at CLS.

    Attributes:
        ask: the question, a key of `QUESTIONS`; the median of an even number of numbers is the lower middle number.
        n: how many numbers each input has.
        limit: the numbers are drawn uniformly from 0 to limit - 1.
        small_share: share of inputs whose numbers are all below `small_limit`; uniform random inputs rarely are.
        asked: for a sort in training, number of random ranks of each input that have a label; 0 for all ranks. Ranks
            that are not asked have label -1.

    >>> task = Ordering("sort", n=3, limit=10)
    >>> task.answers(torch.tensor([[4, 9, 3, 10, 3, 4]]))
    tensor([[3, 4, 9]])

    Source: "Circuit engineering", the sections on max, median and sort.
    """

    ask: str
    n: int = 5
    limit: int = 100
    small_share: float = 0.0
    small_limit: int = 20
    asked: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = {"n": Limits(1, 1024), "limit": Limits(2, 2**20), "small_limit": COUNT}
        check_fields(self, ask=QUESTIONS, small_share=SHARE, asked=COUNT, **sizes)
        if self.asked > self.n_read:
            raise ValueError(f"asked must be at most {self.n_read}, got {self.asked}")
        if self.small_share and not 1 <= self.small_limit <= self.limit:
            raise ValueError(f"small_limit must lie in [1, {self.limit}], got {self.small_limit}")

    @property
    def name(self) -> str:
        asked = f", {self.asked} of {self.n_read} asked" if self.asked else ""
        return f"{self.ask} of {self.n} numbers below {self.limit}{asked}"

    @property
    def d_vocab(self) -> int:
        return self.limit + 1

    @property
    def d_vocab_out(self) -> int:
        return self.limit

    @property
    def n_read(self) -> int:
        return self.n if self.ask == "sort" else 1

    @property
    def n_asked(self) -> int:
        return self.asked or self.n_read

    @property
    def n_ctx(self) -> int:
        return self.n + self.n_read

    @property
    def output_names(self) -> tuple[str, ...]:
        return tuple(f"rank_{rank}" for rank in range(1, self.n + 1)) if self.n_asked > 1 else ()

    @property
    def position_names(self) -> tuple[str, ...]:
        numbers = tuple(f"number {place}" for place in range(1, self.n + 1))
        return (*numbers, "CLS", *(f"rank {rank}" for rank in range(1, self.n_read)))

    def kinds(self, inputs: Int[Tensor, "input pos"]) -> dict[str, Int[Tensor, "input *answer"]]:
        """Return how many numbers repeat others, and the distance of the answer to the nearest other number."""
        return kinds_of_numbers(inputs[:, : self.n], self.ask)

    def draw(self, n: int, generator: torch.Generator) -> Examples:
        uniform = torch.rand(n, self.n, generator=generator)
        small = torch.rand(n, 1, generator=generator) < self.small_share
        found = self.examples((uniform * torch.where(small, self.small_limit, self.limit)).long())
        if not self.asked:
            return found
        kept = torch.rand(n, self.n_read, generator=generator).argsort(dim=1) < self.asked
        return Examples(found.inputs, found.labels.where(kept, -1))

    def examples(self, numbers: Int[Tensor, "input n"]) -> Examples:
        """Build inputs of the task from numbers `[input, n]`, with their labels.

        >>> Ordering("max", n=3, limit=10).examples(torch.tensor([[4, 9, 3]]))
        Examples(inputs=tensor([[ 4,  9,  3, 10]]), labels=tensor([[9]]))
        """
        cls = torch.full((len(numbers), 1), self.limit)
        sorted_but_last = numbers.sort(dim=1).values[:, : self.n_read - 1]
        inputs = torch.cat([numbers, cls, sorted_but_last], dim=1)
        return Examples(inputs, self.answers(inputs))

    def unseen(self, n: int, seed: int, excluded: Int[Tensor, "input pos"], below: int | None = None) -> Examples:
        """Return up to `n` distinct random inputs with their labels, without excluded inputs.

        The report "Circuit engineering" has two such test sets: uniform random numbers, and only small numbers.

        Args:
            excluded: inputs that may not occur, such as training inputs.
            below: upper bound of the numbers (excluded); `limit` by default.
        Returns:
            the examples; fewer than `n` examples, or none, if hardly any other inputs exist.
        Raises:
            ValueError: `below` is not in 1..limit.
        """
        below = self.limit if below is None else below
        if not 1 <= below <= self.limit:
            raise ValueError(f"the limit of numbers below {below} must be from 1 to {self.limit}")
        generator, known = torch.Generator().manual_seed(seed), excluded[:, : self.n]
        rows = known = known[first_occurrences(known)]
        for _ in range(20):
            rows = torch.cat([rows, torch.randint(below, (n, self.n), generator=generator)])
            rows = rows[first_occurrences(rows)]
            if len(rows) >= len(known) + n:
                break
        return self.examples(rows[len(known) : len(known) + n])

    def answers(self, inputs: Int[Tensor, "input pos"]) -> Int[Tensor, "input output"]:
        """Return the labels of any inputs; labels depend only on the numbers before CLS."""
        return QUESTIONS[self.ask](inputs[:, : self.n].sort(dim=1).values)
