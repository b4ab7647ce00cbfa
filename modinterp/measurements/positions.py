"""Define the common part of all measurements on sequences: a sample of inputs, answers, and interventions."""

from __future__ import annotations

from functools import cached_property

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from modinterp.measurements.answering import MOST_ANSWERED, SEED, Answering, sample_of, score_of
from modinterp.measurements.carrying import Carrying
from modinterp.measurements.inside import Inside
from modinterp.measurements.interchanges import Interchanges
from modinterp.measurements.network import NetworkMeasurements
from modinterp.measurements.score import Score
from modinterp.tasks import Examples


class PositionMeasurements(NetworkMeasurements):
    """The measurements of a network on sequences, on a sample of inputs, since all inputs are too many to list."""

    lacks = frozenset({"all_logits", "given", "grid"})

    @cached_property
    def asked(self) -> Examples:
        """The sample of inputs on which the network is evaluated, with labels; `seed_of_inputs` is its seed."""
        return sample_of(self.task)

    @property
    def words_of_task(self) -> dict[str, str]:
        return {"inputs": "inputs drawn at random", "kind": "inputs"}

    @property
    def seed_of_inputs(self) -> int:
        """The seed with which the inputs of `asked` are drawn."""
        return SEED

    @property
    def answering(self) -> Answering:
        """The answers of the network, by position and by kind of input."""
        return self.part(Answering)

    @property
    def inside(self) -> Inside:
        """Attention of the heads, loss without each part, and output of each part of a network on sequences."""
        return self.part(Inside)

    @property
    def interchanges(self) -> Interchanges:
        """Effects on the answers of exchanging values, keys, queries and directions."""
        return self.part(Interchanges)

    @property
    def carrying(self) -> Carrying:
        """Effects on the digits of a sum of exchanging carries and of rotating digits."""
        return self.part(Carrying)

    def _score_of(self, rows: Int[Tensor, " row"] | None = None) -> Score:
        if rows is None:
            return Score(self.answering.accuracy, self.answering.loss)
        rows = rows[:MOST_ANSWERED]  # of those trained on there may be hundreds of thousands
        return score_of(self.model, self.task, Examples(self.task.inputs()[rows], self.task.labels()[rows]))

    @cached_property
    def is_right(self) -> Bool[Tensor, " answer"]:
        return self.answering.answers.correct[self.answering.is_asked]

    @cached_property
    def losses_of_right_and_wrong(self) -> tuple[float, float]:
        losses = self.answering.answers.losses[self.answering.is_asked]
        return float(losses[self.is_right].mean()), float(losses[~self.is_right].mean())

    @cached_property
    def sureness_where_wrong(self) -> float:
        surest = self.answering.answers.log_probs.amax(dim=-1).exp()[self.answering.is_asked]
        return float(surest[~self.is_right].mean())

    @cached_property
    def chance(self) -> float:
        """Accuracy of always giving the most common answer at each position."""
        right, asked = self.answering.answers.right, self.answering.is_asked
        hits = sum(int(torch.bincount(x[y]).max()) for x, y in zip(right.T, asked.T, strict=True) if bool(y.any()))
        return hits / int(asked.sum())
