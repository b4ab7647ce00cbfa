"""Where analyses could go wrong without a word: networks that subtract, even moduli, other architectures."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from modinterp import models
from modinterp.analyses.attention import components
from modinterp.analyses.fourier import cosine_sums, readout
from modinterp.analyses.fourier.neurons import neuron_fits
from modinterp.analyses.fourier.transforms import fourier_basis
from modinterp.analyses.statistics import lines
from modinterp.analyses.training import progress
from modinterp.claims import Claim, at_least
from modinterp.runs import TrainedRun
from modinterp.tasks import ModularArithmetic, Split, addition

P = 13


class Ideal(models.Network):
    """Answers a task by two cosines, and has the weights that progress asks for."""

    def __init__(self, task: ModularArithmetic, sign: int):
        super().__init__(models.TransformerConfig.of(task))
        x = torch.arange(P, dtype=torch.float64)
        angle = 2 * torch.pi * (x[:, None, None] + sign * x[:, None] - x) / P
        self.logits = 40 * (torch.cos(2 * angle) + torch.cos(5 * angle))

    W_E = property(lambda _: torch.ones(P + 1, 4))
    W_L = property(lambda _: torch.ones(4, P))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.logits.flatten(0, 1)[:, None]


@pytest.mark.parametrize(("op", "sign"), [("add", 1), ("sub", -1)])
def test_progress_is_measured_by_the_waves_of_the_operation(op: str, sign: int) -> None:
    task = ModularArithmetic(P, op)
    split = Split(torch.arange(60), torch.arange(60, P * P))
    found = progress.progress_at(Ideal(task, sign), task, split, (2, 5))
    assert found["train_loss"] < 1e-6
    assert found["restricted_loss_all"] < 1e-6
    assert found["excluded_loss_train"] == pytest.approx(torch.tensor(float(P)).log().item(), abs=1e-6)
    assert found["cos_2"] == pytest.approx(40)


@pytest.mark.parametrize("sign", [1, -1])
def test_read_off_at_half_an_even_modulus(sign: int) -> None:
    p, k = 6, 3
    alternating = fourier_basis(p)[-1] / fourier_basis(p)[-1, 0]  # cos(pi x)
    post = 2.5 * (alternating[:, None] * alternating)[..., None]
    row = readout.readoff(post, alternating[None] / alternating.norm(), (k,), sign).rows[0]
    assert (row.first, row.second) == (pytest.approx(2.5), 0)
    assert row.amplitude == pytest.approx(2.5)
    assert row.explained == pytest.approx(1)
    assert row.two_largest


def test_a_matrix_of_no_more_rows_than_key_directions() -> None:
    found = readout.low_rank(torch.randn(4, P, dtype=torch.float64), (1, 2))
    assert (found.rank, found.drop) == (4, 0)


def test_one_line_alone_is_shown() -> None:
    found = lines.lines(torch.tensor([1.0, 3.0, 5.0]))
    assert found.table().to_dict("list") == {"slope": [2], "intercept": [1], "centre": [-0.5], "R squared": [1]}
    assert "slope" in repr(found)


def network(**shape: int | None) -> TrainedRun:
    task = addition(P)
    config = models.TransformerConfig.of(task, **{"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 24} | shape)
    return TrainedRun("mine", task, models.hooked(config, models.initial_weights(config, 0)))


def test_attention_alone_has_no_map_from_neurons_to_logits() -> None:
    with pytest.raises(ValueError, match="a network without an MLP has no W_L"):
        _ = network(d_mlp=None).model.W_L


def test_neurons_are_replaced_in_the_layer_that_is_read() -> None:
    run = network(n_layers=2)
    post = run.activations()["post", 1]
    found = components.neuron_interventions(post, neuron_fits(post), run.model.W_L, (1, 2))
    parts = [found[f"neurons {side} W_L directions"] for side in ("onto", "off")]
    assert torch.allclose(sum(parts), post.double())


def test_cosines_of_a_difference() -> None:
    logits = Ideal(ModularArithmetic(P, "sub"), -1).logits
    assert cosine_sums.cosine_coefficients(logits, (2, 5), -1).tolist() == pytest.approx([40, 40])
    assert cosine_sums.cosine_coefficients(logits, (2, 5)).tolist() == pytest.approx([0, 0], abs=1e-9)


def test_runs_that_a_verdict_was_taken_without_are_named() -> None:
    claim = Claim(
        id="nanda.x",
        where="here",
        statement="Something.",
        source_says="1",
        measure=lambda *_: {"x": 1.0},
        expected={"x": at_least(1, "so")},
        needs=("a", "b", "c"),
        scope="any seed",
    )
    runs = [replace(network(), name=name) for name in "abc"]
    assert claim.check(*runs).runs_pending == ()
    found = claim.check(runs[1])
    assert found.runs_pending == ("a", "c")
    assert found.to_json()["runs_pending"] == ["a", "c"]
    assert claim.check(network()).runs_pending == ()
