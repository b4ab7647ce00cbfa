"""How well logits answer: accuracy, loss, and how even the margins are."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Score:
    """How well some logits answer.

    Attributes:
        accuracy: share of the inputs that are answered correctly.
        loss: mean cross-entropy. [nats]
    """

    accuracy: float
    loss: float


def score(logits: Float[Tensor, "input output"], answers: Int[Tensor, " input"]) -> Score:
    """Accuracy and loss of logits on the inputs that have an answer; -1 stands for none."""
    rows = answers >= 0
    logits, answers = logits[rows].double(), answers[rows].to(logits.device)
    right = (logits.argmax(dim=-1) == answers).double().mean()
    return Score(float(right), float(torch.nn.functional.cross_entropy(logits, answers)))


def margin_variation(logits: Float[Tensor, "input output"], answers: Int[Tensor, " input"]) -> float:
    """Coefficient of variation of the margin: the right answer's logit less the largest other.

    Infinite where the mean margin is not positive. A network that was trained to the end has learned all inputs about
    equally well, however large its logits are, as long as it is run as it was trained.
    """
    rows = answers >= 0
    logits, right = logits[rows].double(), answers[rows, None].to(logits.device)
    margin = logits.gather(1, right) - logits.scatter(1, right, -torch.inf).amax(dim=1, keepdim=True)
    return float(margin.std(correction=0) / margin.mean()) if margin.mean() > 0 else float("inf")
