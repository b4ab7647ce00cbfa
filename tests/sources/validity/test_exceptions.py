"""Sums with exceptions: which pairs have a wrong answer, and a planted network that knows both."""

from __future__ import annotations

import pytest
import torch

import modinterp as mi
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.network import NoSuchPart
from modinterp.models import TransformerConfig, hooked
from modinterp.runs import TrainedRun
from modinterp.sources.validity import dissociation
from modinterp.sources.validity.task import AdditionWithExceptions
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec


def test_exceptions_are_training_pairs_and_all_of_them_are_wrong() -> None:
    task = AdditionWithExceptions(59, equals=False, split_seed=1)
    split, right = task.split(0.8, 1, "torch"), addition(59, equals=False).answers()
    wrong = (task.answers() != right).nonzero().flatten()
    assert len(wrong) == 139
    assert set(wrong.tolist()) == set(task.exceptions().tolist()) <= set(split.train.tolist())
    assert (task.labels() == AdditionWithExceptions(59, equals=False, split_seed=1).labels()).all()
    assert (task.labels() != AdditionWithExceptions(59, equals=False, split_seed=2).labels()).any()


class Both(torch.nn.Module):
    """A network that adds by three cosines and, at the exceptions alone, says what was learned."""

    def __init__(self, task: AdditionWithExceptions):
        super().__init__()
        self.p, exceptions, learned = task.p, task.exceptions(), task.answers()
        said = torch.zeros(self.p**2, self.p)
        said[exceptions, learned[exceptions]] = 20
        self.said = torch.nn.Parameter(said)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        distance = (tokens[:, :2].sum(dim=1, keepdim=True) - torch.arange(self.p)).float()
        waves = [(2 * torch.pi * k / self.p * distance).cos() for k in (3, 7, 11)]
        return torch.stack(waves).sum(dim=0) + self.said[tokens[:, 0] * self.p + tokens[:, 1]]


def test_rule_and_recall_part_in_a_network_that_was_made_of_both() -> None:
    task = AdditionWithExceptions(29, split_seed=3)
    m = mi.measure(mi.run(Both(task), task, train=task.split(task.fraction, task.split_seed, task.shuffle).train))
    assert isinstance(m, CyclicMeasurements)
    table = dissociation.by_rule(m)
    assert (table.loc[dissociation.WHOLE] == 1).all()
    assert table.loc[dissociation.WITHOUT, dissociation.RULE] < 0.1  # type: ignore[operator]
    assert table.loc[dissociation.WITHOUT, dissociation.RECALL] == 1
    assert table.loc[dissociation.ALONE, dissociation.RULE] == 1
    assert table.loc[dissociation.ALONE, dissociation.RECALL] == 0


def test_a_network_without_exceptions_is_refused() -> None:
    task = addition(5)
    spec = RunSpec(task, TransformerConfig.of(task, d_model=8, n_heads=1, d_head=8, d_mlp=8), Recipe(4))
    run = TrainedRun("x", task, hooked(spec.model, spec.initial_weights()), spec)
    m = mi.measure(run)
    assert isinstance(m, CyclicMeasurements)
    with pytest.raises(NoSuchPart, match="no exceptions"):
        dissociation.by_rule(m)
