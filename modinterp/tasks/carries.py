"""Split a long sum into columns: the digit of each column without a carry, and the carry into each column."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor


@dataclass(frozen=True)
class Columns:
    """The columns of sums of two numbers, most significant column first.

    Attributes:
        base: sum of each column's own digits mod 10, without the carry.
        carry: 1 if a carry comes into the column, otherwise 0.
        crossed: number of columns that produced or passed on the carry: 0 for no carry, 1 if the next column adds up to
            10 or more, 2 if the next column adds up to nine and passes on a carry, and so on.
        nine: 1 if the next column adds up to nine, so that this column passes on a carry, otherwise 0.
    """

    base: Int[Tensor, "input column"]
    carry: Int[Tensor, "input column"]
    crossed: Int[Tensor, "input column"]
    nine: Int[Tensor, "input column"]

    @property
    def digits(self) -> Int[Tensor, "input column"]:
        """The digits of the sums in the columns."""
        return (self.base + self.carry) % 10


def columns(a: Int[Tensor, "input digit"], b: Int[Tensor, "input digit"], is_longer: bool = False) -> Columns:
    """Return the columns of sums of two numbers that are given by their digits, most significant digit first.

    Args:
        is_longer: True if the sum has one digit more than the numbers, for the last carry.

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
