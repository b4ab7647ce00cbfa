"""Relabel numbers so that an operation becomes addition: c = 2a + 3b + 1 becomes c - 1 = (2a) + (3b)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import gcd

import torch
from jaxtyping import Float, Int
from torch import Tensor

_TERM = re.compile(r"([+-]?)\s*(\d*)\s*\*?\s*([ab]?)")


@dataclass(frozen=True)
class Renaming:
    """The relabelling that turns c = u a + v b + w mod p into the addition of u a and v b, with the answer c - w.

    Attributes:
        p: the modulus.
        u, v: factors of a and of b, which have inverses mod p.
        w: the constant, from 0 to p - 1.

    >>> str(Renaming.of("b - 2a + 7", 29))
    'b - 2a + 7'
    """

    p: int
    u: int
    v: int
    w: int = 0

    def __post_init__(self) -> None:
        for name, factor in (("a", self.u), ("b", self.v)):
            if gcd(factor, self.p) != 1:
                raise ValueError(
                    f"{factor}{name} does not relabel {name} mod {self.p}, since {factor} has no inverse mod {self.p}"
                )

    @classmethod
    def of(cls, text: str, p: int) -> Renaming:
        """Parse an operation such as `2a + 3b`, `-a - b`, `b - a` or `a + b + 7`, and return its relabelling.

        Raises:
            ValueError: the text is not an operation u a + v b + w, or a factor has no inverse mod p.
        """
        factors = linear_form(text)
        if factors is None:
            raise ValueError(f"{text!r} is not a form such as 2a + 3b or a + b + 7")
        u, v, w = factors
        return cls(p, u, v, w % p)

    def __str__(self) -> str:
        words = [_term(self._near(self.u), "a"), _term(self._near(self.v), "b")]
        words = words[::-1] if words[0].startswith("-") and words[1].startswith("+") else words
        words += [_term(self.w, "")] if self.w else []
        first, *rest = words
        return first.removeprefix("+ ").replace("- ", "-") + "".join(f" {word}" for word in rest)

    def _near(self, factor: int) -> int:
        """Return the representative of a factor between -p/2 and p/2."""
        return (factor + self.p // 2) % self.p - self.p // 2

    @property
    def places(self) -> Int[Tensor, "2 number"]:
        """Index tensors with the network's own number for every new label, for a and for b."""
        names = torch.arange(self.p)
        return torch.stack([names * pow(factor, -1, self.p) % self.p for factor in (self.u, self.v)])

    def numbers(self, renamed: Int[Tensor, "batch 2"]) -> Int[Tensor, "batch 2"]:
        """Convert new labels to the network's own numbers."""
        first, second = self.places.to(renamed.device)
        return torch.stack([first[renamed[:, 0]], second[renamed[:, 1]]], dim=1)

    def vectors(self, renamed: Float[Tensor, "batch 2 number"]) -> Float[Tensor, "batch 2 number"]:
        """Convert vectors over the new labels to vectors over the network's own numbers."""
        first, second = self.places.argsort(dim=1).to(renamed.device)
        return torch.stack([renamed[:, 0, first], renamed[:, 1, second]], dim=1)

    def answers(self, logits: Float[Tensor, "batch output"]) -> Float[Tensor, "batch output"]:
        """Relabel the classes of logits; columns beyond the classes stay unchanged."""
        classes = (torch.arange(self.p) + self.w) % self.p
        return torch.cat([logits[:, classes.to(logits.device)], logits[:, self.p :]], dim=1)

    def own_labels(self) -> Int[Tensor, " pair"]:
        """Return the answers to all pairs (a, b) of the network's own numbers; b varies fastest."""
        a, b = torch.cartesian_prod(torch.arange(self.p), torch.arange(self.p)).unbind(1)
        return (self.u * a + self.v * b + self.w) % self.p

    def rows(self) -> Int[Tensor, " pair"]:
        """Return the index of every pair (a, b) of the network's own numbers among the relabelled pairs."""
        a, b = torch.cartesian_prod(torch.arange(self.p), torch.arange(self.p)).unbind(1)
        return (self.u * a % self.p) * self.p + self.v * b % self.p


def linear_form(text: str) -> tuple[int, int, int] | None:
    """Return the factors of a and b and the constant of a form such as `2a + 3b - 1`; None for any other text."""
    rest, found, is_first = text.strip(), {"a": 0, "b": 0, "": 0}, True
    while rest:
        match = _TERM.match(rest)
        if match is None or not (match[2] or match[3]) or not (is_first or match[1]):
            return None
        is_first = False
        size = int(match[2] or 1)
        found[match[3]] += -size if match[1] == "-" else size
        rest = rest[match.end() :].strip()
    return (found["a"], found["b"], found[""]) if found["a"] and found["b"] else None


def _term(factor: int, name: str) -> str:
    size = str(abs(factor)) if abs(factor) != 1 or not name else ""
    return f"{'-' if factor < 0 else '+'} {size}{name}"
