"""Cross-entropy in float64, everywhere: in float32 the log-softmax rounds small losses to zero.

Source: Nanda et al. 2023, section 3 and appendix D.2.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    """Share of the inputs whose largest logit is the label's; NaN logits are wrong."""
    right = logits.argmax(dim=-1) == labels
    return (right & logits.isfinite().all(dim=-1)).double().mean().item()


def losses(
    logits: Float[Tensor, "input read output"],
    labels: Int[Tensor, "input answer"],
    heads: Sequence[int],
    dtype: torch.dtype = torch.float64,
) -> Float[Tensor, "input answer"]:
    """Cross-entropy of every answer in nats, in float64; 0 where the label is -1, nothing being asked.

    Args:
        logits: of one head at several positions, or of several heads side by side at one.
        heads: number of classes of each head.
        dtype: in which the log-softmax is taken; a lower one than float64 is for experiments on just that.
    """
    known = labels.clamp(min=0)
    if len(heads) == 1:
        right = logits.to(dtype).log_softmax(dim=-1).gather(-1, known.unsqueeze(-1)).squeeze(-1)
        return torch.where(labels >= 0, -right.double(), 0.0)
    sizes = torch.tensor(heads, device=logits.device)
    side_by_side = logits.squeeze(-2).to(dtype)
    right = side_by_side.gather(-1, known + sizes.cumsum(0) - sizes)
    head = torch.arange(len(heads), device=logits.device).repeat_interleave(sizes, output_size=sum(heads))
    members = F.one_hot(head, len(heads)).to(dtype)
    largest = side_by_side.detach().amax(dim=-1, keepdim=True)
    total = ((side_by_side - largest).exp() @ members).log() + largest
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
    logits: Float[Tensor, "input read output"], labels: Int[Tensor, "input answer"], heads: Sequence[int]
) -> Bool[Tensor, "input answer"]:
    """Whether the largest logit is the label's; false for logits that are not finite."""
    if len(heads) == 1:
        best = logits.argmax(dim=-1)
    else:
        best = torch.stack([part.argmax(dim=-1) for part in logits.squeeze(-2).split(list(heads), dim=-1)], dim=-1)
    return (best == labels) & logits.isfinite().all(dim=-1)
