"""The columns of a long sum: the digit of each column without a carry, and the carry into each column."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor


@dataclass(frozen=True)
class Columns:
    """The columns of sums of two numbers, the largest first.

    Attributes:
        base: digit that each column adds up to by itself, mod 10.
        carry: 1 where a carry comes into the column, else 0.
        crossed: how many columns a carry has come through before it comes in: 0 for none, 1 from a column of 10 or
            more, 2 through a column of nine behind that, and so on.
        nine: 1 where the next column adds up to nine, through which a carry passes, else 0.
    """

    base: Int[Tensor, "input column"]
    carry: Int[Tensor, "input column"]
    crossed: Int[Tensor, "input column"]
    nine: Int[Tensor, "input column"]

    @property
    def digits(self) -> Int[Tensor, "input column"]:
        """The digits of the sums in these columns."""
        return (self.base + self.carry) % 10


def columns(a: Int[Tensor, "input digit"], b: Int[Tensor, "input digit"], is_longer: bool = False) -> Columns:
    """The columns of sums of numbers that are given by their digits, the largest first.

    Args:
        is_longer: whether the sum has a digit more than the numbers, into which the last carry goes.

    >>> found = columns(torch.tensor([[1, 4, 9, 5]]), torch.tensor([[0, 5, 0, 5]]))
    >>> found.carry.tolist(), found.crossed.tolist()
    ([[1, 1, 1, 0]], [[3, 2, 1, 0]])
    """
    if is_longer:
        a, b = (torch.nn.functional.pad(x, (1, 0)) for x in (a, b))
    total = a + b
    crossed = torch.zeros_like(total)
    for column in range(total.shape[1] - 2, -1, -1):
        next_one, before = total[:, column + 1], crossed[:, column + 1]
        through = torch.where(before > 0, before + 1, 0)
        crossed[:, column] = torch.where(next_one > 9, 1, torch.where(next_one == 9, through, 0))
    nine = torch.nn.functional.pad((total[:, 1:] == 9).long(), (0, 1))
    return Columns(total % 10, (crossed > 0).long(), crossed, nine)
