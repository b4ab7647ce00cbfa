"""A network in one row: its numbers are those of the analyses that it gathers, of its last layer."""

from __future__ import annotations

import pytest
import torch

from modinterp.activations import activations, logits_with
from modinterp.analyses.fourier.frequencies import key_frequencies
from modinterp.analyses.network.summary import summary, without_skip
from modinterp.measurements import measure
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.tasks import addition

TASK = addition(7)


def network(n_layers: int):
    config = TransformerConfig.of(TASK, n_layers=n_layers, d_model=16, n_heads=2, d_head=8, d_mlp=24)
    return hooked(config, initial_weights(config, seed=1))


@pytest.mark.parametrize("n_layers", [1, 2])
def test_the_mean_in_place_of_the_last_skip_is_that_of_an_intervention(n_layers: int) -> None:
    model, last = network(n_layers).double(), f"blocks.{n_layers - 1}"
    grid = activations(model, TASK)
    mid = grid[f"{last}.hook_resid_mid"]
    left = without_skip(grid["logits"], mid, model.W_U.detach())
    replaced = {f"{last}.hook_resid_post": grid[f"{last}.hook_mlp_out"] + mid.mean(dim=(0, 1))}
    torch.testing.assert_close(left, logits_with(model, TASK, replaced))


@pytest.mark.parametrize("n_layers", [1, 2])
def test_summary_agrees_with_the_measurements_of_the_last_layer(n_layers: int) -> None:
    run = TrainedRun("some", TASK, network(n_layers).double())  # a summary is taken in the network's own precision
    m = measure(run, as_published=True)
    found = summary(run.model, TASK)
    assert found.keys == key_frequencies(run.model.W_L)
    assert found.logit_fve == pytest.approx(m.logit_fit.explained)
    assert found.direction_fves == pytest.approx([row.explained for row in m.readoff.rows])
    assert found.original.loss == pytest.approx(m.ablated("original").loss)
    if n_layers == 1:
        assert found.without_skip.loss == pytest.approx(m.ablated("skip around MLP mean").loss)
    assert found.mean_fve == pytest.approx(sum(found.direction_fves) / len(found.direction_fves), rel=1e-12)


@pytest.mark.long
def test_summary_of_the_mainline_is_what_its_claims_say(mainline: TrainedRun) -> None:
    found = measure(mainline).summary
    last = mainline.progress.iloc[-1]
    assert (found.gini_W_E, found.gini_W_L) == pytest.approx((last["gini_W_E"], last["gini_W_L"]), rel=1e-6)
    assert found.excluded_loss == pytest.approx(last["excluded_loss_train"], rel=1e-4)
    assert found.original.accuracy == 1
    assert 1 < found.without_skip.loss_ratio < 10


def test_only_the_hooks_asked_for_are_kept() -> None:
    model = network(2)
    some = activations(model, TASK, ("blocks.1.mlp.hook_post",))
    assert set(some.cache_dict) == {"blocks.1.mlp.hook_post", "logits"}
    torch.testing.assert_close(some["blocks.1.mlp.hook_post"], activations(model, TASK)["blocks.1.mlp.hook_post"])
