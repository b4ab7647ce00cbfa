"""A run that begins with another run's final weights."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from modinterp.models import TransformerConfig
from modinterp.runs import load, train
from modinterp.runs.start import weights_at_start
from modinterp.tasks import addition
from modinterp.training import Nudge, Recipe, RunSpec
from modinterp.training.relation import relation

TASK = addition(5)
SPEC = RunSpec(TASK, TransformerConfig.of(TASK, d_model=8, n_heads=1, d_head=8, d_mlp=8), Recipe(4, log_every=2))
LATER = replace(SPEC, recipe=Recipe(4, 0.2, log_every=2), start="mine/first")


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    train({"mine/first": SPEC}, tmp_path, device="cpu", progress=False)
    monkeypatch.setenv("MODINTERP_CHECKPOINTS", str(tmp_path))
    return tmp_path


def test_it_begins_where_the_other_ended_and_is_restored(published: Path) -> None:
    train({"mine/later": LATER}, published, device="cpu", progress=False)
    first, later = load("mine/first"), load("mine/later")
    assert later.spec == LATER
    assert later.spec != replace(LATER, start="")
    ended, began = first.network.state_dict(), later.at_start().network.state_dict()
    assert ended.keys() == began.keys()
    assert all(torch.equal(ended[name], began[name]) for name in ended)
    assert all(torch.equal(later.snapshots[0][name], w) for name, w in weights_at_start(LATER).items())
    assert not torch.equal(later.network.state_dict()["embed.W_E"], ended["embed.W_E"])
    assert "start" not in json.loads((published / "mine/first/run.json").read_text(encoding="utf-8"))["spec"]


def test_it_is_no_replicate_of_a_run_from_the_start() -> None:
    assert relation(LATER, replace(LATER, start="")) is None


def test_no_seed_draws_its_weights(published: Path) -> None:
    with pytest.raises(ValueError, match="so they do not follow from its seed"):
        LATER.initial_weights()
    with pytest.raises(FileNotFoundError, match="no trained run in"):
        weights_at_start(replace(LATER, start="mine/none"))
    with pytest.raises(ValueError, match="should have the shape"):
        weights_at_start(replace(LATER, model=replace(LATER.model, d_mlp=16)))
    with pytest.raises(ValueError, match="cannot have a nudge"):
        replace(LATER, nudge=Nudge("embed.W_E", 1))
