"""The engine trains as the paper says, and goes on where it was stopped, to the last bit."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.tasks import addition
from modinterp.training import (
    Outcome,
    OutcomeKind,
    Recipe,
    RunSpec,
    TrainingState,
    cross_entropy,
    engine,
    resolved_device,
    training_states,
)

TASK = addition(11)
CONFIG = TransformerConfig.of(TASK, d_model=16, n_heads=2, d_head=8, d_mlp=32)


def states_of(one: RunSpec, begun: TrainingState | None = None) -> list[TrainingState]:
    """All states of one run, trained alone on the CPU."""
    return [state for _, state in training_states([one], None if begun is None else [begun], device="cpu")]


def spec(**recipe) -> RunSpec:
    return RunSpec(TASK, CONFIG, Recipe(**{"epochs": 30, "log_every": 5, "snapshot_every": 10} | recipe), seed=1)


def test_steps_are_those_of_a_plain_loop_over_the_hooked_network() -> None:
    """The paper's loop written out: LambdaLR warm-up, AdamW, float64 loss at the last position, full batch."""
    network = hooked(CONFIG, initial_weights(CONFIG, seed=1))
    split, labels = TASK.split(0.3, 1), TASK.labels()[:, 0]
    inputs = TASK.inputs()[split.train]
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1.0, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(step / 10, 1))
    losses = []
    for _ in range(30):
        logits = network(inputs)[:, -1].double()
        loss = torch.nn.functional.cross_entropy(logits, labels[split.train])
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    *_, last = states_of(spec(log_every=1))
    assert [row["train_loss"] for row in last.history][:30] == pytest.approx(losses, rel=1e-5)
    for name, weight in network.named_parameters():
        torch.testing.assert_close(last.weights[name], weight.detach(), rtol=1e-3, atol=1e-5)


def test_states_come_at_every_snapshot_epoch_with_history_up_to_it() -> None:
    states = states_of(spec())
    assert [state.epoch for state in states] == [0, 10, 20, 30]
    assert [row["epoch"] for row in states[-1].history] == [0, 5, 10, 15, 20, 25, 30]
    initial = initial_weights(CONFIG, seed=1)
    assert all(torch.equal(w, initial[name]) for name, w in states[0].weights.items())


def test_history_is_measured_on_the_network_of_its_epoch() -> None:
    *_, last = states_of(spec())
    network = hooked(CONFIG, last.weights)
    split, labels = TASK.split(0.3, 1), TASK.labels()[:, 0]
    for name, rows in (("train", split.train), ("test", split.test)):
        logits = network(TASK.inputs()[rows])[:, -1]
        assert last.history[-1][f"{name}_loss"] == pytest.approx(cross_entropy(logits, labels[rows]).item(), rel=1e-5)
        right = (logits.argmax(dim=-1) == labels[rows]).double().mean().item()
        assert last.history[-1][f"{name}_accuracy"] == pytest.approx(right)
    total = sum(w.double().square().sum().item() for w in last.weights.values())
    assert last.history[-1]["sum_of_squared_weights"] == pytest.approx(total)


@pytest.mark.parametrize("recipe", [{}, {"dropout": 0.2}, {"weight_decay": 0.0, "warmup": 0, "loss_dtype": "float32"}])
def test_going_on_from_any_state_gives_the_same_bits(recipe: dict) -> None:
    whole = states_of(spec(**recipe))
    for begun in whole[:-1]:
        *_, last = states_of(spec(**recipe), begun)
        assert all(torch.equal(w, whole[-1].weights[name]) for name, w in last.weights.items())
        assert last.history == whole[-1].history


def test_states_do_not_change_under_the_feet_of_whoever_keeps_them() -> None:
    states = training_states([spec()], device="cpu")
    _, first = next(states)
    before = {name: w.clone() for name, w in first.weights.items()}
    next(states)
    assert all(torch.equal(w, before[name]) for name, w in first.weights.items())


def test_a_small_network_memorises() -> None:
    *_, last = states_of(spec(epochs=400, snapshot_every=400, log_every=400))
    assert last.history[-1]["train_accuracy"] == 1
    assert last.history[-1]["train_loss"] < 0.1 < last.history[-1]["test_loss"]


def test_loss_that_is_not_finite_ends_the_run_with_its_last_good_weights() -> None:
    *before, last = states_of(spec(lr=1e30))
    assert last.ended == Outcome(OutcomeKind.NOT_FINITE, 5, "train_loss is nan")
    assert str(last.ended) == "train_loss is nan at epoch 5, not finite"
    assert last.epoch == before[-1].epoch == 0
    assert all(torch.equal(w, before[-1].weights[name]) for name, w in last.weights.items())


def test_training_on_everything_has_no_test_loss() -> None:
    *_, last = states_of(spec(fraction=1.0))
    assert last.history[-1]["test_loss"] != last.history[-1]["test_loss"]


def test_devices_that_are_not_there_are_named() -> None:
    assert resolved_device("cpu").type == "cpu"
    for device in ("warp", *(() if torch.cuda.is_available() else ("cuda",))):
        with pytest.raises(ValueError, match=f"device '{device}' is not available here"):
            resolved_device(device)


def test_spec_survives_json() -> None:
    import json

    original = replace(spec(dropout=0.5, betas=(0.8, 0.9)), seed=7)
    assert RunSpec.from_json(json.loads(json.dumps(original.to_json()))) == original


@pytest.mark.parametrize(
    "bad",
    [
        {"fraction": 0.0},
        {"dropout": 1.0},
        {"loss_dtype": "int8"},
        {"epochs": -1},
        {"log_every": 0},
        {"lr": -1.0},
        {"lr": float("nan")},
        {"weight_decay": float("inf")},
    ],
)
def test_bad_recipes_are_named(bad: dict) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(bad))} must be"):
        Recipe(**bad)


def test_network_that_does_not_fit_the_task_is_named() -> None:
    with pytest.raises(ValueError, match="needs d_vocab 14, but the network has 12"):
        RunSpec(addition(13), CONFIG, Recipe())


@pytest.mark.parametrize(
    "spoil",
    [lambda d: d.pop("seed"), lambda d: d["task"].update(kind="Quantum"), lambda d: d["recipe"].update(magic=1)],
)
def test_descriptions_that_are_no_specs_are_refused(spoil) -> None:
    data = spec().to_json()
    spoil(data)
    with pytest.raises(ValueError, match="seed|Quantum|magic"):
        RunSpec.from_json(data)


def test_steps_begun_before_states_are_given_change_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [spec(), replace(spec(epochs=15), seed=2)]
    usual = list(training_states(specs, device="cpu"))
    monkeypatch.setattr(engine.RunGroup, "runs_ahead", True)
    ahead = list(training_states(specs, device="cpu"))
    assert [(run, state.epoch, state.history, state.ended) for run, state in ahead] == [
        (run, state.epoch, state.history, state.ended) for run, state in usual
    ]
    for (_, ours), (_, theirs) in zip(ahead, usual, strict=True):
        assert all(torch.equal(ours.weights[name], theirs.weights[name]) for name in theirs.weights)
