"""Analyse numbers by their remainders modulo all primes below p, and test primality with these remainders.

Source: Syrkis & Søgaard 2024, introduction and figure 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.tasks import primes_below


@checked
def multiples(divisors: Sequence[int], n: int) -> Int[Tensor, " input"]:
    """Return the numbers from 0 to n - 1 that are divisible by at least one of the divisors.

    >>> multiples([3, 4], 10).tolist()
    [0, 3, 4, 6, 8, 9]
    """
    numbers = torch.arange(n)
    return numbers[(numbers[:, None] % torch.tensor(list(divisors)) == 0).any(dim=1)]


@checked
def zero_free_numbers(p: int) -> Int[Tensor, " input"]:
    """Return the numbers below p squared that are divisible by no prime below p.

    These numbers are 1 and the primes from p on, because such a number has at most one prime factor, which is p or
    larger.

    >>> zero_free_numbers(5).tolist()
    [1, 5, 7, 11, 13, 17, 19, 23]
    """
    numbers = torch.arange(p * p)
    return numbers[(numbers[:, None] % torch.tensor(primes_below(p)) != 0).all(dim=1)]


@checked
def spiral_points(numbers: Int[Tensor, " input"], turn: float = 2 * math.pi) -> Float[Tensor, "input 2"]:
    """Return the coordinates of each number n on a spiral, at radius n and angle 2 pi n / turn.

    Args:
        turn: numbers per full turn; 2 pi in the source, for which the angle equals n.
    """
    n = numbers.double()
    angle = 2 * math.pi * torch.remainder(n, turn) / turn
    return torch.stack([n * angle.cos(), n * angle.sin()], dim=1)


@checked
def angular_spread(numbers: Int[Tensor, " input"], turn: float) -> float:
    """Return the largest angle on the spiral between the first number and another number; 0 if all lie on a ray. [rad]

    Args:
        turn: numbers per full turn of the spiral.
    """
    points = spiral_points(numbers[numbers > 0], turn)
    angles = torch.atan2(points[:, 1], points[:, 0])
    difference = torch.remainder(angles - angles[0] + math.pi, 2 * math.pi) - math.pi
    return float(difference.abs().max())


@checked
def commutative_share(p: int, q: int) -> float:
    """Return the share of two-digit numbers in base p whose remainder mod q does not change when the digits are
    exchanged.

    The numbers x0 + p x1 and x1 + p x0 differ by (p - 1)(x1 - x0), so the share is 1 if q divides p - 1.

    >>> commutative_share(113, 7), round(commutative_share(113, 5), 3)
    (1.0, 0.2)
    """
    x = torch.arange(p)
    labels = (x[:, None] + p * x) % q
    return float((labels == labels.T).double().mean())


@dataclass(frozen=True)
class PrimalityTest:
    """How well predicted remainders tell primes from composites.

    Attributes:
        positives: number of numbers that the test calls prime.
        primes: number of primes.
        true_positives: number of primes that the test calls prime.

    >>> test = PrimalityTest(positives=2, primes=4, true_positives=2)
    >>> test.precision, test.recall
    (1.0, 0.5)
    """

    positives: int
    primes: int
    true_positives: int

    @property
    def precision(self) -> float:
        """Share of primes among the numbers called prime; NaN if no number is called prime."""
        return self.true_positives / self.positives if self.positives else float("nan")

    @property
    def recall(self) -> float:
        """Share of the primes that are called prime; NaN without primes."""
        return self.true_positives / self.primes if self.primes else float("nan")

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; NaN if no number is prime or called prime."""
        total = self.positives + self.primes
        return 2 * self.true_positives / total if total else float("nan")


@checked
def primality_test(predicted: Int[Tensor, "input output"], numbers: Int[Tensor, " input"], p: int) -> PrimalityTest:
    """Test numbers from p to p squared - 1: a number is called prime if none of its predicted remainders is 0.

    Args:
        predicted: predicted remainder of every number by every prime below p.
        numbers: the number of each row. Numbers below p are left out, since the remainder of a prime below p modulo
            itself is 0.
    """
    testable = numbers >= p
    positive: Bool[Tensor, " input"] = (predicted[testable] != 0).all(dim=1)
    prime = torch.isin(numbers[testable], torch.tensor(primes_below(p * p)))
    return PrimalityTest(int(positive.sum()), int(prime.sum()), int((positive & prime).sum()))
