"""Compute accuracy and loss of logits, and the coefficient of variation of their margins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.activations.blocks import row_blocks


@dataclass(frozen=True)
class Score:
    """Accuracy and loss of logits on some inputs.

    Attributes:
        accuracy: share of the inputs that are answered correctly.
        loss: mean cross-entropy over the inputs. [nats]
    """

    accuracy: float
    loss: float


@dataclass(frozen=True)
class Each:
    """For every input, the network's answer, whether the answer is right, and the loss.

    Attributes:
        given: the network's answer, which is the class of the largest logit.
        right: True if `given` is the right answer.
        loss: cross-entropy of the input; meaningless for inputs without an answer, whose label is -1. [nats]
    """

    given: Int[Tensor, " input"]
    right: Bool[Tensor, " input"]
    loss: Float[Tensor, " input"]

    @classmethod
    def of(cls, blocks: Iterable[Float[Tensor, "some output"]], answers: Int[Tensor, " input"]) -> Each:
        """Compute answer and loss of every input from blocks of logits, each of which is read once."""
        given, losses, began = torch.empty(0), torch.empty(0), 0
        for block in blocks:
            if not began:  # one tensor of each: many small ones scatter over the memory, and keep it from being freed
                given = answers.new_empty(len(answers), device=block.device)
                losses = block.new_empty(len(answers), dtype=torch.float64)
            some = slice(began, began + len(block))
            given[some], losses[some] = _answered(block, answers[some].clamp(min=0).to(block.device))
            began += len(block)
        return cls(given, given == answers.to(given.device), losses)

    def score(self, rows: Tensor | slice) -> Score:
        """Return the accuracy and loss over the given rows, all of which must have an answer."""
        return Score(float(self.right[rows].double().mean()), float(self.loss[rows].mean()))


def check_finite(losses: Float[Tensor, " input"]) -> None:
    """Raise ValueError if a loss is not finite, for example because logits are NaN or infinite."""
    if not losses.isfinite().all():
        raise ValueError("logits must be finite, but contain NaN or infinity")


def _answered(logits: Float[Tensor, "some output"], answers: Int[Tensor, " some"]) -> tuple[Tensor, Tensor]:
    """Return the class of the largest logit, and the cross-entropy; exponentials of float32 logits stay in float32.

    The right class is left out of the sum over classes, so that small losses keep their precision.
    """
    if logits.dtype != torch.float32:
        loss = torch.nn.functional.cross_entropy(logits.double(), answers, reduction="none")
        return logits.argmax(dim=-1), loss
    right, (top, given) = answers[:, None], logits.max(dim=-1, keepdim=True)
    others = (logits - top).exp_().scatter_(1, right, 0).sum(dim=-1).double()
    below = (logits.gather(1, right) - top)[:, 0].double()  # 0 where the answer is right
    return given[:, 0], torch.where(below == 0, others.log1p(), (others + below.exp()).log() - below)


def score(logits: Float[Tensor, "input output"], answers: Int[Tensor, " input"]) -> Score:
    """Return the accuracy and loss of logits, over the inputs with an answer; the label -1 means no answer."""
    blocks = (logits[some] for some in row_blocks(logits.shape))
    return Each.of(blocks, answers).score((answers >= 0).to(logits.device))


def margin_variation(logits: Float[Tensor, "input output"], answers: Int[Tensor, " input"]) -> float:
    """Return the coefficient of variation of the margin, the right answer's logit minus the largest other logit.

    The coefficient of variation of the margin is infinite if the mean margin is not positive. A fully trained network
    has learned all inputs about equally well, for any size of its logits. Margins are even only under the forward pass
    with which the network was trained.
    """
    rows = answers >= 0
    logits, right = logits[rows].double(), answers[rows, None].to(logits.device)
    margin = logits.gather(1, right) - logits.scatter(1, right, -torch.inf).amax(dim=1, keepdim=True)
    return float(margin.std(correction=0) / margin.mean()) if margin.mean() > 0 else float("inf")
