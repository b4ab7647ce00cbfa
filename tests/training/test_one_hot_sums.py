"""Networks of summed one-hot tokens: their initial weights, both orders of a pair as one example, plain descent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import modinterp as mi
from modinterp.models import MLPConfig, from_state_dict, hooked, initial_weights
from modinterp.runs import load, train
from modinterp.tasks import RandomLabels, addition
from modinterp.training import Recipe, RunSpec, training_states
from modinterp.training.batches import parts_of

P = 7
TASK = addition(P, equals=False)
MODEL = MLPConfig.of(TASK, one_hot=True, d_mlp=40, init="left-facing", init_scale=0.1)
RECIPE = Recipe(epochs=30, fraction=0.7, lr=0.5, weight_decay=0.01, optimiser="sgd", log_every=10, snapshot_every=10)
SPEC = RunSpec(TASK, MODEL, RECIPE, 3)


def test_weights_are_drawn_as_code_of_column_vectors_draws_them() -> None:
    torch.manual_seed(5)
    W_in, W_out = (0.1 * torch.randn(shape) / P**0.5 for shape in ((40, P), (P, 40)))
    weights = initial_weights(MODEL, 5)
    torch.testing.assert_close(weights["blocks.0.mlp.W_in"], W_in.T)
    torch.testing.assert_close(weights["unembed.W_U"], W_out.T)
    wide = MLPConfig.of(TASK, d_model=256, d_mlp=400, init="left-facing", init_scale=0.1)
    stds = {name: w.std().item() for name, w in initial_weights(wide, 5).items()}
    assert stds["embed.W_E"] == pytest.approx(1 / 16, rel=0.05)
    assert stds["blocks.0.mlp.W_in"] == pytest.approx(0.1 / 16, rel=0.05)


def test_neurons_begin_with_one_frequency_each_dealt_out_equally() -> None:
    weights = initial_weights(replace(MODEL, init="single frequency", d_mlp=30), 5)
    for w in (weights["blocks.0.mlp.W_in"].T, weights["unembed.W_U"]):
        spectrum = torch.fft.rfft(w.double()).abs() * 2 / P
        torch.testing.assert_close(spectrum.amax(dim=1), torch.full((30,), 0.1).double(), rtol=1e-5, atol=0)
        torch.testing.assert_close(spectrum.square().sum(dim=1), torch.full((30,), 0.01).double(), rtol=1e-5, atol=0)
        assert torch.equal(spectrum.argmax(dim=1).bincount(), torch.tensor([0, 10, 10, 10]))


@pytest.mark.parametrize("change", [{"one_hot": False}, {"joined": "concatenated"}, {"unembed_bias": True}])
def test_cosines_are_refused_where_there_is_no_place_for_them(change: dict[str, bool | str]) -> None:
    with pytest.raises(ValueError, match="single frequency"):
        replace(MODEL, init="single frequency", **change)
    with pytest.raises(ValueError, match="d_model 7"):
        replace(MODEL, d_model=8)


def test_steps_are_those_of_plain_descent_on_all_ordered_pairs() -> None:
    """Against torch's own optimiser and its mean loss over the pairs as they stand."""
    weights = {name: w.clone().requires_grad_() for name, w in SPEC.initial_weights().items()}
    W_in, W_U = weights["blocks.0.mlp.W_in"], weights["unembed.W_U"]
    optimiser = torch.optim.SGD([W_in, W_U], lr=RECIPE.lr, weight_decay=RECIPE.weight_decay)
    rows = SPEC.split.train
    a, b = TASK.inputs()[rows].T
    for step in range(RECIPE.epochs):
        optimiser.param_groups[0]["lr"] = RECIPE.lr * min(step / 10, 1)
        logits = (W_in[a] + W_in[b]).relu() @ W_U
        loss = torch.nn.functional.cross_entropy(logits.double(), TASK.answers()[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    (*_, (_, ended)) = training_states([SPEC], device="cpu")
    assert not ended.moments
    for name, w in weights.items():
        torch.testing.assert_close(ended.weights[name], w.detach(), rtol=1e-4, atol=1e-6)
    right = (hooked(MODEL, ended.weights)(TASK.inputs())[:, -1].argmax(dim=-1) == TASK.answers())[rows]
    assert ended.history[-1]["train_accuracy"] == pytest.approx(right.double().mean().item())


def test_both_orders_of_a_pair_are_one_example_that_occurs_twice() -> None:
    train_part, test_part = parts_of(SPEC)
    pairs = P * P
    assert int(train_part.times.sum()) == int(0.7 * pairs)
    assert int(train_part.times.sum() + test_part.times.sum()) == pairs
    assert len(parts_of(replace(SPEC, recipe=replace(RECIPE, fraction=1.0)))[0].times) == P * (P + 1) // 2
    random = RunSpec(RandomLabels(P, equals=False), MODEL, replace(RECIPE, fraction=1.0))
    assert len(parts_of(random)[0].times) > P * (P + 1) // 2  # other labels, other examples
    mirrored = RandomLabels(P, equals=False, mirrored=True).labels().view(P, P)
    assert torch.equal(mirrored, mirrored.T)
    embedded = replace(SPEC, model=MLPConfig.of(TASK, d_mlp=40))
    assert bool((parts_of(embedded)[0].times == 1).all())


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
def test_it_goes_on_with_the_same_bits_and_is_loaded_and_measured(tmp_path: Path, optimiser: str) -> None:
    spec = replace(SPEC, recipe=replace(RECIPE, optimiser=optimiser, lr=0.05))
    states = [state for _, state in training_states([spec], device="cpu")]
    (*_, (_, again)) = training_states([spec], states[1:2], device="cpu")
    assert again.epoch == states[-1].epoch
    assert all(torch.equal(w, states[-1].weights[name]) for name, w in again.weights.items())
    train({"own/sums": spec}, tmp_path, device="cpu", progress=False)
    m = mi.measure(load("own/sums", root=tmp_path))
    assert torch.equal(m.model.W_E, torch.eye(P))
    assert set(m.model.state_dict()) == set(MODEL.shapes())
    torch.testing.assert_close(m.logits, m.logits.transpose(0, 1))


def test_a_file_of_two_left_facing_matrices_is_read() -> None:
    weights = SPEC.initial_weights()
    named = {"mlp.W_in": weights["blocks.0.mlp.W_in"].T, "mlp.W_out": weights["unembed.W_U"].T}
    for given in (named, weights):
        network = from_state_dict(given, TASK)
        torch.testing.assert_close(network(TASK.inputs()), hooked(MODEL, weights)(TASK.inputs()))
