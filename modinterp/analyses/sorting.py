"""Which of the sorted numbers each output position attends to, and whether it goes by its place or by its token.

Source: "Circuit engineering", the sort transformer.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.shown import shown


@shown
@dataclass(frozen=True, eq=False)
class RankAttention:
    """Attention of the output positions to the inputs by rank, means over inputs.

    Attributes:
        mass: on the number of each rank, the smallest first.
        first: share of inputs in which the most attended position among the numbers holds one equal to that rank's.
        to_outputs: on the positions after CLS, the own one included.
        to_cls: on CLS.
    """

    mass: Float[Tensor, "output head rank"]
    first: Float[Tensor, "output head rank"]
    to_outputs: Float[Tensor, "output head"]
    to_cls: Float[Tensor, "output head"]

    def table(self) -> pd.DataFrame:
        """One row an output and head, with the rank it attends to most often."""
        outputs, heads, _ = self.first.shape
        rows = [
            {"output": o, "head": h, "rank": int(self.first[o, h].argmax()), "share": float(self.first[o, h].max()),
             "of its own rank": float(self.first[o, h, o]), "to outputs": float(self.to_outputs[o, h])}
            for o in range(outputs) for h in range(heads)
        ]  # fmt: skip
        return pd.DataFrame(rows)


def rank_attention(pattern: Float[Tensor, "input head query key"], numbers: Int[Tensor, "input n"]) -> RankAttention:
    """Fold attention from CLS and the outputs after it onto the ranks of the numbers.

    Args:
        pattern: over all positions; the numbers come first, then CLS, then the outputs but the last.
    """
    n = numbers.shape[1]
    order = numbers.argsort(dim=1, stable=True)
    own = pattern[:, :, n:]
    by_rank = own[..., :n].gather(3, order[:, None, None].expand(*own.shape[:3], n))
    attended = numbers[:, None, None].expand_as(own[..., :n]).gather(3, own[..., :n].argmax(dim=3, keepdim=True))
    ordered = numbers.gather(1, order)[:, None, None]
    return RankAttention(
        by_rank.mean(dim=0).transpose(0, 1), (attended == ordered).double().mean(dim=0).transpose(0, 1),
        own[..., n + 1 :].sum(dim=3).mean(dim=0).T, own[..., n].mean(dim=0).T,
    )  # fmt: skip


@dataclass(frozen=True)
class TokenSwap:
    """What another token at an output position does to the answer there.

    Attributes:
        unchanged: share of answers that stay those of the position's rank.
        next_larger: share that become the smallest input above the new token.
        neither: all others.
    """

    unchanged: float
    next_larger: float
    neither: float


def token_swap(
    answers: Int[Tensor, " input"], numbers: Int[Tensor, "input n"], token: Int[Tensor, " input"], rank: int
) -> TokenSwap:
    """Compare the answers at one output position with what its place and what its new token call for.

    Inputs on which the two agree say nothing and are left out, as are tokens with no larger number among the inputs.

    Args:
        answers: at the position that should say the number of `rank`, counted from 0.
        token: what stands there in place of the number of the rank before.
    """
    ordered = numbers.sort(dim=1).values
    larger = ordered.masked_fill(ordered <= token[:, None], torch.iinfo(ordered.dtype).max).amin(dim=1)
    telling = (larger != ordered[:, rank]) & (token < ordered[:, -1])
    if not telling.any():
        return TokenSwap(*[float("nan")] * 3)
    by_place = (answers == ordered[:, rank])[telling].double().mean().item()
    by_token = (answers == larger)[telling].double().mean().item()
    return TokenSwap(by_place, by_token, 1 - by_place - by_token)
