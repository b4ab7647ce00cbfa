"""Numbers and their remainders by all primes below p: which have no zero, and the primality test that they make.

Source: Syrkis & Søgaard 2024, introduction and figure 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.tasks import primes_below


def multiples(of: Sequence[int], n: int) -> Int[Tensor, " number"]:
    """Numbers from 0 to n - 1 that at least one of these divides.

    >>> multiples([3, 4], 10).tolist()
    [0, 3, 4, 6, 8, 9]
    """
    numbers = torch.arange(n)
    return numbers[(numbers[:, None] % torch.tensor(list(of)) == 0).any(dim=1)]


def without_zero(p: int) -> Int[Tensor, " number"]:
    """Numbers below p squared of which no remainder by a prime below p is 0.

    Those are 1 and the primes from p on: a number below p squared that no prime below p divides has at most one prime
    factor, p or larger.

    >>> without_zero(5).tolist()
    [1, 5, 7, 11, 13, 17, 19, 23]
    """
    numbers = torch.arange(p * p)
    return numbers[(numbers[:, None] % torch.tensor(primes_below(p)) != 0).all(dim=1)]


def on_spiral(numbers: Int[Tensor, " number"], turn: float = 2 * math.pi) -> Float[Tensor, "number 2"]:
    """Each number n as the point of radius n and angle 2 pi n / turn.

    Args:
        turn: how many numbers make a full turn; 2 pi in the source, where the angle is n itself.
    """
    n = numbers.double()
    angle = 2 * math.pi * torch.remainder(n, turn) / turn
    return torch.stack([n * angle.cos(), n * angle.sin()], dim=1)


def angular_spread(numbers: Int[Tensor, " number"], turn: float) -> float:
    """Largest angle between two of the numbers on the spiral, from the first; 0 if they lie on a ray. [radians]"""
    points = on_spiral(numbers[numbers > 0], turn)
    angles = torch.atan2(points[:, 1], points[:, 0])
    difference = torch.remainder(angles - angles[0] + math.pi, 2 * math.pi) - math.pi
    return float(difference.abs().max())


def commutative(p: int, q: int) -> float:
    """Share of the pairs of digits whose number has the same remainder by q when the digits change places.

    x0 + p x1 and x1 + p x0 differ by (p - 1)(x1 - x0), so that all pairs do where q divides p - 1.

    >>> commutative(113, 7), round(commutative(113, 5), 3)
    (1.0, 0.2)
    """
    x = torch.arange(p)
    labels = (x[:, None] + p * x) % q
    return float((labels == labels.T).double().mean())


@dataclass(frozen=True)
class PrimalityTest:
    """How well predicted remainders tell primes from composites.

    Attributes:
        called: how many numbers are called prime.
        primes: how many are.
        right: how many of those called prime are.

    >>> test = PrimalityTest(called=2, primes=4, right=2)
    >>> test.precision, test.recall
    (1.0, 0.5)
    """

    called: int
    primes: int
    right: int

    @property
    def precision(self) -> float:
        """Share of those called prime that are; NaN where none is called so."""
        return self.right / self.called if self.called else float("nan")

    @property
    def recall(self) -> float:
        """Share of the primes that are called so."""
        return self.right / self.primes if self.primes else float("nan")

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.right / (self.called + self.primes) if self.called + self.primes else float("nan")


def primality_test(predicted: Int[Tensor, "input output"], numbers: Int[Tensor, " input"], p: int) -> PrimalityTest:
    """Call a number from p to p squared - 1 prime if none of its predicted remainders is 0.

    Args:
        predicted: remainder of every number by every prime below p.
        numbers: that each row belongs to; those below p are passed over, since the remainders of a prime below p by
            itself is 0.
    """
    asked = numbers >= p
    called: Bool[Tensor, " input"] = (predicted[asked] != 0).all(dim=1)
    prime = torch.isin(numbers[asked], torch.tensor(primes_below(p * p)))
    return PrimalityTest(int(called.sum()), int(prime.sum()), int((called & prime).sum()))
