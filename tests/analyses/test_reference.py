"""Two networks that others trained: numbers that others printed, or measured with other code, must come out."""

from __future__ import annotations

import pytest
import torch

from modinterp.activations import logits_with
from modinterp.analyses.attention.components import ablation, component_interventions
from modinterp.analyses.fourier.cosine_sums import logit_fit
from modinterp.analyses.fourier.frequencies import key_frequencies
from modinterp.analyses.fourier.neurons import neuron_fits
from modinterp.analyses.fourier.readout import readoff
from modinterp.analyses.fourier.transforms import components_of, transform
from modinterp.analyses.statistics.explained import energy_share
from modinterp.measurements import measure
from modinterp.runs import TrainedRun
from modinterp.sources import source
from modinterp.sources.mlp.claims.readoff import TABLE
from modinterp.training import accuracy

POST = "blocks.0.mlp.hook_post"
MLP = source("mlp")


def test_low_precision_network_is_as_accurate_as_it_is_said_to_be(low_precision: TrainedRun) -> None:
    labels = low_precision.task.labels()[:, 0]
    assert accuracy(low_precision.activations()["logits"].flatten(0, 1), labels) == pytest.approx(0.99945, abs=5e-6)


def test_low_precision_network_has_its_neurons_and_no_clear_gap(low_precision: TrainedRun) -> None:
    fits = neuron_fits(low_precision.activations()[POST])
    assert int(fits.explained.sum()) == 405
    assert key_frequencies(low_precision.model.W_L).gap < 3
    fit = logit_fit(low_precision.activations()["logits"], fits.key_frequencies())
    assert 0.25 < fit.explained < 0.7


def test_low_precision_network_without_attention_and_without_its_skip(low_precision: TrainedRun) -> None:
    grid = low_precision.activations()
    chosen = ("attention output zero", "skip around attention zero", "attention to self zero")
    values = {name: v for name, v in component_interventions(grid).items() if name in chosen}
    labels = low_precision.task.labels()
    original = ablation(grid["logits"], labels)
    found = {
        n: ablation(logits_with(grid.model, low_precision.task, v), labels, None, original) for n, v in values.items()
    }
    assert found["attention output zero"].loss == pytest.approx(6.4, abs=0.05)
    assert found["skip around attention zero"].loss == pytest.approx(5.0e-3, rel=0.02)
    assert found["attention to self zero"].loss_ratio == pytest.approx(0.98, abs=0.01)


def test_kissanes_network_gives_the_notebooks_numbers(kissane: TrainedRun) -> None:
    grid, W_U = kissane.activations(), kissane.model.W_L
    keys = key_frequencies(W_U)
    assert len(keys.freqs) == 13
    coefficients = transform(W_U.T)
    key = coefficients[components_of(keys.freqs, 113)]
    assert float(coefficients.norm()) == pytest.approx(36.8518, abs=5e-4)
    assert float(key.norm()) == pytest.approx(36.2037, abs=5e-4)
    assert energy_share(key, coefficients) ** 0.5 == pytest.approx(0.98241, abs=5e-5)
    assert int(neuron_fits(grid[POST]).explained.sum()) == 483
    assert accuracy(grid["logits"].flatten(0, 1), kissane.task.labels()[:, 0]) == 1
    rows = readoff(grid[POST], W_U, keys.freqs).rows
    assert len(rows) == 26
    assert max(abs(row.explained - row.explained_by_two) for row in rows) < 0.006


def test_kissanes_logits_are_what_a_plain_forward_gives(kissane: TrainedRun) -> None:
    W_E, W_in, W_U = (kissane.model.state_dict()[n].double() for n in ("embed.W_E", "blocks.0.mlp.W_in", "unembed.W_U"))
    a, b = kissane.task.inputs().T
    plain = torch.relu((W_E[a] + W_E[b]) @ W_in) @ W_U
    torch.testing.assert_close(kissane.activations()["logits"].flatten(0, 1), plain)


def test_kissanes_network_holds_what_its_notebook_says_to_four_decimals(kissane: TrainedRun) -> None:
    m = measure(kissane)

    def measured(claim: str, name: str) -> float:
        (value,) = MLP[claim].check(m).measured[name]
        return value

    for freq, printed in TABLE.items():
        for wave, value in zip(("sin", "cos"), printed, strict=True):
            assert measured(f"fve.k{freq}", f"FVE of {wave} {freq}") == pytest.approx(value, abs=5e-5)
    assert measured("wu_norm_ratio", "ratio of norms") == pytest.approx(0.9824131, abs=5e-6)
    squares = sorted((norm**2 for norm in m.keys.norms), reverse=True)
    assert squares[12:14] == pytest.approx([58.6, 7.5], abs=0.05)  # of the weakest key frequency, and of the next
    assert measured("logits_quadratic", "products of one frequency in the logits") == pytest.approx(0.926, abs=5e-4)
    assert measured("post_quadratic", "products_after") == pytest.approx(0.217, abs=6e-4)
    assert measured("wneur_sparse", "share of W_E W_in at the key frequencies") == pytest.approx(0.991, abs=5e-4)
    assert measured("algorithm_summary", "logit_fve") == pytest.approx(0.916, abs=5e-4)
    for claim in MLP.values():
        if claim.id != "mlp.final_losses":  # no history comes with the weights
            assert (claim.check(m) if claim.needs else claim.check()).verdict == "holds", claim.id
