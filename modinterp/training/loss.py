"""Cross-entropy in float64, everywhere: in float32 the log-softmax rounds small losses to zero.

Source: Nanda et al. 2023, section 3 and appendix D.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor


def cross_entropy(logits: Float[Tensor, "*input output"], labels: Int[Tensor, "*input"]) -> Float[Tensor, ""]:
    """Mean cross-entropy in nats over all inputs, in float64.

    Args:
        logits: in any floating dtype.
        labels: the right class of each input.
    """
    return F.cross_entropy(logits.double().flatten(0, -2), labels.flatten())


def accuracy(logits: Float[Tensor, "*input output"], labels: Int[Tensor, "*input"]) -> float:
    """Share of the inputs whose largest logit is the label's; NaN logits are wrong.

    >>> accuracy(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([0, 0]))
    0.5
    """
    right = logits.argmax(dim=-1) == labels
    return (right & logits.isfinite().all(dim=-1)).double().mean().item()


@dataclass(frozen=True)
class Heads:
    """Where the classes of every head stand among the logits; made once, since a captured step cannot make it.

    Attributes:
        sizes: number of classes of each head.
        starts: its first column.
        members: 1 where a column belongs to a head.
    """

    sizes: tuple[int, ...]
    starts: Int[Tensor, " head"]
    members: Float[Tensor, "output head"]

    @classmethod
    def of(cls, sizes: Sequence[int], device: torch.device | str = "cpu") -> Heads:
        """The layout of heads side by side.

        >>> Heads.of([2, 3]).starts.tolist()
        [0, 2]
        """
        counts = torch.tensor(list(sizes))
        members = F.one_hot(torch.arange(len(counts)).repeat_interleave(counts), len(counts)).double()
        return cls(tuple(sizes), (counts.cumsum(0) - counts).to(device), members.to(device))


def losses(
    logits: Float[Tensor, "input read output"],
    labels: Int[Tensor, "input answer"],
    heads: Heads,
    dtype: torch.dtype = torch.float64,
) -> Float[Tensor, "input answer"]:
    """Cross-entropy of every answer in nats, in float64; 0 where the label is -1, nothing being asked.

    Args:
        logits: of one head at several positions, or of several heads side by side at one.
        dtype: in which the log-softmax is taken; a lower one than float64 is for experiments on just that.
    """
    known = labels.clamp(min=0)
    if len(heads.sizes) == 1:
        right = logits.to(dtype).log_softmax(dim=-1).gather(-1, known.unsqueeze(-1)).squeeze(-1)
        return torch.where(labels >= 0, -right.double(), 0.0)
    side_by_side = logits.squeeze(-2).to(dtype)
    right = side_by_side.gather(-1, known + heads.starts)
    largest = side_by_side.detach().amax(dim=-1, keepdim=True)
    total = ((side_by_side - largest).exp() @ heads.members.to(dtype)).log() + largest
    return torch.where(labels >= 0, (total - right).double(), 0.0)


def mean_loss(
    sums: Float[Tensor, " answer"], asked: Int[Tensor, " answer"], weights: Float[Tensor, " head"]
) -> Float[Tensor, ""]:
    """The loss of a batch: the mean over all answers that were asked for, or the weighted sum of each head's mean.

    Args:
        sums: of the losses of each answer.
        asked: how often each was asked for.
        weights: of the heads.
    """
    if len(weights) == 1:
        return sums.sum() / asked.sum() * weights[0]
    return (sums / asked * weights).sum()


def right(
    logits: Float[Tensor, "input read output"], labels: Int[Tensor, "input answer"], heads: Heads
) -> Bool[Tensor, "input answer"]:
    """Whether the largest logit is the label's; false for logits that are not finite."""
    if len(heads.sizes) == 1:
        best = logits.argmax(dim=-1)
    else:
        best = torch.stack([part.argmax(dim=-1) for part in logits.squeeze(-2).split(heads.sizes, dim=-1)], dim=-1)
    return (best == labels) & logits.isfinite().all(dim=-1)
