"""The composition of two elements of a finite group that is given by its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.tasks.task import Task


@dataclass(frozen=True)
class Composition(Task):
    """The product of every two elements of a finite group, given as the tokens `a b` or `a b =`.

    Attributes:
        n: number of elements, which are numbered from 0.
        products: number of the product a b, for a = 0, b = 0, 1, ..., then for a = 1, and so on.
        equals: whether a third token, "=", stands at the end; it has the last number.
        vocabularies: 1 where both elements share their tokens, 2 where the token of b is n + b.
        group: what people call it.
    Source: Chughtai et al. 2023, section 3.
    """

    n: int
    products: tuple[int, ...]
    equals: bool = False
    vocabularies: int = 1
    group: str = "a group"

    def __post_init__(self) -> None:
        if len(self.products) != self.n**2 or self.n < 2:
            raise ValueError(f"the table of {self.n} elements has {self.n**2} products, got {len(self.products)}")
        if self.vocabularies not in (1, 2):
            raise ValueError(f"two elements have 1 or 2 vocabularies, got {self.vocabularies!r}")
        table, everything = self.table, torch.arange(self.n)
        if not all(torch.equal(table.sort(dim=d).values, everything.expand(self.n, -1).movedim(1, d)) for d in (0, 1)):
            raise ValueError("the table is none of a group: some element is missing in a row or a column")
        a, b = torch.cartesian_prod(everything, everything).T
        for c in range(self.n):
            if not torch.equal(table[table[a, b], c], table[a, table[b, c]]):
                raise ValueError(f"the table is none of a group: it is not associative for c = {c}")

    @property
    def table(self) -> Int[Tensor, "a b"]:
        """The products as a matrix."""
        return torch.tensor(self.products).view(self.n, self.n)

    @property
    def name(self) -> str:
        return f"a b in {self.group} of order {self.n}"

    @property
    def d_vocab(self) -> int:
        return self.vocabularies * self.n + self.equals

    @property
    def d_vocab_out(self) -> int:
        return self.n

    @property
    def n_ctx(self) -> int:
        return 2 + self.equals

    @property
    def grid(self) -> tuple[int, int]:
        return (self.n, self.n)

    def inputs(self) -> Int[Tensor, "input pos"]:
        elements = torch.arange(self.n)
        pairs = torch.cartesian_prod(elements, elements + (self.vocabularies - 1) * self.n)
        return torch.cat([pairs, torch.full((len(pairs), int(self.equals)), self.d_vocab - 1)], dim=1)

    def labels(self) -> Int[Tensor, "input output"]:
        return self.table.reshape(-1, 1)


def composition(
    table: Sequence[Sequence[int]], equals: bool = False, vocabularies: int = 1, group: str = "a group"
) -> Composition:
    """The composition of a group from its table, `table[a][b]` the number of the product a b.

    >>> composition([[0, 1], [1, 0]], group="the group").name
    'a b in the group of order 2'

    Raises:
        ValueError: the table is none of a group.
    """
    return Composition(len(table), tuple(int(c) for row in table for c in row), equals, vocabularies, group)
