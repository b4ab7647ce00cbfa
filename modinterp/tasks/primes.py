"""Define the task of remainders by every prime below p at once (Syrkis & Søgaard 2024, MIIII)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.arguments import Limits, check_fields
from modinterp.tasks.modular import addition
from modinterp.tasks.task import MOST_RESIDUES, Task


@cache
def primes_below(n: int) -> tuple[int, ...]:
    """Return all primes smaller than n.

    >>> primes_below(12)
    (2, 3, 5, 7, 11)
    """
    return tuple(q for q in range(2, n) if all(q % d for d in range(2, math.isqrt(q) + 1)))


@dataclass(frozen=True)
class PrimeRemainders(Task):
    """The task of finding the remainders of a two-digit number in base p by every prime q < p, read at the token "=".

    The loss is the mean over the primes of the cross-entropy divided by ln q, so that each term begins at about 1.

    Attributes:
        p: the base, a prime from 3 on.
        most_significant_first: the order of the digits. With False, the number is `x0 + p x1`, as in equation 2 of the
            paper; with True, `p x0 + x1`, as in the released code.
        shuffled: True to permute the rows of the labels once (T_basis), so that nothing can be generalised.
        masked: primes whose remainders have weight 0 in the loss (T_masked).

    >>> task = PrimeRemainders(11)
    >>> task.output_sizes, task.inputs()[14], task.labels()[14]  # 1 + 11 * 3 = 34
    ((2, 3, 5, 7), tensor([ 1,  3, 11]), tensor([0, 1, 4, 6]))

    Source: Syrkis & Søgaard 2024, equations 2 and 12.
    """

    p: int
    most_significant_first: bool = False
    shuffled: bool = False
    masked: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self, p=Limits(3, MOST_RESIDUES))
        if primes_below(self.p + 1)[-1] != self.p:
            raise ValueError(f"the base p must be a prime of at least 3, got {self.p!r}")
        if unknown := set(self.masked) - set(primes_below(self.p)):
            raise ValueError(f"masked must hold primes below {self.p}, got {sorted(unknown)}")

    @property
    def name(self) -> str:
        kind = "shuffled remainders" if self.shuffled else "remainders"
        without = f" but {', '.join(map(str, self.masked))}" if self.masked else ""
        return f"{kind} by the primes below {self.p}{without}"

    @property
    def d_vocab(self) -> int:
        return self.p + 1

    @property
    def d_vocab_out(self) -> tuple[int, ...]:
        return primes_below(self.p)

    @property
    def n_ctx(self) -> int:
        return 3

    @property
    def grid(self) -> tuple[int, int]:
        return (self.p, self.p)

    @property
    def loss_weights(self) -> tuple[float, ...]:
        return tuple(0.0 if q in self.masked else 1 / math.log(q) / len(self.output_sizes) for q in self.output_sizes)

    @property
    def output_names(self) -> tuple[str, ...]:
        return tuple(f"mod_{q}" for q in self.output_sizes)

    def numbers(self) -> Int[Tensor, " input"]:
        """Return the number that each row of `inputs()` represents.

        >>> PrimeRemainders(3).numbers().tolist()
        [0, 3, 6, 1, 4, 7, 2, 5, 8]
        """
        first, second = self.inputs()[:, :2].unbind(dim=1)
        return first * self.p + second if self.most_significant_first else first + self.p * second

    def inputs(self) -> Int[Tensor, "input pos"]:
        return addition(self.p).inputs()

    def labels(self) -> Int[Tensor, "input output"]:
        remainders = self.numbers().unsqueeze(1) % torch.tensor(self.output_sizes)
        if not self.shuffled:
            return remainders
        return remainders[torch.randperm(len(remainders), generator=torch.Generator().manual_seed(0))]
