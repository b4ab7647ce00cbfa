"""The recorder of a loop of one's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import torch
from runs.test_own_run import MASK, TASK, Mine

import modinterp as mi
from modinterp.pages.watched import watch
from modinterp.runs.callbacks import lightning_callback, trainer_callback
from modinterp.runs.recorded_run import recorded_run


def loop(steps: range, folder: Path, model: Mine, stop: int | None = None) -> mi.record:
    with mi.record("mine/run-1", model, TASK, train=MASK, out=folder) as recorded:
        for step in steps:
            with torch.no_grad():
                model.fc2.bias += 0.01
            recorded(step)
            if step == stop:
                break
    return recorded


def test_snapshots_are_ever_further_apart_and_end_with_the_last(tmp_path: Path) -> None:
    model = Mine()
    mine = loop(range(101), tmp_path, model).run()
    steps = list(mine.snapshots)
    assert steps[:6] == [0, 1, 2, 3, 4, 5]
    assert steps[-1] == 100
    assert len(steps) < 25
    assert torch.equal(mine.snapshots[100]["fc2.bias"], model.fc2.bias.detach())
    assert mine.history["epoch"].tolist() == steps
    assert mi.measure(mine)["test_accuracy"] == pytest.approx(mine.history["test_accuracy"].iloc[-1])


def test_a_loop_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    loop(range(101), tmp_path, Mine(), stop=50)
    again = loop(range(40, 101), tmp_path, Mine())
    steps = again.history["epoch"].tolist()
    assert steps == sorted(set(steps))
    assert steps[-1] == 100
    assert {int(s) for s in steps} == {int(p.stem[5:]) for p in again.folder.glob("step_*")}


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine" / "run-1").mkdir(parents=True)
    (tmp_path / "mine" / "run-1" / "thesis.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="holds files that no recorder wrote"):
        loop(range(2), tmp_path, Mine())
    with pytest.raises(ValueError, match="ratio must be more than 1"):
        mi.record("x", Mine(), TASK, train=MASK, out=tmp_path, ratio=1)


def test_steps_must_grow(tmp_path: Path) -> None:
    with mi.record("x", Mine(), TASK, train=MASK, out=tmp_path) as recorded:
        recorded(3)
        with pytest.raises(ValueError, match="each step must be larger than the previous one, got 3 after 3"):
            recorded(3)


def test_a_killed_loop_leaves_whole_files(tmp_path: Path) -> None:
    code = f"""
import os, sys
sys.path[:0] = {sys.path!r}
from runs.test_own_run import MASK, TASK, Mine
import modinterp as mi
with mi.record("mine/run-1", Mine(), TASK, train=MASK, out={str(tmp_path)!r}) as recorded:
    for step in range(30):
        recorded(step)
        if step == 20:
            os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    found = mi.run(Mine, TASK, snapshots=tmp_path / "mine" / "run-1", train=MASK)
    assert max(found.snapshots) == 19
    for epoch in found.snapshots:
        found.at(epoch)


def test_a_module_that_takes_other_tokens_is_recorded(tmp_path: Path) -> None:
    class FourTokens(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.out = torch.nn.Embedding(TASK.p + 2, 8), torch.nn.Linear(32, TASK.p)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.out(self.embed(x).flatten(1).relu())

    model, task = FourTokens(), TASK
    for tokens in ("a op b =", lambda a, b: torch.stack([a, 0 * a + TASK.p + 1, b, 0 * a + TASK.p], dim=1)):
        with mi.record(
            f"mine/{type(tokens).__name__}", model, task, train=range(30), out=tmp_path, tokens=tokens
        ) as mine:
            for step in range(3):
                mine(step)
        a, b = task.inputs()[:, :2].T
        right = model(torch.stack([a, 0 * a + TASK.p + 1, b, 0 * a + TASK.p], dim=1)).argmax(1) == task.answers()
        assert mine.history.train_accuracy.iloc[-1] == pytest.approx(float(right[:30].double().mean()))
        assert len(mine.run().snapshots) == 3


def test_what_is_recorded_is_watched_without_the_module(tmp_path: Path) -> None:
    model = Mine()
    with mi.record("mine/run-1", model, TASK, train=MASK, out=tmp_path) as recorded:
        for step in range(5):
            recorded(step)
        (line,) = watch("mine/run-1", tmp_path, tmp_path / "page", once=True)
        assert "in training" in line
    assert (tmp_path / "page" / "index.html").is_file()
    line, hint = watch("mine/run-1", tmp_path, tmp_path / "page", once=True)
    assert "in training" not in line
    assert "mi.film(recorded.run())" in hint
    run = recorded_run(tmp_path / "mine/run-1", "mine/run-1")
    assert run.history["epoch"].tolist() == [0, 1, 2, 3, 4]
    assert torch.equal(run.split.train.sort().values, recorded.split.train.sort().values)
    (tmp_path / "mine/run-1" / "recorded.json").write_text("{")
    with pytest.raises(ValueError, match="is not a complete record of a training"):
        recorded_run(tmp_path / "mine/run-1", "mine/run-1")


def test_loggers_get_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Run:
        def __init__(self) -> None:
            self.rows: list[dict[str, float]] = []
            self.is_over = False

        def log(self, row: dict[str, float]) -> None:
            self.rows.append(row)

        def finish(self) -> None:
            self.is_over = True

    made = Run()
    fake = ModuleType("wandb")
    fake.run, fake.init = None, lambda name: made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wandb", fake)
    with mi.record("mine/run-1", Mine(), TASK, train=MASK, out=tmp_path, to=("wandb",)) as recorded:
        for step in range(3):
            recorded(step)
    assert made.is_over
    assert [row["step"] for row in made.rows] == [0, 1, 2]
    assert [row["test_loss"] for row in made.rows] == recorded.history["test_loss"].tolist()
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ImportError, match="wandb is not installed; run `pip install wandb`"):
        mi.record("mine/run-2", Mine(), TASK, train=MASK, out=tmp_path, to=("wandb",))
    with pytest.raises(ValueError, match="unknown logger 'mlflow'; known are wandb, tensorboard"):
        mi.record("mine/run-3", Mine(), TASK, train=MASK, out=tmp_path, to=("mlflow",))


def test_tensorboard_reads_the_same_rows(tmp_path: Path) -> None:
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with mi.record("mine/run-1", Mine(), TASK, train=MASK, out=tmp_path, to=("tensorboard",)) as recorded:
        for step in range(3):
            recorded(step)
    (folder,) = tmp_path.rglob("tensorboard")
    events = reading.EventAccumulator(str(folder)).Reload()
    scalars = events.Scalars("test_loss")
    assert [event.step for event in scalars] == [0, 1, 2]
    assert [event.value for event in scalars] == pytest.approx(recorded.history["test_loss"].tolist(), rel=1e-6)


def test_the_trainer_of_transformers_records(tmp_path: Path) -> None:
    recorded = mi.record("mine/run-1", Mine(), TASK, train=MASK, out=tmp_path)
    callback = trainer_callback(recorded)
    for step in (1, 1, 2, 3):  # a step twice, as where gradients are accumulated
        callback.on_step_end(None, SimpleNamespace(global_step=step), None)
    callback.on_train_end(None, SimpleNamespace(global_step=3), None)
    assert list(recorded.run().snapshots) == [1, 2, 3]


def test_lightning_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lightning, inner = ModuleType("lightning"), ModuleType("lightning.pytorch")
    inner.Callback = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lightning", lightning)
    monkeypatch.setitem(sys.modules, "lightning.pytorch", inner)
    recorded = mi.record("mine/run-1", Mine(), TASK, train=MASK, out=tmp_path)
    callback = lightning_callback(recorded)
    for step in (1, 2):
        callback.on_train_batch_end(SimpleNamespace(global_step=step), None, None, None, 0)
    callback.on_train_end(None, None)
    assert list(recorded.run().snapshots) == [1, 2]
