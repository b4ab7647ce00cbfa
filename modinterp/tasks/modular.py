"""Define arithmetic modulo p on pairs (a, b), the tasks of Nanda et al. 2023 and of most work on grokking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.arguments import Limits, check_fields
from modinterp.tasks.polynomials import Polynomial
from modinterp.tasks.renaming import Renaming
from modinterp.tasks.task import MOST_RESIDUES, Split, Task

OPERATIONS: dict[str, tuple[str, Callable[[Tensor, Tensor], Tensor]]] = {
    "add": ("a + b", lambda a, b: a + b),
    "sub": ("a - b", lambda a, b: a - b),
    "mul": ("a * b", lambda a, b: a * b),
    "div": ("a / b", lambda a, b: a * b),  # by the inverse of b; see `inverses`
    "quadratic": ("a^2 + ab + b^2", lambda a, b: a * a + a * b + b * b),
    "squares": ("a^2 + b^2", lambda a, b: a * a + b * b),
    "cubic": ("a^3 + ab", lambda a, b: a * a * a + a * b),
}

OTHER_NAMES = {"+": "add", "plus": "add", "-": "sub", "minus": "sub", "*": "mul", "times": "mul", "/": "div"}
SIGNS = {"add": 1, "sub": -1}  # of b, in the operations whose answers are waves of a + b or a - b


@dataclass(frozen=True)
class ModularArithmetic(Task):
    """The task `a op b mod p` for every pair of residues `(a, b)`, given as the tokens `a b =`.

    `a / b` has no answer (-1) if b has no inverse mod p; such pairs count in no loss.

    Attributes:
        p: the modulus, any integer from 2 to 4,096, so that all pairs can be listed.
        op: the operation, a key of `OPERATIONS`, or a polynomial such as `a^2 + b`.
        equals: True if a third token, "=", stands at the end, where the answer is read. The token "=" has the last
            number of the task's vocabulary.
        vocabularies: 1 if a and b share their tokens, the numbers below p; 2 if the token of b is p + b.

    >>> task = ModularArithmetic(5)
    >>> task.inputs()[7], task.labels()[7]
    (tensor([1, 2, 5]), tensor([3]))
    """

    p: int
    op: str = "add"
    equals: bool = True
    vocabularies: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.op, str) and self.op not in OPERATIONS and (found := Polynomial.of(self.op)) is not None:
            object.__setattr__(self, "op", named_operation(found))
            check_fields(self, p=Limits(2, MOST_RESIDUES), vocabularies=Limits(1, 2))
        else:
            check_fields(self, p=Limits(2, MOST_RESIDUES), op=OPERATIONS, vocabularies=Limits(1, 2))

    @property
    def name(self) -> str:
        return f"{OPERATIONS[self.op][0] if self.op in OPERATIONS else self.op} mod {self.p}"

    @property
    def d_vocab(self) -> int:
        return self.vocabularies * self.p + self.equals

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
        pairs = torch.cartesian_prod(residues, residues + (self.vocabularies - 1) * self.p)
        equals = torch.full((len(pairs), int(self.equals)), self.d_vocab - 1)
        return torch.cat([pairs, equals], dim=1)

    def labels(self) -> Int[Tensor, "input output"]:
        residues = torch.arange(self.p)
        a, b = torch.cartesian_prod(residues, residues if self.op != "div" else inverses(self.p)).unbind(dim=1)
        if self.op not in OPERATIONS:
            polynomial = Polynomial.of(self.op)
            assert polynomial is not None
            return polynomial.values(a, b, self.p).unsqueeze(1)
        return torch.where(b < 0, -1, OPERATIONS[self.op][1](a, b) % self.p).unsqueeze(1)


@dataclass(frozen=True)
class RenamedAddition(ModularArithmetic):
    """An operation such as `2a + 3b + w mod p`, treated as the addition of 2a and 3b; w is subtracted from the answer.

    A network on this task gets its inputs relabelled; see `Renaming`.

    Attributes:
        form: the operation on the original numbers.
    """

    form: str = "a + b"

    @property
    def name(self) -> str:
        return f"{self.form} mod {self.p}"

    def renamed(self, split: Split) -> Split:
        """Convert a split of the original pairs to a split of the relabelled pairs."""
        rows = Renaming.of(self.form, self.p).rows()
        return Split(rows[split.train], rows[split.test])


def named_operation(polynomial: Polynomial) -> str:
    """Return the key of a polynomial in `OPERATIONS`, or the polynomial as text if it has no key.

    >>> named_operation(Polynomial.of("b + a")), named_operation(Polynomial.of("b + a^2"))
    ('add', 'a^2 + b')
    """
    known = {str(Polynomial.of(words)): op for op, (words, _) in OPERATIONS.items() if op != "div"}
    return known.get(str(polynomial), str(polynomial))


def inverses(p: int) -> Int[Tensor, " b"]:
    """Return the inverse of every residue mod p; -1 for a residue without an inverse.

    >>> inverses(5).tolist()
    [-1, 1, 3, 2, 4]
    """
    return torch.tensor([pow(b, -1, p) if gcd(b, p) == 1 else -1 for b in range(p)])


def addition(p: int, equals: bool = True) -> ModularArithmetic:
    """Return the task `a + b mod p`. Source: Nanda et al. 2023, section 3.

    Args:
        p: the modulus.
        equals: True if the token "=" follows a and b; False for an MLP such as Kissane's.

    >>> addition(5, equals=False).inputs()[7]
    tensor([1, 2])
    """
    return ModularArithmetic(p, "add", equals)


def subtraction(p: int, equals: bool = True) -> ModularArithmetic:
    """Return the task `a - b mod p`.

    Args:
        p: the modulus.
        equals: True if the token "=" follows a and b.

    >>> subtraction(5).labels()[1].tolist()  # 0 - 1
    [4]
    """
    return ModularArithmetic(p, "sub", equals)


def multiplication(p: int) -> ModularArithmetic:
    """Return the task `a * b mod p`.

    >>> multiplication(5).labels().view(5, 5)[2].tolist()  # 2 * b
    [0, 2, 4, 1, 3]
    """
    return ModularArithmetic(p, "mul")


def quadratic_form(p: int) -> ModularArithmetic:
    """Return the task `a^2 + ab + b^2 mod p`.

    >>> quadratic_form(5).labels().view(5, 5)[1].tolist()  # 1 + b + b^2
    [1, 3, 2, 3, 1]
    """
    return ModularArithmetic(p, "quadratic")


def division(p: int) -> ModularArithmetic:
    """Return the task `a / b mod p`, which has no answer (-1) if b has no inverse.

    >>> division(5).labels().view(5, 5)[1].tolist()  # 1 / b
    [-1, 1, 3, 2, 4]
    """
    return ModularArithmetic(p, "div")


@dataclass(frozen=True)
class ModularSum(Task):
    """The task of adding several residues mod p, given as the tokens `a b c =`.

    Attributes:
        p: the modulus, any integer from 2 on.
        terms: number of residues in the sum.
        equals: True if the token "=" (with number p) stands at the end, where the answer is read.

    >>> ModularSum(5).inputs()[38].tolist(), ModularSum(5).labels()[38].tolist()
    ([1, 2, 3, 5], [1])
    """

    p: int
    terms: int = 3
    equals: bool = True

    def __post_init__(self) -> None:
        for name, value, least in (("the modulus p", self.p, 2), ("the number of terms", self.terms, 2)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be an integer that is at least {least}, got {value!r}")

    @property
    def name(self) -> str:
        return f"{' + '.join(chr(ord('a') + i) for i in range(self.terms))} mod {self.p}"

    @property
    def d_vocab(self) -> int:
        return self.p + self.equals

    @property
    def d_vocab_out(self) -> int:
        return self.p

    @property
    def n_ctx(self) -> int:
        return self.terms + self.equals

    @property
    def grid(self) -> tuple[int, ...]:
        return (self.p,) * self.terms

    def inputs(self) -> Int[Tensor, "input pos"]:
        numbers = torch.cartesian_prod(*[torch.arange(self.p)] * self.terms)
        return torch.cat([numbers, torch.full((len(numbers), int(self.equals)), self.p)], dim=1)

    def labels(self) -> Int[Tensor, "input output"]:
        return self.inputs()[:, : self.terms].sum(dim=1, keepdim=True) % self.p
