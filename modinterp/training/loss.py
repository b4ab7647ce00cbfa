"""Compute cross-entropy in float64, since in float32 the log-softmax rounds small losses to zero.

Source: Nanda et al. 2023, section 3 and appendix D.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor


def cross_entropy(
    logits: Float[Tensor, "*input output"], labels: Int[Tensor, "*input"], mean: bool = True
) -> Float[Tensor, "..."]:
    """Return the cross-entropy of logits in nats, in float64.

    Args:
        logits: logits `[..., class]` in any floating dtype.
        labels: the correct class of each input.
        mean: True for the mean over all inputs; False for a flat tensor with one loss per input.
    """
    return F.cross_entropy(logits.double().flatten(0, -2), labels.flatten(), reduction="mean" if mean else "none")


def accuracy(logits: Float[Tensor, "*input output"], labels: Int[Tensor, "*input"]) -> float:
    """Return the share of inputs whose largest logit is at the label; inputs with NaN logits count as wrong.

    >>> accuracy(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([0, 0]))
    0.5
    """
    lowest, highest = logits.aminmax(dim=-1)
    finite = lowest.isfinite() & highest.isfinite()
    return ((logits.argmax(dim=-1) == labels) & finite).double().mean().item()


@dataclass(frozen=True)
class OutputLayout:
    """Assigns columns of the logits to answers. Columns are assigned once, since a captured CUDA graph cannot assign
    them.

    Attributes:
        sizes: number of classes of each answer, as `Task.output_sizes`.
        starts: first column of each answer.
        members: 1 where a column is a class of an answer, else 0.
    """

    sizes: tuple[int, ...]
    starts: Int[Tensor, " answer"]
    members: Float[Tensor, "output answer"]

    @classmethod
    def of(cls, sizes: Sequence[int], device: torch.device | str = "cpu") -> OutputLayout:
        """Return the layout of several answers whose classes are in adjacent columns.

        >>> OutputLayout.of([2, 3]).starts.tolist()
        [0, 2]
        """
        counts = torch.tensor(list(sizes))
        members = F.one_hot(torch.arange(len(counts)).repeat_interleave(counts), len(counts)).double()
        return cls(tuple(sizes), (counts.cumsum(0) - counts).to(device), members.to(device))


def losses(
    logits: Float[Tensor, "input query output"],
    labels: Int[Tensor, "input answer"],
    layout: OutputLayout,
    dtype: torch.dtype = torch.float64,
) -> Float[Tensor, "input answer"]:
    """Return the cross-entropy of every answer in nats, in float64; 0 if the label is -1, which means no answer.

    Args:
        logits: logits of one answer at each of several positions, or of several answers at one position, in adjacent
            columns. With one answer per position, columns beyond its classes count only in the softmax.
        labels: the correct class of each answer.
        dtype: floating dtype of the log-softmax; lower precision than float64 is only for experiments.
    """
    known = labels.clamp(min=0)
    if len(layout.sizes) == 1:
        of_label = logits.to(dtype).log_softmax(dim=-1).gather(-1, known.unsqueeze(-1)).squeeze(-1)
        return torch.where(labels >= 0, -of_label.double(), 0.0)
    side_by_side = logits.squeeze(-2).to(dtype)
    of_label = side_by_side.gather(-1, known + layout.starts)
    largest = side_by_side.detach().amax(dim=-1, keepdim=True)
    total = ((side_by_side - largest).exp() @ layout.members.to(dtype)).log() + largest
    return torch.where(labels >= 0, (total - of_label).double(), 0.0)


class _OneAnswerLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, labels: Tensor) -> Tensor:
        known, columns = (labels >= 0).unsqueeze(-1), labels.clamp(min=0).unsqueeze(-1)
        x = logits.double()
        x -= x.amax(dim=-1, keepdim=True)
        of_label = x.gather(-1, columns)
        total = x.exp_().sum(dim=-1, keepdim=True)
        each = torch.where(known, total.log() - of_label, 0.0).squeeze(-1)
        if ctx.needs_input_grad[0]:
            x /= total
            x.scatter_add_(-1, columns, torch.full_like(of_label, -1))
            ctx.save_for_backward(x.to(logits.dtype), known)
        return each

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (grad,), (of_logits, known) = grads, ctx.saved_tensors
        return of_logits * torch.where(known, grad.unsqueeze(-1), 0.0).to(of_logits.dtype), None


def fast_losses(
    logits: Float[Tensor, "input query output"],
    labels: Int[Tensor, "input answer"],
    layout: OutputLayout,
    dtype: torch.dtype = torch.float64,
) -> Float[Tensor, "input answer"]:
    """Return the losses that `losses` returns, in fewer passes over the logits; the function does not support `vmap`.

    Args:
        logits, labels, layout, dtype: the arguments of `losses`.
    """
    if len(layout.sizes) > 1 or dtype != torch.float64:
        return losses(logits, labels, layout, dtype)
    if logits.device.type == "cuda":
        each = F.cross_entropy(logits.double().flatten(0, -2), labels.flatten(), ignore_index=-1, reduction="none")
        return each.view_as(labels)
    return _OneAnswerLoss.apply(logits, labels)  # type: ignore[return-value]


def mean_loss(
    sums: Float[Tensor, "*run answer"], counts: Int[Tensor, "*run answer"], weights: Float[Tensor, "*run task"]
) -> Float[Tensor, "*run"]:
    """Return the loss of a batch [nats]: the mean over all answers, or the weighted sum of the mean of each answer.

    Args:
        sums: sum of the losses of each answer over the batch.
        counts: number of inputs that have each answer.
        weights: `Task.loss_weights`; with a single weight, the answers belong to one question at several positions.
    """
    if weights.shape[-1] == 1:
        return sums.sum(dim=-1) / counts.sum(dim=-1) * weights[..., 0]
    return (sums / counts * weights).sum(dim=-1)


def correct(
    logits: Float[Tensor, "input query output"], labels: Int[Tensor, "input answer"], layout: OutputLayout
) -> Bool[Tensor, "input answer"]:
    """Return True for each answer whose largest logit is at its label; False if logits are not finite.

    Args:
        logits, labels, layout: the arguments of `losses`.
    """
    if len(layout.sizes) == 1:
        best = logits.argmax(dim=-1)
    else:
        best = torch.stack([part.argmax(dim=-1) for part in logits.squeeze(-2).split(layout.sizes, dim=-1)], dim=-1)
    return (best == labels) & logits.isfinite().all(dim=-1)
