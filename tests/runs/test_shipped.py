"""What is shipped: every file is the one that was written, and the progress measures are those of its snapshots."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from loops import check_each

from modinterp.analyses.fourier.frequencies import key_frequencies
from modinterp.analyses.training.progress import progress_measures
from modinterp.publish.publishing import has_progress
from modinterp.runs import TrainedRun, load, store
from modinterp.sources.registry import catalogue, spec
from modinterp.training import training_states

SHIPPED = [name for name in catalogue() if (store.checkpoints() / name / store.RECORD).is_file()]
WITHOUT_PROGRESS = {  # whose snapshots were not kept
    "groups/a5-mlp-2",
    "nanda/two-layers-3",
    "nanda/two-layers-4",
}


def test_the_mainline_is_shipped() -> None:
    assert "nanda/mainline-0" in SHIPPED


def files_verify_and_fit(name: str) -> None:
    folder = store.checkpoints() / name
    record = store.read_record(folder)
    for file in record["sha256"]:
        store.verify(folder, record, file)
    run = load(name)
    assert run.spec == spec(name)
    assert run.history["epoch"].iloc[-1] == record["epoch"] <= spec(name).recipe.epochs
    assert record["epoch"] == spec(name).recipe.epochs or spec(name).recipe.stop_at
    assert run.history["epoch"].is_monotonic_increasing
    holds_out = spec(name).recipe.fraction < 1
    if has_progress(run.task) and holds_out and name not in WITHOUT_PROGRESS:
        assert run.progress is not None
        assert len(run.progress) >= math.ceil(record["epoch"] / spec(name).recipe.snapshot_every) + 1


@pytest.mark.parametrize("source", sorted({name.partition("/")[0] for name in SHIPPED}))
def test_files_verify_and_fit_the_catalogue(source: str) -> None:
    check_each([name for name in SHIPPED if name.startswith(f"{source}/")], files_verify_and_fit)


def test_progress_is_what_the_shipped_weights_give(mainline: TrainedRun) -> None:
    shipped = mainline.progress.set_index("epoch")
    keys = key_frequencies(mainline.network.W_L).freqs
    last = progress_measures([(40_000, mainline.network)], mainline.task, mainline.split, keys).set_index("epoch")
    assert list(last.columns) == list(shipped.columns)
    assert last.loc[40_000].tolist() == pytest.approx(shipped.loc[40_000].tolist(), rel=1e-6, abs=1e-12)
    assert len(mainline.snapshots) >= 12
    networks = ((epoch, mainline.at(epoch)) for epoch in mainline.snapshots)
    again = progress_measures(networks, mainline.task, mainline.split, keys).set_index("epoch")
    for column in again:  # as far as rounding to float16 moves them
        wanted = shipped.loc[again.index, column]
        off = 0.02 if "accuracy" in column else 1e-3 * wanted.abs().max()  # which of all pairs are right is coarse
        assert again[column].tolist() == pytest.approx(wanted.tolist(), rel=0.01, abs=off), column


def test_history_agrees_with_progress(mainline: TrainedRun) -> None:
    both = mainline.history.merge(mainline.progress, on="epoch", suffixes=("", "_float64"))
    assert len(both) == 401
    for name in ("train_loss", "test_loss"):
        assert both[name].tolist() == pytest.approx(both[f"{name}_float64"].tolist(), rel=2e-3)


def test_mainline_begins_as_the_catalogue_says_and_its_first_epochs_can_be_trained_again(mainline: TrainedRun) -> None:
    recipe_of_source = spec("nanda/mainline-0")
    assert all(torch.equal(w, recipe_of_source.initial_weights()[n].half()) for n, w in mainline.snapshots[0].items())
    short = replace(recipe_of_source, recipe=replace(recipe_of_source.recipe, epochs=40))
    *_, (_, last) = training_states([short], device="cpu")
    shipped = mainline.history.set_index("epoch")
    for row in last.history:
        for name in ("train_loss", "test_loss", "sum_of_squared_weights"):
            assert row[name] == pytest.approx(shipped.loc[row["epoch"], name], rel=1e-3), (row["epoch"], name)
