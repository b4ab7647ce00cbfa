"""What lies on disk is whole or refused, and nothing in it is ever executed."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pandas as pd
import pytest
import torch

from modinterp.files import write_atomically
from modinterp.models import TransformerConfig, initial_weights
from modinterp.runs import TrainedRun, load, states, store, train
from modinterp.tasks import Task, addition
from modinterp.training import Recipe, RunSpec, training_states
from modinterp.training.recipe import MOST_EPOCHS, MOST_SNAPSHOTS

TASK = addition(5)
SPEC = RunSpec(TASK, TransformerConfig.of(TASK, d_model=8, n_heads=2, d_head=4, d_mlp=12),
               Recipe(epochs=20, log_every=5, snapshot_every=10), seed=2)  # fmt: skip


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    train({"own/small": SPEC}, tmp_path, device="cpu", progress=False)
    return tmp_path


def test_a_run_comes_back_as_it_was_trained(trained: Path) -> None:
    run = load("own/small", root=trained)
    assert run.spec == SPEC
    assert run.task == TASK
    assert list(run.snapshots) == [0, 10, 20]
    assert all(torch.equal(w, run.snapshots[20][name]) for name, w in run.model.state_dict().items())
    assert run.history["epoch"].tolist() == [0, 5, 10, 15, 20]
    assert repr(run).startswith("own/small: a + b mod 5, ")
    start = run.at_start()
    assert all(torch.equal(w, run.snapshots[0][name]) for name, w in start.model.state_dict().items())
    assert start.history["epoch"].tolist() == [0]
    with pytest.raises(KeyError, match="no snapshot of epoch 15"):
        run.at(15)


def test_training_again_does_nothing_and_training_on_goes_on(trained: Path) -> None:
    folder = trained / "own/small"
    before = (folder / store.FINAL).stat().st_mtime_ns
    train({"own/small": SPEC}, trained, device="cpu", progress=False)
    assert (folder / store.FINAL).stat().st_mtime_ns == before
    longer = with_epochs(40)
    train({"own/small": longer}, trained, device="cpu", progress=False)
    train({"own/whole": longer}, trained, device="cpu", progress=False)
    assert (folder / store.FINAL).read_bytes() == (trained / "own/whole" / store.FINAL).read_bytes()
    assert (folder / store.HISTORY).read_bytes() == (trained / "own/whole" / store.HISTORY).read_bytes()


def test_other_settings_in_the_same_folder_are_refused(trained: Path) -> None:
    other = RunSpec(TASK, SPEC.model, Recipe(epochs=20, lr=1e-2, log_every=5, snapshot_every=10), seed=2)
    with pytest.raises(ValueError, match="holds a training with other settings"):
        train({"own/small": other}, trained, device="cpu", progress=False)


def test_weights_that_were_tampered_with_are_refused(trained: Path) -> None:
    path = trained / "own/small" / store.FINAL
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="sha256 differs"):
        load("own/small", root=trained)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"spec": {}}', '{"spec": {}, "sha256": {}}'])
def test_damaged_records_are_refused(trained: Path, content: str) -> None:
    (trained / "own/small" / store.RECORD).write_text(content)
    with pytest.raises(ValueError, match="damaged|not the description"):
        load("own/small", root=trained)


def test_missing_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no trained run in"):
        load("own/none", root=tmp_path)


@pytest.mark.parametrize("suffix", [".safetensors", ".pt", ".pth"])
@pytest.mark.parametrize("keep", [0, 1, 100, 0.5])
def test_files_that_are_cut_off_are_refused(trained: Path, suffix: str, keep: float) -> None:
    weights = store.read_weights(trained / "own/small" / store.FINAL)
    path = trained / f"model{suffix}"
    if suffix == ".safetensors":
        store.write_weights(path, weights)
    else:
        torch.save({"model": weights, "train_losses": [1.0, 2.0]}, path)
    assert set(load(path, TASK).model.state_dict()) == set(weights)
    content = path.read_bytes()
    path.write_bytes(content[: int(keep if keep >= 1 or keep == 0 else keep * len(content))])
    with pytest.raises(ValueError, match=r"is not a (whole|complete)|holds more than weights|holds no named"):
        load(path, TASK)


class Trap:
    """Unpickling this would create a file."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("write", [lambda o, p, n: torch.save(o, p), lambda o, p, n: p.write_bytes(pickle.dumps(o, n))])
def test_code_in_a_pickle_is_not_run(tmp_path: Path, write, protocol: int) -> None:
    marker, path = tmp_path / "executed", tmp_path / "model.pt"
    write({"embed.W_E": torch.ones(2, 2), "x": Trap(marker)}, path, protocol)
    with pytest.raises(ValueError, match="is not read, since that could run code"):
        load(path, TASK)
    assert not marker.exists()


def test_a_file_needs_a_task(tmp_path: Path) -> None:
    store.write_weights(tmp_path / "model.safetensors", {"embed.W_E": torch.ones(2, 2)})
    with pytest.raises(ValueError, match="does not contain the task of its network"):
        load(tmp_path / "model.safetensors")


@pytest.mark.parametrize("task", [TASK, None])
def test_missing_file_is_named(tmp_path: Path, task: Task | None) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file .*none\.pt"):
        load(tmp_path / "none.pt", task)


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def full_disk(_: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(store.os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_tables_keep_every_bit(tmp_path: Path) -> None:
    table = pd.DataFrame({"epoch": [0, 20], "loss": [0.1 + 0.2, 2.4e-7 / 3]})
    write_atomically(tmp_path / "t.csv", store.table_bytes(table))
    assert store.read_table(tmp_path / "t.csv").equals(table)
    for name in ("t.csv", "u.csv"):
        store.write_packed(tmp_path / name, store.table_bytes(table))
    assert store.read_table(tmp_path / "t.csv.gz").equals(table)
    assert pd.read_csv(tmp_path / "t.csv.gz").equals(pd.read_csv(tmp_path / "t.csv"))
    assert (tmp_path / "t.csv.gz").read_bytes() == (tmp_path / "u.csv.gz").read_bytes()


@pytest.mark.parametrize("most", [MOST_SNAPSHOTS, MOST_EPOCHS], ids=["every epoch", "the longest names"])
def test_the_record_of_the_most_snapshots_that_a_recipe_may_have_is_read_again(tmp_path: Path, most: int) -> None:
    every = most // MOST_SNAPSHOTS
    with pytest.raises(ValueError, match="140,001 snapshots, more than 140,000; give a larger snapshot_every"):
        Recipe(epochs=MOST_SNAPSHOTS + 1, snapshot_every=1, log_every=2)
    recipe = Recipe(epochs=every * MOST_SNAPSHOTS, snapshot_every=every, log_every=2 * every)
    names = [str(store.snapshot_path(Path(), epoch)) for epoch in range(0, recipe.epochs + 1, every)]
    written = dict.fromkeys([store.FINAL, store.HISTORY, *names], "0" * 64)
    store.write_record(tmp_path, RunSpec(TASK, SPEC.model, recipe, 0), recipe.epochs, None, 1.0, written)
    assert store.read_record(tmp_path)["sha256"] == written


def test_record_names_every_file_with_its_checksum(trained: Path) -> None:
    folder = trained / "own/small"
    record = json.loads((folder / store.RECORD).read_text())
    assert set(record["sha256"]) == {"final.safetensors", "history.csv",
                                     *(f"snapshots/epoch-{e:06d}.safetensors" for e in (0, 10, 20))}  # fmt: skip
    assert record["versions"]["torch"] == torch.__version__.partition("+")[0]


def with_epochs(epochs: int) -> RunSpec:
    return RunSpec(TASK, SPEC.model, Recipe(epochs=epochs, log_every=5, snapshot_every=10), seed=2)


def test_training_to_before_where_it_stands_is_refused(trained: Path) -> None:
    with pytest.raises(ValueError, match="trained to epoch 20 already, beyond 10"):
        train({"own/small": with_epochs(10)}, trained, device="cpu", progress=False)


def test_a_finished_run_can_be_loaded_while_it_is_trained_on(trained: Path) -> None:
    folder = trained / "own/small"
    for _, state in training_states([with_epochs(40)], device="cpu"):
        store.write_snapshot(folder, state)
        states.write_state(folder, with_epochs(40), state, seconds=1.0)
        if state.epoch == 30:
            break
    run = load("own/small", root=trained)
    assert run.history["epoch"].iloc[-1] == 20
    assert list(run.snapshots) == [0, 10, 20]
    train({"own/small": with_epochs(40)}, trained, device="cpu", progress=False)
    assert list(load("own/small", root=trained).snapshots) == [0, 10, 20, 30, 40]


@pytest.mark.parametrize("place", [0.3, 0.6, 0.95])
def test_a_flipped_bit_in_the_state_is_noticed(trained: Path, place: float) -> None:
    path = trained / "own/small" / states.STATE
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 4
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a complete state of a training|is not the state that was written"):
        train({"own/small": with_epochs(40)}, trained, device="cpu", progress=False)


def test_weights_alone_are_no_state(trained: Path) -> None:
    folder = trained / "own/small"
    (folder / states.STATE).write_bytes((folder / store.FINAL).read_bytes())
    with pytest.raises(ValueError, match="is not a complete state of a training"):
        train({"own/small": with_epochs(40)}, trained, device="cpu", progress=False)


def test_what_a_file_cannot_say_must_be_said(tmp_path: Path) -> None:
    weights = initial_weights(SPEC.model, seed=0)
    store.write_weights(tmp_path / "model.safetensors", weights)
    gelu = load(tmp_path / "model.safetensors", TASK, act_fn="gelu")
    relu = load(tmp_path / "model.safetensors", TASK)
    assert not torch.allclose(gelu.model(TASK.inputs()), relu.model(TASK.inputs()))
    (tmp_path / "model.ckpt").write_bytes((tmp_path / "model.safetensors").read_bytes())
    by_content = load(tmp_path / "model.ckpt", TASK)
    assert torch.equal(by_content.model(TASK.inputs()), relu.model(TASK.inputs()))
    with pytest.raises(ValueError, match="device 'warp' is not available here"):
        load(tmp_path / "model.safetensors", TASK, device="warp")


def test_a_task_that_contradicts_the_run_is_refused(trained: Path) -> None:
    with pytest.raises(ValueError, match=r"was trained on a \+ b mod 5, not on a \+ b mod 7"):
        load("own/small", addition(7), root=trained)


def test_a_notebook_shows_a_run_and_its_last_losses(mainline: TrainedRun) -> None:
    shown = mainline._repr_html_()
    assert shown.startswith("<b>nanda/mainline-0</b>: a + b mod 113")
    assert "test_loss" in shown
    assert "40000" in shown
    foreign = TrainedRun("<script>", mainline.task, mainline.model)
    assert foreign._repr_html_().startswith("<b>&lt;script&gt;</b>")
