"""Whatever interrupts a training leaves it resumable, and says so in one line."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from modinterp.commands.runs import main
from modinterp.models import TransformerConfig
from modinterp.runs import load, states, store, train
from modinterp.runs.lease import leased
from modinterp.tasks import addition
from modinterp.training import Outcome, OutcomeKind, Recipe, RunSpec

TASK = addition(7)
CONFIG = TransformerConfig.of(TASK, d_model=16, n_heads=2, d_head=8, d_mlp=24)


def specs(**recipe) -> dict[str, RunSpec]:
    given = Recipe(**{"epochs": 60, "log_every": 10, "snapshot_every": 10} | recipe)
    return {f"own/{seed}": RunSpec(TASK, CONFIG, given, seed) for seed in range(3)}


def carried_out(wanted: dict[str, RunSpec], out: Path, **options) -> dict[str, Outcome]:
    return train(wanted, out, device="cpu", progress=False, together=3, state_every=0, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The training of all specs, which nothing has interrupted."""
    out = tmp_path_factory.mktemp("whole")
    carried_out(specs(), out)
    return out


def assert_same_files(out: Path, other: Path) -> None:
    for name in specs():
        for file in (store.FINAL, store.HISTORY, *(store.snapshot_path(Path(), e) for e in range(0, 61, 10))):
            assert (out / name / file).read_bytes() == (other / name / file).read_bytes(), (name, file)


def failing_after(times: int, write: Callable, error: BaseException) -> Callable:
    calls = iter(range(10**6))

    def written(*args, **kwargs):
        if next(calls) >= times:
            raise error
        return write(*args, **kwargs)

    return written


@pytest.mark.parametrize("times", [1, 4, 10, 17, 25, 31])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "Ctrl-C"])
def test_stopped_at_any_write_it_goes_on_with_the_same_bits(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, error: BaseException
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(store, "write_atomically", failing_after(times, store.write_atomically, error))
        with pytest.raises(type(error)):
            carried_out(specs(), tmp_path)
    carried_out(specs(), tmp_path)
    assert_same_files(tmp_path, whole)


def test_a_kill_far_from_any_snapshot_loses_only_what_came_after_the_last_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of history come more often than snapshots; a slow run takes many minutes from one of these to the next."""
    far = specs(snapshot_every=60)
    with monkeypatch.context() as patched:  # as a kill does, without a last word
        patched.setattr(states, "write_state", failing_after(10, states.write_state, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            carried_out(far, tmp_path / "cut")
    on_disk = {name: states.read_states(tmp_path / "cut" / name, spec) for name, spec in far.items()}
    assert {whole[0].state.epoch for whole, _ in on_disk.values()} == {
        20,
        30,
    }  # where two of them stood, and where one did
    carried_out(far, tmp_path / "cut")
    carried_out(far, tmp_path / "whole")
    for name in far:
        for file in (store.FINAL, store.HISTORY):
            assert (tmp_path / "cut" / name / file).read_bytes() == (tmp_path / "whole" / name / file).read_bytes()


def test_runs_together_are_those_trained_one_by_one(whole: Path, tmp_path: Path) -> None:
    for name, spec in specs().items():
        train({name: spec}, tmp_path, device="cpu", progress=False)
        together, alone = (load(name, root=out).history for out in (whole, tmp_path))
        assert together.to_numpy() == pytest.approx(alone.to_numpy(), rel=1e-5)


def test_a_training_of_no_epochs_is_there_and_can_be_gone_on_with(whole: Path, tmp_path: Path) -> None:
    carried_out(specs(epochs=0), tmp_path)
    begun = load("own/1", root=tmp_path)
    start = specs()["own/1"].initial_weights()
    assert all(w.equal(start[name]) for name, w in begun.model.state_dict().items())
    assert begun.history["epoch"].tolist() == [0]
    carried_out(specs(), tmp_path)
    assert_same_files(tmp_path, whole)


def test_a_run_that_diverges_keeps_its_last_good_weights_and_its_neighbours_go_on(tmp_path: Path) -> None:
    wanted = specs()
    wanted["own/1"] = replace(wanted["own/1"], recipe=replace(wanted["own/1"].recipe, lr=1e30))
    for _ in range(2):
        ended = carried_out(wanted, tmp_path)
        assert ended["own/0"] == ended["own/2"] == Outcome(OutcomeKind.EPOCHS_OVER, 60)
        assert ended["own/1"] == Outcome(OutcomeKind.NOT_FINITE, 10, "train_loss is nan")
        assert not ended["own/1"].is_finite
    run, record = load("own/1", root=tmp_path), store.read_record(tmp_path / "own/1")
    assert record["epoch"] == 0
    assert record["ended"] == {"kind": "not finite", "epoch": 10, "detail": "train_loss is nan"}
    assert run.outcome == ended["own/1"]
    assert run.history["epoch"].tolist() == [0]
    assert all(w.isfinite().all() for w in run.model.state_dict().values())
    assert load("own/2", root=tmp_path).history["epoch"].iloc[-1] == 60


def test_a_run_stops_when_its_test_loss_has_been_low_for_long_enough(whole: Path, tmp_path: Path) -> None:
    wanted = specs(stop_at=3.0, settle=20)
    history = load("own/0", root=whole).history
    low = int(history["epoch"][history["test_loss"] <= 3.0].iloc[0])
    ended = carried_out(wanted, tmp_path / "stopped")
    assert ended["own/0"] == Outcome(OutcomeKind.TEST_LOSS_REACHED, low, "3")
    assert str(ended["own/0"]) == f"test loss 3 or less since epoch {low}"
    assert load("own/0", root=tmp_path / "stopped").history["epoch"].iloc[-1] == low + 20


def test_two_trainings_in_one_folder_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "own/0"
    folder.mkdir(parents=True)
    with leased(folder), pytest.raises(ValueError, match="is being trained in by another process"):
        carried_out(specs(), tmp_path)
    carried_out(specs(), tmp_path)


def test_what_is_finished_is_not_trained_again_though_its_state_is_gone(tmp_path: Path) -> None:
    carried_out(specs(), tmp_path)
    for name in specs():
        for file in (states.STATE, states.BEFORE):
            (tmp_path / name / file).unlink(missing_ok=True)
    before = (tmp_path / "own/0" / store.FINAL).stat().st_mtime_ns
    assert set(carried_out(specs(), tmp_path).values()) == {Outcome(OutcomeKind.EPOCHS_OVER, 60)}
    assert (tmp_path / "own/0" / store.FINAL).stat().st_mtime_ns == before
    with pytest.raises(ValueError, match="holds a training with other settings"):
        carried_out(specs(weight_decay=0.5), tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser writes anywhere")
def test_an_unwritable_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    tmp_path.chmod(0o500)
    assert main(["train", "nanda/mainline-0", "--epochs", "1", "--out", str(tmp_path)]) == 2
    assert "Permission denied" in capsys.readouterr().err
    tmp_path.chmod(0o700)


def test_a_file_in_the_way_is_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "nanda").write_text("in the way")
    assert main(["train", "nanda/mainline-0", "--epochs", "1", "--out", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert "nanda" in line
