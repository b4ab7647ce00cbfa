"""Arithmetic modulo p on pairs (a, b): the tasks of Nanda et al. 2023 and of most work on grokking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.tasks.task import Task

OPERATIONS: dict[str, tuple[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "add": ("a + b", lambda a, b: a + b),
    "sub": ("a - b", lambda a, b: a - b),
    "mul": ("a * b", lambda a, b: a * b),
    "quadratic": ("a^2 + ab + b^2", lambda a, b: a * a + a * b + b * b),
}

SIGNS = {"add": 1, "sub": -1}  # of b, in the operations whose answers are waves of a + b or a - b


@dataclass(frozen=True)
class ModularArithmetic(Task):
    """`a op b mod p` for every pair of residues `(a, b)`, given as the tokens `a b =`.

    Attributes:
        p: the modulus, any integer from 2 on.
        op: a key of `OPERATIONS`.
        equals: whether a third token, "=" (number p), stands at the end, where the answer is read.

    >>> task = ModularArithmetic(5)
    >>> task.inputs()[7], task.labels()[7]
    (tensor([1, 2, 5]), tensor([3]))
    """

    p: int
    op: str = "add"
    equals: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.p, bool) or not isinstance(self.p, int) or self.p < 2:
            raise ValueError(f"the modulus p must be an integer of at least 2, got {self.p!r}")
        if self.op not in OPERATIONS:
            raise ValueError(f"unknown operation {self.op!r}; known are {', '.join(OPERATIONS)}")

    @property
    def name(self) -> str:
        return f"{OPERATIONS[self.op][0]} mod {self.p}"

    @property
    def d_vocab(self) -> int:
        return self.p + self.equals

    @property
    def d_vocab_out(self) -> int:
        return self.p

    @property
    def n_ctx(self) -> int:
        return 2 + self.equals

    @property
    def grid(self) -> tuple[int, int]:
        return (self.p, self.p)

    def inputs(self) -> Int[Tensor, "input pos"]:
        residues = torch.arange(self.p)
        pairs = torch.cartesian_prod(residues, residues)
        equals = torch.full((len(pairs), int(self.equals)), self.p)
        return torch.cat([pairs, equals], dim=1)

    def labels(self) -> Int[Tensor, "input output"]:
        a, b = self.inputs()[:, :2].unbind(dim=1)
        return (OPERATIONS[self.op][1](a, b) % self.p).unsqueeze(1)


def addition(p: int, equals: bool = True) -> ModularArithmetic:
    """`a + b mod p`. Source: Nanda et al. 2023, section 3.

    Args:
        equals: whether the token "=" follows a and b; False for Kissane's MLP and its like.

    >>> addition(5, equals=False).inputs()[7]
    tensor([1, 2])
    """
    return ModularArithmetic(p, "add", equals)


def subtraction(p: int, equals: bool = True) -> ModularArithmetic:
    """`a - b mod p`.

    Args:
        equals: whether the token "=" follows a and b.

    >>> subtraction(5).labels()[1].tolist()  # 0 - 1
    [4]
    """
    return ModularArithmetic(p, "sub", equals)


def multiplication(p: int) -> ModularArithmetic:
    """`a * b mod p`.

    >>> multiplication(5).labels().view(5, 5)[2].tolist()  # 2 * b
    [0, 2, 4, 1, 3]
    """
    return ModularArithmetic(p, "mul")


def quadratic_form(p: int) -> ModularArithmetic:
    """`a^2 + ab + b^2 mod p`.

    >>> quadratic_form(5).labels().view(5, 5)[1].tolist()  # 1 + b + b^2
    [1, 3, 2, 3, 1]
    """
    return ModularArithmetic(p, "quadratic")
