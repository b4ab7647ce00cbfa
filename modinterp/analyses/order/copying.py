"""Test copying: whether a number that all heads attend to becomes the answer, also with another number mixed in.

Source: "Circuit engineering", the o-v circuit and the robustness of copying.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.order.lookups import QueryPosition
from modinterp.analyses.printing import printable

FAITHFUL = 0.99  # accuracy that counts as copying


@printable
@dataclass(frozen=True, eq=False)
class Copying:
    """The answer of a network when all heads attend to a single number, for every number.

    Attributes:
        right: True for each number that is the answer when all heads attend to it.
        right_alone: True for each number that is also the answer without the MLP, with only its skip connection.
        margin: logit of the number minus the largest other logit. [nats]
    """

    right: Bool[Tensor, " token"]
    right_alone: Bool[Tensor, " token"]
    margin: Float[Tensor, " token"]

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each number."""
        return pd.DataFrame({name: x.tolist() for name, x in vars(self).items()}).rename_axis("number").reset_index()


@checked
def copying(query: QueryPosition, n: int) -> Copying:
    """Compute the answer at a query position when all heads attend to a single number, for every number.

    Args:
        n: the OV output of a number is its mean over the first `n` positions.
    Source: "Circuit engineering", the o-v circuit.
    """
    answers = query.logit_map.W_U.shape[1]
    resid, numbers = query.start + query.copies(n)[:answers], torch.arange(answers)
    logits, alone = query.logit_map.logits(resid), query.logit_map.logits(resid, mlp=False)
    own = logits.diagonal()
    others = logits.masked_fill(torch.eye(answers, dtype=torch.bool), -torch.inf).amax(dim=1)
    return Copying(logits.argmax(dim=1) == numbers, alone.argmax(dim=1) == numbers, own - others)


@printable
@dataclass(frozen=True, eq=False)
class Tolerance:
    """Accuracy of copying a number when part of another number is mixed in.

    Attributes:
        share: shares of the other number, ascending from 0 to 1.
        accuracy: for each share, the share of pairs of numbers whose first number is the answer, in [0, 1].
    """

    share: Float[Tensor, " step"]
    accuracy: Float[Tensor, " step"]

    def largest_share(self, faithful: float = FAITHFUL) -> float:
        """Return the largest share of another number up to which accuracy is at least `faithful`; NaN if there is none.

        >>> Tolerance(torch.tensor([0.0, 0.25, 0.5]), torch.tensor([1.0, 1.0, 0.5])).largest_share()
        0.25
        """
        enough = (self.accuracy >= faithful).long().cumprod(dim=0)
        return float(self.share[int(enough.sum()) - 1]) if enough[0] else float("nan")

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each share, with its accuracy."""
        return pd.DataFrame({"share of the other": self.share.tolist(), "accuracy": self.accuracy.tolist()})


@checked
def pairs(limit: int, first: int, most: int = 2000, seed: int = 0) -> Int[Tensor, "pair 2"]:
    """Return all ordered pairs of different numbers from `first` to `limit` - 1, or `most` random pairs.

    >>> sorted(pairs(4, 2).tolist())
    [[2, 3], [3, 2]]
    """
    numbers = torch.arange(first, limit)
    both = torch.cartesian_prod(numbers, numbers)
    both = both[both[:, 0] != both[:, 1]]
    return both[torch.randperm(len(both), generator=torch.Generator().manual_seed(seed))[:most]]


@checked
def tolerance(
    copies: Float[Tensor, "token d_model"],
    start: Float[Tensor, "#pair d_model"],
    both: Int[Tensor, "pair 2"],
    query: QueryPosition,
    steps: int = 40,
) -> Tolerance:
    """Measure how often the first number of each pair is the answer while a growing share of the second replaces it.

    Args:
        copies: sum of all heads' outputs when they attend to only one token, from `QueryPosition.copies`.
        start: residual stream of the query position without attention, one for all pairs or one for each pair.
        both: pairs of numbers, from `pairs`.
        query: query position, whose MLP and unembedding give the answer.
        steps: number of steps from share 0 to share 1.
    Source: "Circuit engineering", the robustness of copying.
    """
    own, other = start + copies[both[:, 0]], start + copies[both[:, 1]]
    shares = torch.linspace(0, 1, steps + 1, dtype=torch.float64)
    logits = query.logit_map.logits_between(own, other, shares.tolist())
    accuracies = [(each.argmax(dim=1) == both[:, 0]).double().mean() for each in logits]
    return Tolerance(shares, torch.stack(accuracies))
