"""A run that is still in training can be looked at, as of its last whole state."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from modinterp.activations.spectra import spectra
from modinterp.models import TransformerConfig
from modinterp.runs import load, states, store, train
from modinterp.tasks import addition
from modinterp.training import Outcome, OutcomeKind, Recipe, RunSpec, training_states

TASK = addition(5)
SPEC = RunSpec(TASK, TransformerConfig.of(TASK, d_model=8, n_heads=2, d_head=4, d_mlp=12, unlabelled_outputs=1),
               Recipe(epochs=40, log_every=5, snapshot_every=10, spectra_every=10), seed=2)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A training that was written as the trainer writes it, and killed: a state at 20, and more at 30."""
    folder = tmp_path / "mine/0"
    folder.mkdir(parents=True)
    log = None
    for _, state in training_states([SPEC], device="cpu"):
        store.write_snapshot(folder, state)
        network_of_epoch = load_network(state.weights)
        new = spectra(network_of_epoch, TASK, state.epoch)
        log = new if log is None else log.then(new)
        store.write_spectra(folder, log)
        if state.epoch == 30:
            break
        states.write_state(folder, SPEC, state, seconds=1.0)
    return folder


def load_network(weights):
    from modinterp.models import hooked

    return hooked(SPEC.model, weights)


def test_an_unfinished_run_opens_at_its_last_state(folder: Path, tmp_path: Path) -> None:
    run = load("mine/0", root=tmp_path, partial=True)
    assert run.in_training
    assert run.outcome is None
    assert run.spec == SPEC
    assert run.history["epoch"].tolist() == [0, 5, 10, 15, 20]
    assert list(run.snapshots) == [0, 10, 20]
    assert run.spectra is not None
    assert run.spectra.epochs.tolist() == [0, 10, 20]
    assert torch.equal(run.network.W_U, run.snapshots[20]["unembed.W_U"][:, :5])
    assert torch.equal(run.at(10).W_E, run.snapshots[10]["embed.W_E"])
    assert repr(run).endswith("3 snapshots, in training")
    assert load(folder, partial=True).history.equals(run.history)


def test_without_partial_it_is_said_where_it_stands(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"no trained run in .*in training, at epoch 20: load\(..., partial=True\)"
    ):
        load("mine/0", root=tmp_path)


def test_a_damaged_state_gives_way_to_the_one_before(folder: Path, tmp_path: Path) -> None:
    path = folder / states.STATE
    path.write_bytes(path.read_bytes()[:-10])
    assert load("mine/0", root=tmp_path, partial=True).history["epoch"].max() == 10
    path.unlink()  # as while a state is being written
    assert load("mine/0", root=tmp_path, partial=True).history["epoch"].max() == 10
    (folder / states.BEFORE).write_bytes(b"")
    with pytest.raises(ValueError, match="is not a complete state of a training"):
        load("mine/0", root=tmp_path, partial=True)


def test_a_finished_run_opens_as_ever_and_one_that_is_trained_on_as_it_is_now(tmp_path: Path) -> None:
    short = replace(SPEC, recipe=replace(SPEC.recipe, epochs=20))
    train({"mine/0": short}, tmp_path, device="cpu", progress=False)
    run = load("mine/0", root=tmp_path, partial=True)
    assert not run.in_training
    assert run.outcome == Outcome(OutcomeKind.EPOCHS_OVER, 20)
    for _, state in training_states([SPEC], device="cpu"):
        if state.epoch == 30:
            states.write_state(tmp_path / "mine/0", SPEC, state, seconds=1.0)
            break
    assert load("mine/0", root=tmp_path, partial=True).history["epoch"].max() == 30
    assert load("mine/0", root=tmp_path).history["epoch"].max() == 20


def test_nothing_there_is_said_in_one_line(tmp_path: Path) -> None:
    for partial in (False, True):
        with pytest.raises(
            FileNotFoundError, match="no trained run in .*`python -m modinterp.runs list` shows what can"
        ):
            load("mine/none", root=tmp_path, partial=partial)


def test_states_of_earlier_versions_are_read(folder: Path, tmp_path: Path) -> None:
    """Their metadata have the sentence, and no JSON."""
    state = states.read_states(folder, SPEC)[0][0].state
    sentence = "train_loss is nan at epoch 25, not finite"
    tensors, metadata = states.read_safetensors(folder / states.STATE)
    metadata["ended"] = sentence
    metadata.pop("sha256")
    store.write_weights(folder / states.STATE, tensors, metadata | {"sha256": states.digest(tensors, metadata)})
    again = states.read_states(folder, SPEC)[0][0].state
    assert str(again.ended) == sentence
    assert again.history == state.history
