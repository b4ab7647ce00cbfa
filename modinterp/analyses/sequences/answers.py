"""Measure accuracy at each answer position, and the probability of the right answer."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.printing import printable


@printable
@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of a network at each answer position.

    Attributes:
        log_probs: log-probability of every output, `[input, answer, output]`. [nats]
        right: the right answers, `[input, answer]`.
        positions: positions at which the answers are read.
    """

    log_probs: Float[Tensor, "input answer output"]
    right: Int[Tensor, "input answer"]
    positions: tuple[int, ...]

    @property
    def given(self) -> Int[Tensor, "input answer"]:
        """The most probable answers."""
        return self.log_probs.argmax(dim=-1)

    @property
    def correct(self) -> Bool[Tensor, "input answer"]:
        """True for each answer that is right."""
        return self.given == self.right

    @property
    def losses(self) -> Float[Tensor, "input answer"]:
        """Cross-entropy of each answer. [nats]"""
        return -self.log_probs.gather(-1, self.right.unsqueeze(-1)).squeeze(-1)

    @property
    def loss(self) -> float:
        """Mean cross-entropy of all answers. [nats]"""
        return float(self.losses.mean())

    @property
    def accuracy(self) -> float:
        """Share of the answers that are right."""
        return float(self.correct.double().mean())

    @property
    def whole_accuracy(self) -> float:
        """Share of the inputs for which all answers are right."""
        return float(self.correct.all(dim=1).double().mean())

    @property
    def sureness(self) -> Float[Tensor, "input answer"]:
        """Probability of each right answer."""
        return (-self.losses).exp()

    def table(self) -> pd.DataFrame:
        """Return a table with one row per position: accuracy, mean and smallest probability of the right answer, loss
        [nats].
        """
        columns = {
            "position": self.positions,
            "accuracy": self.correct.double().mean(dim=0).tolist(),
            "mean probability of the right answer": self.sureness.mean(dim=0).tolist(),
            "smallest": self.sureness.amin(dim=0).tolist(),
            "loss": self.losses.mean(dim=0).tolist(),
        }
        return pd.DataFrame(columns)


@checked
def answers(
    logits: Float[Tensor, "input pos output"], right: Int[Tensor, "input answer"], positions: tuple[int, ...]
) -> Answers:
    """Return the answers of a network at its answer positions, given its logits at all positions.

    Args:
        right: the right answers at the answer positions.
        positions: the answer positions, counted from 0, such as `task.read_positions`.
    Raises:
        ValueError: a position does not exist, or the numbers of positions and right answers differ.

    >>> import torch
    >>> logits = torch.tensor([[[2.0, 0.0], [0.0, 5.0], [0.0, 5.0]]])
    >>> answers(logits, torch.tensor([[0, 0]]), (0, 1)).accuracy
    0.5
    """
    n = logits.shape[1]
    if len(positions) != right.shape[1] or not all(0 <= position < n for position in positions):
        raise ValueError(f"right must have a column for each of the positions {positions}, which must be below {n}")
    return Answers(logits[:, list(positions)].double().log_softmax(dim=-1), right, positions)
