"""Damaged files of a run are found and told, and mended from what is whole; what is not ours is left alone."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from modinterp.models import TransformerConfig
from modinterp.runs import load, states, store, train
from modinterp.runs.check import checked, lines, names_of_all
from modinterp.runs.damage import DamagedRun
from modinterp.runs.lease import is_held
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec

TASK = addition(5)
SPEC = RunSpec(TASK, TransformerConfig.of(TASK, d_model=8, n_heads=2, d_head=4, d_mlp=12),
               Recipe(epochs=40, log_every=5, snapshot_every=10, spectra_every=10), seed=2)  # fmt: skip
HALF = replace(SPEC, recipe=replace(SPEC.recipe, epochs=20))
EARLY = str(store.snapshot_path(Path(), 10))
ALL = [store.FINAL, store.HISTORY, store.SPECTRA, EARLY]


def carried_out(out: Path, spec: RunSpec = SPEC, name: str = "a/run", **options: object) -> dict:
    return train({name: spec}, out, device="cpu", progress=False, state_every=0, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole")
    carried_out(out)
    return out


@pytest.fixture
def out(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "trained")
    return tmp_path / "trained"


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("half")
    carried_out(out, HALF)
    return out


def flip(path: Path, place: int | None = None) -> None:
    """Turn a bit of a file, by default one of its first array where it has arrays."""
    content = bytearray(path.read_bytes())
    if place is None:
        place = 8 + int.from_bytes(content[:8], "little") if path.suffix == ".safetensors" else -3
    content[place] ^= 1
    path.write_bytes(content)


def same_files(one: Path, other: Path) -> None:
    for file in [*ALL, *(str(store.snapshot_path(Path(), e)) for e in (0, 20, 30, 40))]:
        assert (one / "a/run" / file).read_bytes() == (other / "a/run" / file).read_bytes(), file
    records = [json.loads((out / "a/run" / store.RECORD).read_text()) for out in (one, other)]
    assert records[0]["sha256"] == records[1]["sha256"]


@pytest.mark.parametrize("file", [store.FINAL, store.HISTORY, store.RECORD])
@pytest.mark.parametrize("how", ["flipped", "cut", "deleted"])
def test_files_of_a_finished_run_are_written_again_from_its_state(whole: Path, out: Path, file: str, how: str) -> None:
    path = out / "a/run" / file
    if how == "flipped":
        flip(path, 1 if file == store.RECORD else None)
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:-10])
    else:
        path.unlink()
    assert bool(checked("a/run", out).damages) == (how != "deleted" or file != store.RECORD)
    carried_out(out)
    same_files(whole, out)
    assert not checked("a/run", out).damages


@pytest.mark.parametrize("file", [EARLY, store.SPECTRA])
@pytest.mark.parametrize("delete", [True, False])
def test_what_only_training_anew_can_give_asks_for_it(whole: Path, out: Path, file: str, delete: bool) -> None:
    path = out / "a/run" / file
    path.unlink() if delete else flip(path)
    with pytest.raises(DamagedRun, match=r"(10|spectra)\.safetensors .*`train --repair` trains the run again"):
        carried_out(out)
    assert [damage.file for damage in checked("a/run", out).damages] == [file]
    carried_out(out, repair=True)
    same_files(whole, out)


@pytest.mark.parametrize("file", [EARLY, store.SPECTRA])
def test_no_damaged_file_of_a_run_that_goes_on_is_vouched_for(
    half: Path, tmp_path: Path, file: str, whole: Path
) -> None:
    shutil.copytree(half, out := tmp_path / "trained")
    flip(out / "a/run" / file)
    with pytest.raises(DamagedRun):
        carried_out(out)
    (out / "a/run" / file).unlink()
    with pytest.raises(DamagedRun):
        carried_out(out)
    carried_out(out, repair=True)
    same_files(whole, out)


def test_a_log_damaged_in_its_last_entry_is_mended_from_the_state_before(whole: Path, out: Path) -> None:
    flip(out / "a/run" / store.SPECTRA, -1)
    carried_out(out)
    same_files(whole, out)


def test_a_snapshot_damaged_while_its_run_trains_is_not_vouched_for(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = store.write_snapshot

    def damaging(folder: Path, state, before=None) -> str:
        digest = write(folder, state, before)
        if state.epoch == 10:
            flip(store.snapshot_path(folder, 10))
        return digest

    monkeypatch.setattr(store, "write_snapshot", damaging)
    carried_out(tmp_path)
    with pytest.raises(ValueError, match="is not the file that was written"):
        load("a/run", root=tmp_path).snapshots[10]


@pytest.mark.parametrize("keep", [0, 100, 0.5])
def test_a_damaged_state_gives_way_to_the_one_before(
    whole: Path, half: Path, tmp_path: Path, keep: float, capsys: pytest.CaptureFixture
) -> None:
    shutil.copytree(half, out := tmp_path / "trained")
    path = out / "a/run" / states.STATE
    content = path.read_bytes()
    path.write_bytes(content[: int(keep if keep >= 1 or keep == 0 else keep * len(content))])
    carried_out(out)
    assert "state.safetensors is not a complete state of a training" in capsys.readouterr().err
    same_files(whole, out)


def test_a_damaged_backup_blocks_nothing(whole: Path, half: Path, tmp_path: Path) -> None:
    shutil.copytree(half, out := tmp_path / "trained")
    (out / "a/run" / states.BEFORE).write_bytes(b"rubbish")
    carried_out(out)
    same_files(whole, out)


def test_without_a_whole_state_a_run_begins_anew_when_it_is_asked_to(whole: Path, half: Path, tmp_path: Path) -> None:
    shutil.copytree(half, out := tmp_path / "trained")
    for name in (states.STATE, states.BEFORE):
        flip(out / "a/run" / name)
    with pytest.raises(DamagedRun, match="and 1 more"):
        carried_out(out)
    carried_out(out, repair=True)
    same_files(whole, out)


def test_one_bad_run_does_not_stop_the_others(out: Path) -> None:
    (out / "a/run" / EARLY).unlink()
    told: list[str] = []
    specs = {"a/run": SPEC, "a/other": replace(HALF, seed=3)}
    ended = train(
        specs, out, device="cpu", progress=False, on_refused=lambda name, error: told.append(f"{name}: {error}")
    )
    assert list(ended) == ["a/other"]
    assert len(told) == 1
    assert told[0].startswith("a/run: ")
    assert load("a/other", root=out).history["epoch"].max() == 20


def test_files_that_are_not_ours_are_left_alone(whole: Path, half: Path, tmp_path: Path) -> None:
    shutil.copytree(half, out := tmp_path / "trained")
    folder = out / "a/run"
    strange = [folder / "snapshots/epoch-000050 (1).safetensors", folder / "snapshots/epoch-x.safetensors",
               folder / "notes.txt", folder / "snapshots/.DS_Store", folder / "run (1).json"]  # fmt: skip
    for path in strange:
        path.write_text("mine")
    (folder / ".0123456789abcdef.part").write_text("of a process that was killed")
    carried_out(out)
    same_files(whole, out)
    assert all(path.read_text() == "mine" for path in strange)
    assert not list(folder.rglob("*.part"))
    assert not checked("a/run", out).damages
    assert list(load("a/run", root=out).snapshots) == [0, 10, 20, 30, 40]


def test_measured_progress_stays_where_the_rest_is_mended(out: Path) -> None:
    from modinterp.publish.publishing import publish

    publish("a/run", out, out.parent / "published")
    progress = (out / "a/run" / store.PROGRESS).read_bytes()
    flip(out / "a/run" / store.FINAL)
    carried_out(out)
    assert (out / "a/run" / store.PROGRESS).read_bytes() == progress
    assert load("a/run", root=out).progress is not None
    flip(out / "a/run" / store.PROGRESS)
    carried_out(out)
    assert load("a/run", root=out).progress is None


def test_states_of_earlier_versions_go_on(whole: Path, half: Path, tmp_path: Path) -> None:
    shutil.copytree(half, out := tmp_path / "trained")
    for name in (states.STATE, states.BEFORE):
        tensors, metadata = states.read_safetensors(out / "a/run" / name)
        del metadata["files"], metadata["sha256"]
        again = metadata | {"sha256": states.digest(tensors, metadata)}
        store.write_weights(out / "a/run" / name, tensors, again)
    carried_out(out)
    same_files(whole, out)


def test_the_table_of_a_check_names_what_is_damaged(out: Path, half: Path) -> None:
    shutil.copytree(half / "a/run", out / "b/half")
    (out / "b/half" / store.RECORD).unlink()
    flip(out / "a/run" / EARLY)
    assert names_of_all(out) == ["a/run", "b/half"]
    damaged, fine = (checked(name, out) for name in names_of_all(out))
    assert (damaged.stands, fine.stands) == ("finished, epoch 40", "in training, epoch 20")
    text = list(lines([damaged, fine]))
    assert text[0].split() == ["run", "state", "files", "found"]
    assert "1 damaged" in text[1]
    assert "epoch-000010.safetensors is not the file that was written" in text[2]
    assert text[3].endswith("whole")


@pytest.mark.parametrize("file", [states.STATE, ".lease-7", store.FINAL, store.RECORD])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(out: Path, file: str) -> None:
    (out / "a/run" / file).unlink(missing_ok=True)
    os.mkfifo(out / "a/run" / file)
    assert {damage.file for damage in checked("a/run", out).damages} == {file} & {states.STATE, store.FINAL}
    assert is_held(out / "a/run") == (file == ".lease-7"), "for a minute, as by every lease that says nothing"


def test_a_run_beyond_what_is_asked_is_not_trained_anew(out: Path) -> None:
    for name in (states.STATE, states.BEFORE):
        (out / "a/run" / name).unlink()
    for repair in (True, False):
        with pytest.raises(ValueError, match="has been trained to epoch 40 already, beyond 20"):
            carried_out(out, HALF, repair=repair)
        with pytest.raises(ValueError, match="other settings"):
            carried_out(out, replace(SPEC, recipe=replace(SPEC.recipe, epochs=60)), repair=repair)
    carried_out(out)
