"""What the answers of a network alone say, whatever it was trained on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.measurements import NetworkMeasurements
from modinterp.tasks import ModularArithmetic
from modinterp.tasks.modular import OPERATIONS


@dataclass(frozen=True)
class Score:
    """How well some logits answer.

    Attributes:
        accuracy: share of the inputs that are answered rightly.
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


def unevenness(logits: Float[Tensor, "input output"], answers: Int[Tensor, " input"]) -> float:
    """Standard deviation over mean of the margin: the right answer's logit less the largest other.

    Infinite where the mean is not positive. However large its logits are, a network that was trained to the end has
    learned all inputs about equally well, as long as it is run as it was trained.
    """
    rows = answers >= 0
    logits, right = logits[rows].double(), answers[rows, None].to(logits.device)
    margin = logits.gather(1, right) - logits.scatter(1, right, -torch.inf).amax(dim=1, keepdim=True)
    return float(margin.std(correction=0) / margin.mean()) if margin.mean() > 0 else float("inf")


class Behaviour(NetworkMeasurements):
    """What a network answers to all inputs of a task with one answer."""

    @property
    def classes(self) -> int:
        """Number of classes of the answer."""
        return sum(self.task.output_sizes)

    @cached_property
    def all_logits(self) -> Float[Tensor, "input output"]:
        """Logits of all inputs, in the task's order, in float64."""
        return self.grid["logits"].flatten(0, -2)

    @cached_property
    def all_answers(self) -> Int[Tensor, " input"]:
        """The right answer to every input, in the task's order; -1 where there is none."""
        return self.task.labels()[:, 0]

    @cached_property
    def own_score(self) -> Score:
        """Accuracy and loss of the network as it is, over all inputs that have an answer."""
        return score(self.all_logits, self.all_answers)

    @property
    def accuracy(self) -> float:
        """Share of all inputs that the network answers rightly."""
        return self.own_score.accuracy

    @property
    def chance_loss(self) -> float:
        """Loss of guessing. [nats]"""
        return log(self.classes)

    @cached_property
    def own_test_score(self) -> Score:
        """Accuracy and loss on the inputs that were not trained on.

        Raises:
            NotRecorded: a foreign network, of which these are not known.
        """
        rows = self.split.test
        return score(self.all_logits[rows.to(self.all_logits.device)], self.all_answers[rows])

    @cached_property
    def is_right(self) -> Bool[Tensor, " input"]:
        """Whether each input that has an answer is answered rightly."""
        answers = self.all_answers.to(self.all_logits.device)
        return (self.all_logits.argmax(dim=-1) == answers)[answers >= 0]

    @cached_property
    def losses_of_right_and_wrong(self) -> tuple[float, float]:
        """Mean loss over the inputs that are answered rightly, and over the others; NaN where there are none. [nats]"""
        answers = self.all_answers.to(self.all_logits.device)
        rows = answers >= 0
        losses = torch.nn.functional.cross_entropy(self.all_logits[rows], answers[rows], reduction="none")
        return float(losses[self.is_right].mean()), float(losses[~self.is_right].mean())

    @cached_property
    def sureness_where_wrong(self) -> float:
        """Mean probability of the answer that is given, over the inputs that are answered wrongly; NaN for none."""
        rows = self.all_answers.to(self.all_logits.device) >= 0
        return float(self.all_logits[rows][~self.is_right].softmax(dim=-1).amax(dim=-1).mean())

    @cached_property
    def accuracy_of_operations(self) -> dict[str, float]:
        """Operation mod p, a key of `OPERATIONS`, to the share of the pairs that the network answers with its result.

        Empty for a task that is no operation mod p.
        """
        if not isinstance(self.task, ModularArithmetic):
            return {}
        tasks = {op: ModularArithmetic(self.task.p, op) for op in OPERATIONS}
        return {op: score(self.all_logits, task.labels()[:, 0]).accuracy for op, task in tasks.items()}

    @property
    def operation(self) -> str:
        """What was to be learned, such as `a + b`, without the modulus."""
        return self.task.name.partition(" mod")[0]
