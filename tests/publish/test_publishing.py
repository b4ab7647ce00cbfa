from __future__ import annotations

import copy
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from pandas.testing import assert_frame_equal

from modinterp.commands.publish import main
from modinterp.models import TransformerConfig
from modinterp.publish import publishing
from modinterp.publish.publishing import has_progress, publish
from modinterp.runs import NotRecorded, load, states, store, train
from modinterp.runs.recorded_results import Recorded
from modinterp.tasks import Group, Ordering, PrimeRemainders, addition
from modinterp.training import Nudge, Recipe, RunSpec

TASK = addition(7)
SPEC = RunSpec(TASK, TransformerConfig.of(TASK, d_model=16, n_heads=2, d_head=8, d_mlp=24),
               Recipe(epochs=200, log_every=20, snapshot_every=50))  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run own/small, trained by `SPEC`; tests read it here, and write elsewhere."""
    folder = tmp_path_factory.mktemp("trained")
    train({"own/small": SPEC}, folder, device="cpu", progress=False)
    return folder


def test_published_runs_verify_and_carry_their_progress(trained: Path, tmp_path: Path) -> None:
    folder = publish("own/small", trained, tmp_path / "shipped", snapshots=[])
    run = load("own/small", root=tmp_path / "shipped")
    assert run.progress is not None
    assert run.progress["epoch"].tolist() == list(range(0, 201, 50))
    assert_frame_equal(run.history, load("own/small", root=trained).history, rtol=1e-6)
    assert {0, 200} <= set(run.snapshots)
    assert all(torch.equal(w, run.model.state_dict()[name]) for name, w in run.snapshots[200].items())
    assert {"final.safetensors", "history.csv.gz", "progress.csv.gz", "run.json", "snapshots"} == {
        path.name for path in folder.iterdir()
    }
    assert max(store.snapshot_epochs(folder)) < 200, "the last snapshot is the final weights, and is not shipped twice"
    assert load(folder).spec == SPEC
    assert not (folder / states.STATE).exists()
    publish("own/small", trained, tmp_path / "shipped")
    assert list(load("own/small", root=tmp_path / "shipped").snapshots) == list(run.snapshots)
    publish("own/small", trained, tmp_path / "elsewhere")
    assert not load("own/small", root=tmp_path / "elsewhere").snapshots


def test_a_rounding_variant_carries_its_distance_from_the_run_it_is_a_variant_of(trained: Path, tmp_path: Path) -> None:
    nudged = replace(SPEC, nudge=Nudge("embed.W_E", 1))
    shutil.copytree(trained / "own/small", tmp_path / "trained/own/a")
    train({"own/b": nudged}, tmp_path / "trained", device="cpu", progress=False)
    publish("own/b", tmp_path / "trained", tmp_path / "shipped")
    distances = load("own/b", root=tmp_path / "shipped").progress["distance_from_unmoved"]
    assert 1e-9 < distances.iloc[0] < 1e-7, "one unit in the last place of one matrix"
    assert distances.iloc[-1] > 3 * distances.iloc[0]
    publish("own/a", tmp_path / "trained", tmp_path / "shipped")
    assert "distance_from_unmoved" not in load("own/a", root=tmp_path / "shipped").progress
    shutil.copytree(tmp_path / "trained/own/b", tmp_path / "elsewhere/alone/b")
    publish("alone/b", tmp_path / "elsewhere", tmp_path / "shipped")
    assert "distance_from_unmoved" not in load("alone/b", root=tmp_path / "shipped").progress


def test_snapshots_can_be_chosen_and_names_may_hold_stars(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    for name in "ab":
        shutil.copytree(trained / "own/small", tmp_path / "trained/own" / name)
    where = ["--runs", str(tmp_path / "trained"), "--out", str(tmp_path / "shipped")]
    assert main(["own/*", *where, "--snapshots", "50", "200"]) == 0
    for name in ("own/a", "own/b"):
        assert list(load(name, root=tmp_path / "shipped").snapshots) == [50, 200]
    assert main(["own/a", *where, "--snapshots", "200"]) == 0
    assert list(load("own/a", root=tmp_path / "shipped").snapshots) == [200], "the last one alone is kept, too"
    assert main(["own/a", *where, "--snapshots", "55"]) == 2
    assert "own/a has no snapshots of the epochs [55]" in capsys.readouterr().err


def test_a_task_without_a_grid_is_published_without_progress(tmp_path: Path) -> None:
    task = Ordering("max", n=2, limit=5, size=20)
    spec = RunSpec(task, TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=None), Recipe(epochs=10))
    train({"own/max": spec}, tmp_path / "trained", device="cpu", progress=False)
    publish("own/max", tmp_path / "trained", tmp_path / "shipped")
    run = load("own/max", root=tmp_path / "shipped")
    assert run.progress is None
    assert run.spec == spec


def test_progress_is_measured_on_grids_of_one_question_that_fit() -> None:
    assert has_progress(addition(113))
    assert has_progress(Group("S5"))
    assert not has_progress(addition(401))
    assert not has_progress(PrimeRemainders(11))
    assert not has_progress(Ordering("max", n=2, limit=5, size=20))


def test_float16_halves_the_final_weights_and_leaves_the_rest(trained: Path, tmp_path: Path) -> None:
    publish("own/small", trained, tmp_path / "whole")
    publish("own/small", trained, tmp_path / "half", float16=True)
    whole, half = (load("own/small", root=tmp_path / kind) for kind in ("whole", "half"))
    assert all(torch.equal(w.half().float(), half.model.state_dict()[n]) for n, w in whole.model.state_dict().items())
    assert half.history.equals(whole.history)
    assert half.progress.equals(whole.progress)


def test_tables_alone_can_be_shipped_and_the_run_says_that_its_weights_are_not(trained: Path, tmp_path: Path) -> None:
    folder = publish("own/small", trained, tmp_path / "shipped", snapshots=[], tables=True)
    assert {"history.csv.gz", "measured.json.gz", "progress.csv.gz", "run.json"} == {
        path.name for path in folder.iterdir()
    }
    run = load(folder)
    assert run.spec == SPEC
    assert not run.has_weights
    assert not run.snapshots
    assert "no weights, epoch 200" in repr(run)
    assert run.history["epoch"].iloc[-1] == 200
    assert run.model is None
    assert not hasattr(run.model, "W_E")
    assert copy.deepcopy(run).history.equals(run.history)
    for use in (lambda: run.network, run.activations, lambda: run.at(100)):
        with pytest.raises(NotRecorded, match="came with its history, not with its weights"):
            use()
    with pytest.raises(NotRecorded, match="`measure` returns the measurements .*runs train own/small`"):
        run.network  # noqa: B018
    assert run.at_start().has_weights
    trained = load("own/small", root=trained)
    assert trained.has_weights
    again = pickle.loads(pickle.dumps(trained))
    assert torch.equal(again.snapshots[100]["embed.W_E"], trained.snapshots[100]["embed.W_E"])


def test_what_claims_measure_is_measured_again(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    root = tmp_path / "shipped"
    for name in "ab":
        shutil.copytree(trained / "own/small", tmp_path / "trained/own" / name)
    folder = publish("own/a", tmp_path / "trained", root, snapshots=[], measured=True)
    publish("own/b", tmp_path / "trained", root, tables=True)
    path = folder / (store.MEASURED + store.PACKED)
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    record, outcome = store.read_record(folder), load(folder).outcome
    digest = store.write_packed(folder / store.MEASURED, Recorded({}, {"nanda.C1": {"accuracy": (0.5,)}}).to_bytes())
    written = record["sha256"] | {path.name: digest}
    store.write_record(folder, SPEC, record["epoch"], outcome, record["seconds"], written)
    assert path.read_bytes() != before[path]
    assert main(["own/*", "--again", "--out", str(root)]) == 0
    assert capsys.readouterr().out.split() == [str(folder)], "tables alone are left as they are"
    assert {p: p.read_bytes() for p in root.rglob("*") if p.is_file()} == before
    assert main(["own/b", "--again", "--out", str(root)]) == 2
    assert "was not published with its weights and the measurements of claims" in capsys.readouterr().err
    assert main(["own/a", "--again", "--tables", "--out", str(root)]) == 2
    assert "it takes no --tables" in capsys.readouterr().err


def test_the_log_of_spectra_is_shipped_unless_it_is_left_out(tmp_path: Path) -> None:
    watched = replace(SPEC, recipe=replace(SPEC.recipe, spectra_every=100))
    train({"own/watched": watched}, tmp_path / "trained", device="cpu", progress=False)
    where = ["own/watched", "--runs", str(tmp_path / "trained"), "--out"]
    for out, extra, shipped in (("all", [], True), ("less", ["--no-spectra"], False)):
        assert main([*where, str(tmp_path / out), *extra]) == 0
        run = load("own/watched", root=tmp_path / out)
        assert (run.spectra is not None) == shipped
        assert run.spec == watched, "what is logged is no part of how a network is trained"
    assert load("own/watched", root=tmp_path / "trained").spectra is not None


def test_unfinished_runs_are_not_published(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["own/none", "--runs", str(tmp_path)]) == 2
    assert "no trained run in" in capsys.readouterr().err


def test_nothing_is_published_onto_itself_or_outside(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    (tmp_path / "precious").write_text("mine")
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    for name in ("own/small", str(tmp_path / "own/small")):
        with pytest.raises(ValueError, match="published onto itself|is not the name of a run"):
            publish(name, tmp_path, tmp_path)
    for name in (".", "..", "../own/small"):
        with pytest.raises(ValueError, match="is not the name of a run"):
            publish(name, tmp_path / "own/small", tmp_path)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before


def test_a_folder_of_something_else_is_not_replaced(trained: Path, tmp_path: Path) -> None:
    publish("own/small", trained, tmp_path / "out")
    notes = tmp_path / "out/own/small/notes.txt"
    notes.write_text("mine")
    with pytest.raises(ValueError, match="holds notes.txt, which is not a file of a run"):
        publish("own/small", trained, tmp_path / "out")
    assert notes.read_text() == "mine"


def test_what_is_published_stays_when_measuring_it_again_breaks_off(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "shipped"
    publish("own/small", trained, root, measured=True)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}

    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(publishing, "_write_record", stop)
    assert main(["own/small", "--again", "--out", str(root)]) == 130
    assert main(["own/small", "--runs", str(trained), "--out", str(root)]) == 130
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
