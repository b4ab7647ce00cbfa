"""Parse operations on a and b mod p that are written as polynomials, such as `a^2 + b`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

MOST_POWER = 9
_FACTOR = re.compile(r"\s*\*?\s*(?:(\d+)|([ab])(?:\s*\^\s*(\d+))?)")
_SIGN = re.compile(r"\s*([+-])\s*")
Powers = tuple[int, int]  # of a and of b


@dataclass(frozen=True)
class Polynomial:
    """A polynomial in a and b with integer coefficients.

    Attributes:
        terms: map from the powers (i, j) of a and b to the coefficient of a^i b^j.

    >>> str(Polynomial.of("b + a^2 - 3"))
    'a^2 + b - 3'
    """

    terms: Mapping[Powers, int]

    @classmethod
    def of(cls, text: str) -> Polynomial | None:
        """Parse a text such as `a^2 + 3ab - 1`; return None if the text is not a polynomial in a or b."""
        rest, terms = text.strip(), Counter[Powers]()
        sign = _SIGN.match(rest)
        while rest:
            factor = -1 if sign and sign[1] == "-" else 1
            rest = rest[sign.end() :] if sign else rest
            term = _term(rest)
            if term is None:
                return None
            powers, size, rest = term
            terms[powers] += factor * size
            sign = _SIGN.match(rest)
            if rest.strip() and sign is None:
                return None
        found = {powers: size for powers, size in terms.items() if size}
        return cls(found) if any(a or b for a, b in found) else None

    def values(self, a: Int[Tensor, " pair"], b: Int[Tensor, " pair"], p: int) -> Int[Tensor, " pair"]:
        """Return the polynomial's values mod p."""
        total = torch.zeros_like(a)
        for (of_a, of_b), size in self.terms.items():
            term = torch.full_like(a, size % p)
            for factor in (*[a] * of_a, *[b] * of_b):
                term = term * factor % p
            total = (total + term) % p
        return total

    def __str__(self) -> str:
        ordered = sorted(self.terms.items(), key=lambda x: (-max(x[0]), -sum(x[0]), -x[0][0]))
        words = [f"{'-' if size < 0 else '+'} {_written(powers, abs(size))}" for powers, size in ordered]
        first, *others = words
        return " ".join([first.removeprefix("+ ").replace("- ", "-"), *others])


def _term(text: str) -> tuple[Powers, int, str] | None:
    """Parse the first term of a text; return its powers, its coefficient and the rest of the text, or None."""
    powers, size, rest, is_there = {"a": 0, "b": 0}, 1, text, False
    while match := _FACTOR.match(rest):
        if match[1]:
            size *= int(match[1])
        else:
            powers[match[2]] += int(match[3] or 1)
        rest, is_there = rest[match.end() :], True
    if not is_there or max(powers.values()) > MOST_POWER or text.lstrip().startswith("*"):
        return None
    return (powers["a"], powers["b"]), size, rest


def _written(powers: Powers, size: int) -> str:
    names = [name + (f"^{power}" if power > 1 else "") for name, power in zip("ab", powers, strict=True) if power]
    return ("" if size == 1 and names else str(size)) + "".join(names)


def as_polynomial(values: Int[Tensor, " number"], p: int) -> tuple[int, ...] | None:
    """Return the coefficients, constant first, of a function mod p that is a polynomial of degree at most 3.

    Args:
        values: value of the function at every number below p, for a prime p above 3.
    Returns:
        the coefficients; None if the function is not such a polynomial, or if p has a common factor with 6.

    >>> as_polynomial(torch.tensor([2, 3, 6, 4, 4, 6, 3]), 7)  # x^2 + 2
    (2, 0, 1, 0)
    """
    if p < 5 or any(p % factor == 0 for factor in (2, 3)):
        return None
    rows, last = [], values % p
    for _ in range(4):
        rows.append(int(last[0]))
        last = (last[1:] - last[:-1]) % p
    f0, d1, d2, d3 = rows  # Newton's forward differences: f0 + d1 x + d2 x(x-1)/2 + d3 x(x-1)(x-2)/6
    two, six = pow(2, -1, p), pow(6, -1, p)  # an entry below is the coefficient of a power of x
    found = (f0, d1 - d2 * two + 2 * d3 * six, d2 * two - 3 * d3 * six, d3 * six)
    coefficients = tuple(c % p for c in found)
    x = torch.arange(p)
    remade = sum(c * x**power for power, c in enumerate(coefficients)) % p
    if not torch.equal(torch.as_tensor(remade), values % p):
        return None
    return coefficients
