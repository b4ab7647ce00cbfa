"""Define the maximum, minimum and median of a list, read at the last number, without a token CLS."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Int
from torch import Tensor

from modinterp.arguments import Limits, check_fields
from modinterp.tasks.ordering import QUESTIONS, kinds_of_numbers
from modinterp.tasks.sampled import SampledTask
from modinterp.tasks.task import Examples

ASKED = ("max", "min", "median")


@dataclass(frozen=True)
class ListQuestion(SampledTask):
    """The task of finding the maximum, minimum or median of numbers below `limit`, read at the last number.

    Use this task for networks without a token after the numbers; `Ordering` has such a token.

    Attributes:
        ask: the question, `max`, `min` or `median`.
        n: how many numbers each input has.
        limit: the numbers lie from 0 to limit - 1.
        start: True if a start token, with number `limit`, precedes the numbers.

    >>> ListQuestion("max", n=3, limit=10, start=True).examples(torch.tensor([[4, 9, 3]]))
    Examples(inputs=tensor([[10,  4,  9,  3]]), labels=tensor([[9]]))
    """

    ask: str
    n: int = 5
    limit: int = 64
    start: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self, ask=ASKED, n=Limits(1, 1024), limit=Limits(2, 2**20))

    @property
    def name(self) -> str:
        return f"{self.ask} of {self.n} numbers below {self.limit}, read at the last"

    @property
    def d_vocab(self) -> int:
        return self.limit + self.start

    @property
    def d_vocab_out(self) -> int:
        return self.limit

    @property
    def n_ctx(self) -> int:
        return self.n + self.start

    @property
    def position_names(self) -> tuple[str, ...]:
        return (*("start",) * self.start, *(f"number {place}" for place in range(1, self.n + 1)))

    def kinds(self, inputs: Int[Tensor, "input pos"]) -> dict[str, Int[Tensor, "input *answer"]]:
        """Return how many numbers repeat others, and the distance of the answer to the nearest other number."""
        return kinds_of_numbers(inputs[:, int(self.start) :], self.ask)

    def draw(self, n: int, generator: torch.Generator) -> Examples:
        return self.examples(torch.randint(self.limit, (n, self.n), generator=generator))

    def examples(self, numbers: Int[Tensor, "input n"]) -> Examples:
        """Build inputs of the task from numbers, with the right answers."""
        answers = QUESTIONS[self.ask](numbers.sort(dim=1).values)
        return Examples(F.pad(numbers, (int(self.start), 0), value=self.limit), answers)
