"""Every kind of batch and task trains, and does what its recipe says."""

from __future__ import annotations

import math

import pytest
import torch

from modinterp.models import MLPConfig, TransformerConfig, hooked
from modinterp.models.operations import FAST
from modinterp.tasks import (
    DigitAddition,
    ModularArithmetic,
    Ordering,
    PrimeRemainders,
    RepeatedSubsequence,
    SkipTrigram,
    Task,
    addition,
)
from modinterp.training import ExecutionMode, Recipe, RunSpec, TrainingState, training_states
from modinterp.training.batches import Batches, batches_of
from modinterp.training.engine import faster_mode

SIZES = {"d_model": 16, "n_heads": 2, "d_head": 8}
TASKS: dict[str, Task] = {
    "remainders": PrimeRemainders(11),
    "digits": DigitAddition(digits=2, size=60),
    "repeated": RepeatedSubsequence(vocab=12, length=14, subsequence=4, copies=2, size=60),
    "trigram": SkipTrigram(length=5, size=60),
    "max": Ordering("max", n=3, limit=10, size=60),
    "sort": Ordering("sort", n=3, limit=10, size=60),
}  # fmt: skip
BATCHES = {"full": 0, "fixed": 16, "shuffled": 16, "fresh": 16}


def spec(task: Task, batches: str = "full", seed: int = 0, layers: int = 1, **recipe) -> RunSpec:
    given = {"epochs": 20, "log_every": 5, "snapshot_every": 10, "fraction": 0.5, "lr": 1e-2, "warmup": 0} | recipe
    config = TransformerConfig.of(task, **SIZES, n_layers=layers, d_mlp=None if isinstance(task, SkipTrigram) else 24)
    return RunSpec(task, config, Recipe(batches=batches, batch_size=BATCHES[batches], **given), seed)


def states_of(
    one: RunSpec, mode: ExecutionMode | None = None, begun: TrainingState | None = None
) -> list[TrainingState]:
    return [s for _, s in training_states([one], None if begun is None else [begun], device="cpu", mode=mode)]


@pytest.mark.parametrize("mode", [ExecutionMode.SEQUENTIAL, ExecutionMode.VMAPPED])
@pytest.mark.parametrize("batches", BATCHES)
@pytest.mark.parametrize("name", TASKS)
def test_training_lowers_the_loss_and_goes_on_from_any_state(name: str, batches: str, mode: ExecutionMode) -> None:
    layers = 2 if name == "repeated" else 1
    one = spec(TASKS[name], batches, layers=layers, dropout=0.1, epochs=10, snapshot_every=5)
    whole = states_of(one, mode)
    assert whole[-1].history[-1]["train_loss"] < whole[0].history[0]["train_loss"]
    *_, last = states_of(one, mode, whole[1])
    assert all(torch.equal(w, whole[-1].weights[n]) for n, w in last.weights.items())
    assert last.history == whole[-1].history


def test_columns_of_history_follow_every_named_answer() -> None:
    *_, last = states_of(spec(TASKS["remainders"]))
    row = last.history[-1]
    named = [f"test_loss_mod_{q}" for q in (2, 3, 5, 7)]
    weighted = sum(row[name] / math.log(q) / 4 for name, q in zip(named, (2, 3, 5, 7), strict=True))
    assert row["test_loss"] == pytest.approx(weighted, rel=1e-7)
    accuracies = [row[f"train_accuracy_mod_{q}"] for q in (2, 3, 5, 7)]
    assert row["train_accuracy"] == pytest.approx(sum(accuracies) / 4)
    *_, digits = states_of(spec(TASKS["digits"]))
    mean = sum(digits.history[-1][f"test_loss_digit_{place}"] for place in range(3)) / 3
    assert digits.history[-1]["test_loss"] == pytest.approx(mean, rel=1e-7)


@pytest.mark.parametrize("batches", ["full", "fixed"])
def test_where_some_positions_are_asked_the_losses_are_those_of_the_hooked_network(batches: str) -> None:
    one = spec(TASKS["repeated"], batches, layers=2)
    *_, last = states_of(one)
    network = hooked(one.model, last.weights)
    for part, rows in zip(("train", "test"), one.split, strict=True):
        logits, labels = network(one.task.inputs()[rows]).flatten(0, 1), one.task.labels()[rows].flatten()
        loss = torch.nn.functional.cross_entropy(logits.double(), labels, ignore_index=-1)
        assert last.history[-1][f"{part}_loss"] == pytest.approx(loss.item(), rel=1e-5)


def batches_for(one: RunSpec) -> Batches:
    (found,) = batches_of([one], torch.device("cpu"), False, FAST)
    return found


def test_fixed_batches_cover_the_training_set_once_in_turn() -> None:
    found = batches_for(spec(TASKS["trigram"], "fixed"))
    labels = [found.at(step).labels for step in (0, 1)]
    assert [int((part >= 0).sum()) for part in labels] == [16, 14]
    assert torch.equal(found.at(2).labels, labels[0])
    assert torch.equal(torch.cat(labels)[:30], found.train_sample(0).labels)


def test_shuffled_batches_hold_training_data_and_fresh_ones_new_data() -> None:
    one = spec(TASKS["max"], "shuffled")
    found, train = batches_for(one), one.task.inputs()[one.task.split(0.5, 0).train]
    known = {tuple(row) for row in train[:, :-1].tolist()}  # CLS, which all have, is looked up once
    offsets = one.task.d_vocab * torch.arange(one.task.n_ctx)
    for step in range(3):
        assert {tuple(row) for row in (found.at(step).index["rows"] - offsets[:-1]).tolist()} <= known
    assert not torch.equal(found.at(0).labels, found.at(1).labels)
    fresh = batches_for(spec(TASKS["max"], "fresh"))
    rows = {tuple(row) for step in range(10) for row in (fresh.at(step).index["rows"] - offsets).tolist()}
    assert len(rows) > 100


def test_dropout_acts_in_training_alone_and_only_where_it_is_set() -> None:
    task = addition(11)
    plain, *dropped = (states_of(spec(task, **kind)) for kind in ({}, {"dropout": 0.5}, {"residual_dropout": 0.5}))
    for states in dropped:
        assert states[0].history[0] == plain[0].history[0]
        assert states[-1].history[-1]["train_loss"] > plain[-1].history[-1]["train_loss"]


def test_a_pair_mlp_trains_too() -> None:
    task = ModularArithmetic(7, equals=False)
    one = RunSpec(task, MLPConfig.of(task, d_model=16, d_mlp=32), Recipe(epochs=300, snapshot_every=300, dropout=0.1))
    for mode in (ExecutionMode.SEQUENTIAL, ExecutionMode.VMAPPED):
        assert states_of(one, mode)[-1].history[-1]["train_accuracy"] == 1


def test_masked_heads_are_not_trained() -> None:
    task = PrimeRemainders(11, masked=(2,))
    first, *_, last = states_of(spec(task, weight_decay=0.0))
    moved = {n: (last.weights[n] != w) for n, w in first.weights.items()}["unembed.W_U"]
    assert not moved[:, :2].any()
    assert moved[:, 2:].any()


def test_runs_of_different_shapes_or_epochs_do_not_train_together() -> None:
    one = spec(addition(11))
    with pytest.raises(ValueError, match="only runs of one shape"):
        list(training_states([one, spec(addition(7))], device="cpu"))
    states = states_of(one)
    with pytest.raises(ValueError, match="only runs at the same epoch"):
        list(training_states([one, one], [states[0], states[1]], device="cpu"))


def test_small_networks_are_mapped_over_and_large_ones_trained_one_by_one() -> None:
    large = addition(113)
    assert faster_mode(spec(addition(11))) is ExecutionMode.VMAPPED
    assert faster_mode(RunSpec(large, TransformerConfig.of(large), Recipe())) is ExecutionMode.SEQUENTIAL
