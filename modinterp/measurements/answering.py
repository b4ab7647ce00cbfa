"""Measure the answers of a network on sequences: accuracy by answer position and by kind of input."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from modinterp.analyses.sequences.answers import Answers, answers
from modinterp.analyses.statistics.share_interval import Share
from modinterp.measurements.component import Component
from modinterp.measurements.score import Score
from modinterp.models import Network
from modinterp.tasks import Examples

SEED, MOST_ANSWERED = 0, 10_000  # of the inputs that are drawn, and how many
MOST_LOGITS = 2 * 10**7  # that are held at a time
AT_ONCE = 1_000  # inputs of a forward pass
SHOWN_FAILURES = 20
FEW = 10  # values of a kind that are shown one by one; more are put together in ranges


def answers_of(network: Network, task: Any, examples: Examples) -> tuple[Answers, Bool[Tensor, "input answer"]]:
    """Return the answers of a network to some inputs, and a mask that is True at positions where the task has an
    answer.

    Positions without an answer have label 0, and do not count.
    """
    positions = [position - task.n_ctx for position in task.read_positions]
    right = examples.labels[:, [position + task.n_read for position in positions]]
    with torch.no_grad():
        parts = examples.inputs.split(AT_ONCE)
        logits = [network(part.to(network.device))[:, positions].cpu() for part in parts]
    classes = task.output_sizes[0]
    found = answers(torch.cat(logits)[..., :classes], right.clamp(min=0), tuple(range(len(positions))))
    return Answers(found.log_probs, found.right, task.read_positions), right >= 0


def score_of(network: Network, task: Any, examples: Examples) -> Score:
    """Return the accuracy and mean loss of a network on some inputs, over the positions for which the task has an
    answer.
    """
    found, asked = answers_of(network, task, examples)
    return Score(float(found.correct[asked].double().mean()), float(found.losses[asked].mean()))


class Answering(Component[Any]):
    """The answers of a network to a sample of inputs, drawn with a stated seed; available as `m.answering`."""

    @property
    def examples(self) -> Examples:
        """The sample of inputs, with their labels."""
        return self.m.asked

    @cached_property
    def _answered(self) -> tuple[Answers, Bool[Tensor, "input answer"]]:
        return answers_of(self.m.model, self.m.task, self.examples)

    @property
    def answers(self) -> Answers:
        """Answers of the network at each position for which the task has an answer."""
        return self._answered[0]

    @property
    def is_asked(self) -> Bool[Tensor, "input answer"]:
        """True for each input and answer position at which the task has an answer."""
        return self._answered[1]

    @property
    def correct(self) -> Bool[Tensor, "input answer"]:
        """True for each right answer."""
        return self.answers.correct & self.is_asked

    @cached_property
    def accuracy(self) -> float:
        """Share of the answers that are right."""
        return float(self.correct.sum() / self.is_asked.sum())

    @cached_property
    def loss(self) -> float:
        """Mean cross-entropy of the answers. [nats]"""
        return float(self.answers.losses[self.is_asked].mean())

    @cached_property
    def whole(self) -> Share:
        """Share of the inputs for which the network gives all answers correctly, with its 95% interval."""
        return Share(int((self.correct | ~self.is_asked).all(dim=1).sum()), len(self.correct))

    def by_position(self) -> pd.DataFrame:
        """Return a table with one row per answer position: accuracy with its 95% interval, and loss [nats]."""
        names = self.m.task.position_names
        groups = {names[position]: self._column(column) for column, position in enumerate(self.m.task.read_positions)}
        return pd.DataFrame({"position": name} | self._row(mask) for name, mask in groups.items() if bool(mask.any()))

    def by_kind(self) -> pd.DataFrame:
        """Return a table with one row for each value of each kind of input; empty if the task defines no kinds."""
        kinds = self.m.task.kinds(self.examples.inputs)
        rows = [
            {"kind": name, "value": value} | self._row(mask)
            for name, values in kinds.items()
            for value, mask in self._groups(values)
        ]
        return pd.DataFrame(rows)

    def failures(self, most: int = SHOWN_FAILURES) -> pd.DataFrame:
        """Return a table of inputs with a wrong answer, sorted by the wrong answer's probability, highest first."""
        wrong = (self.is_asked & ~self.correct).nonzero()
        given = self.answers.log_probs.exp().amax(dim=-1)
        order = given[wrong[:, 0], wrong[:, 1]].argsort(descending=True)[:most]
        names, rows = self.m.task.position_names, []
        for row, column in wrong[order].tolist():
            rows.append(
                {
                    "input": " ".join(map(str, self.examples.inputs[row].tolist())),
                    "position": names[self.m.task.read_positions[column]],
                    "right": int(self.answers.right[row, column]),
                    "given": int(self.answers.given[row, column]),
                    "probability of the given": float(given[row, column]),
                }
            )
        return pd.DataFrame(rows, columns=["input", "position", "right", "given", "probability of the given answer"])

    def _column(self, column: int) -> Bool[Tensor, "input answer"]:
        mask = torch.zeros_like(self.is_asked)
        mask[:, column] = self.is_asked[:, column]
        return mask

    def _groups(self, values: Int[Tensor, "input *answer"]) -> Iterator[tuple[str, Bool[Tensor, "input answer"]]]:
        """Yield each value of a kind of input (or a range of values), and a mask of the answers with that value."""
        values = values.view(len(values), -1).expand_as(self.is_asked)
        counted = self.is_asked & (values >= 0)
        present = values[counted].unique().tolist()
        if len(present) <= FEW:
            yield from ((str(value), counted & (values == value)) for value in present)
            return
        first = 0
        while first <= present[-1]:
            last = max(2 * first - 1, first)
            if bool((mask := counted & (values >= first) & (values <= last)).any()):
                yield str(first) if first == last else f"{first} to {last}", mask
            first = last + 1

    def _row(self, mask: Bool[Tensor, "input answer"]) -> dict[str, Any]:
        share = Share(int(self.correct[mask].sum()), int(mask.sum()))
        low, high = share.interval
        loss = float(self.answers.losses[mask].mean())
        return {"answers": share.of, "accuracy": share.held / share.of, "at least": low, "at most": high,
                "loss [nats]": loss}  # fmt: skip


def sample_of(task: Any) -> Examples:
    """Return the inputs of a task on sequences, drawn with a fixed seed; their number is limited by the memory for the
    logits.
    """
    each = len(task.read_positions) * max(task.output_sizes[0], task.d_vocab)
    return task.fresh(max(1, min(MOST_ANSWERED, MOST_LOGITS // each)), SEED)
