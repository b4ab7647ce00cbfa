"""A run that was trained on all inputs, and holds none out, is published and shown."""

from __future__ import annotations

from pathlib import Path

from modinterp.models import MLPConfig
from modinterp.publish.publishing import publish
from modinterp.runs import load, train
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec


def test_it_has_no_progress_and_is_told_by_what_it_was_trained_on(tmp_path: Path) -> None:
    task = addition(5, equals=False)
    recipe = Recipe(epochs=20, fraction=1.0, log_every=10, snapshot_every=10)
    spec = RunSpec(task, MLPConfig.of(task, one_hot=True, d_mlp=8), recipe)
    train({"own/all": spec}, tmp_path / "trained", device="cpu", progress=False)
    publish("own/all", tmp_path / "trained", tmp_path / "out", [10])
    run = load("own/all", root=tmp_path / "out")
    assert run.progress is None
    assert list(run.snapshots) == [10, 20]
    assert "train loss" in repr(run)
    assert "nan" not in repr(run)
