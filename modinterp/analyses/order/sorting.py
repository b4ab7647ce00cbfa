"""Analyse sorting networks: which rank each output position attends to, and whether answers follow position or token.

Source: "Circuit engineering", the sort transformer.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.printing import printable


@printable
@dataclass(frozen=True, eq=False)
class RankAttention:
    """Attention of each output position to the numbers by rank, as means over inputs.

    Attributes:
        mass: attention to the number of each rank, smallest rank first, in [0, 1].
        first: share of inputs in which the most attended number equals the number of each rank.
        to_outputs: attention to the positions after CLS, including the output position itself, in [0, 1].
        to_cls: attention to CLS, in [0, 1].
    """

    mass: Float[Tensor, "output head rank"]
    first: Float[Tensor, "output head rank"]
    to_outputs: Float[Tensor, "output head"]
    to_cls: Float[Tensor, "output head"]

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each output position and head, with the most attended rank."""
        outputs, heads, _ = self.first.shape
        rows = [
            {
                "output": o,
                "head": h,
                "rank": int(self.first[o, h].argmax()),
                "share": float(self.first[o, h].max()),
                "of its own rank": float(self.first[o, h, o]),
                "to outputs": float(self.to_outputs[o, h]),
            }
            for o in range(outputs)
            for h in range(heads)
        ]
        return pd.DataFrame(rows)


@checked
def rank_attention(pattern: Float[Tensor, "input head query key"], numbers: Int[Tensor, "input n"]) -> RankAttention:
    """Attention from CLS and the output positions after it, by the ranks of the numbers that they attend to.

    Args:
        pattern: attention between all positions: first the numbers, then CLS, then all outputs except the last.
        numbers: the tokens at the first n positions.
    Raises:
        ValueError: the pattern has no positions after the numbers.
    Source: "Circuit engineering", the sort transformer.
    """
    n = numbers.shape[1]
    if pattern.shape[2] <= n:
        raise ValueError(f"pattern must reach beyond the {n} numbers to CLS, got {pattern.shape[2]} positions")
    order = numbers.argsort(dim=1, stable=True)
    own = pattern[:, :, n:]
    by_rank = own[..., :n].gather(3, order[:, None, None].expand(*own.shape[:3], n))
    most_attended = numbers[:, None, None].expand_as(own[..., :n]).gather(3, own[..., :n].argmax(dim=3, keepdim=True))
    ordered = numbers.gather(1, order)[:, None, None]
    return RankAttention(
        mass=by_rank.mean(dim=0).transpose(0, 1),
        first=(most_attended == ordered).double().mean(dim=0).transpose(0, 1),
        to_outputs=own[..., n + 1 :].sum(dim=3).mean(dim=0).T,
        to_cls=own[..., n].mean(dim=0).T,
    )


@dataclass(frozen=True)
class TokenSwap:
    """Shares of the answers at an output position after replacing its token; the shares add to 1.

    Attributes:
        unchanged: share of answers that are still the number of the position's rank.
        next_larger: share of answers that become the smallest input number above the new token.
        neither: share of all other answers.
    """

    unchanged: float
    next_larger: float
    neither: float


@checked
def token_swap(
    answers: Int[Tensor, " input"], numbers: Int[Tensor, "input n"], token: Int[Tensor, " input"], rank: int
) -> TokenSwap:
    """Measure whether the answer at an output position follows the position, or the new token at this position.

    Inputs for which both give the same answer are left out, and so are tokens without a larger input number.

    Args:
        answers: answer to each input at the output position of `rank`; ranks are counted from 0.
        numbers: the numbers of each input.
        token: the new token at the output position of each input; it replaces the number of rank `rank` - 1.
    Returns:
        the shares; NaN if no inputs are left.
    """
    ordered = numbers.sort(dim=1).values
    larger = ordered.masked_fill(ordered <= token[:, None], torch.iinfo(ordered.dtype).max).amin(dim=1)
    differ = (larger != ordered[:, rank]) & (token < ordered[:, -1])
    if not differ.any():
        return TokenSwap(*[float("nan")] * 3)
    by_place = (answers == ordered[:, rank])[differ].double().mean().item()
    by_token = (answers == larger)[differ].double().mean().item()
    return TokenSwap(by_place, by_token, 1 - by_place - by_token)
