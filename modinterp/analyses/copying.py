"""Whether what a head hands on, all heads at one number, comes out as that number; and how much else it stands.

Source: "Circuit engineering", the o-v circuit and the robustness of copying.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.lookups import Reading
from modinterp.analyses.shown import shown

FAITHFUL = 0.99


@shown
@dataclass(frozen=True, eq=False)
class Copying:
    """The answer when all heads attend to one number alone.

    Attributes:
        right: whether the answer is that number, by number.
        right_alone: the same without the MLP, whose skip is left.
        margin: logit of the number less the largest other one. [nats]
    """

    right: Bool[Tensor, " number"]
    right_alone: Bool[Tensor, " number"]
    margin: Float[Tensor, " number"]

    def table(self) -> pd.DataFrame:
        """One row a number."""
        return pd.DataFrame({name: x.tolist() for name, x in vars(self).items()}).rename_axis("number").reset_index()


def copying(reading: Reading, n: int) -> Copying:
    """Feed what the heads hand on of each number, its position averaged over the first `n`, to MLP and unembedding."""
    answers = reading.head.W_U.shape[1]
    resid, numbers = reading.start + reading.copies(n)[:answers], torch.arange(answers)
    logits, alone = reading.head.logits(resid), reading.head.logits(resid, mlp=False)
    own = logits.diagonal()
    others = logits.masked_fill(torch.eye(answers, dtype=torch.bool), -torch.inf).amax(dim=1)
    return Copying(logits.argmax(dim=1) == numbers, alone.argmax(dim=1) == numbers, own - others)


@shown
@dataclass(frozen=True, eq=False)
class Tolerance:
    """Accuracy of copying a number when part of another is mixed in.

    Attributes:
        share: of the other number, ascending from 0 to 1.
        accuracy: over pairs of numbers.
    """

    share: Float[Tensor, " step"]
    accuracy: Float[Tensor, " step"]

    def tolerated(self, faithful: float = FAITHFUL) -> float:
        """The largest share up to which accuracy stays at `faithful` or above; NaN if it is below from the start.

        >>> Tolerance(torch.tensor([0.0, 0.25, 0.5]), torch.tensor([1.0, 1.0, 0.5])).tolerated()
        0.25
        """
        enough = (self.accuracy >= faithful).long().cumprod(dim=0)
        return float(self.share[int(enough.sum()) - 1]) if enough[0] else float("nan")

    def table(self) -> pd.DataFrame:
        """One row a share."""
        return pd.DataFrame({"share of the other": self.share.tolist(), "accuracy": self.accuracy.tolist()})


def pairs(limit: int, first: int, most: int = 2000, seed: int = 0) -> Int[Tensor, "pair 2"]:
    """All pairs of different numbers from `first` to `limit` - 1, or a seeded choice of `most` of them.

    >>> sorted(pairs(4, 2).tolist())
    [[2, 3], [3, 2]]
    """
    numbers = torch.arange(first, limit)
    found = torch.cartesian_prod(numbers, numbers)
    found = found[found[:, 0] != found[:, 1]]
    return found[torch.randperm(len(found), generator=torch.Generator().manual_seed(seed))[:most]]


def tolerance(
    handed: Float[Tensor, "token d_model"],
    start: Float[Tensor, "#pair d_model"],
    both: Int[Tensor, "pair 2"],
    reading: Reading,
    steps: int = 40,
) -> Tolerance:
    """Accuracy of answering the first of each pair while a growing share of the second is handed on in its place.

    Args:
        handed: what all heads together hand on of a token; `Reading.copies`.
        start: residual stream without attention, one for all pairs or one each.
        reading: where it is read.
        steps: the share grows by 1 / steps.
    """
    own, other = handed[both[:, 0]], handed[both[:, 1]]
    shares = torch.linspace(0, 1, steps + 1, dtype=torch.float64)
    found = [
        (reading.head.logits(start + (1 - e) * own + e * other).argmax(dim=1) == both[:, 0]).double().mean()
        for e in shares
    ]
    return Tolerance(shares, torch.stack(found))
