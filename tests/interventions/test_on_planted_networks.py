"""Interventions on networks that are written down by hand, where the answer is known."""

from __future__ import annotations

import pytest
import torch

from modinterp.analyses.statistics.ranking import auroc, average_precision
from modinterp.analyses.statistics.resampling import bootstrap_width, e_value_bound
from modinterp.interventions.effects import Cosines, crossed_pairs
from modinterp.interventions.periods import accuracies_with, period_projector, random_projector
from modinterp.measurements import CyclicMeasurements, measure
from modinterp.models.planted import clock
from modinterp.runs import TrainedRun

FREQS, DECOYS = (3, 5, 11), (7, 9)


@pytest.fixture(scope="module")
def m() -> CyclicMeasurements:
    measured = measure(TrainedRun("planted", *clock(29, FREQS, decoys=DECOYS)))
    assert isinstance(measured, CyclicMeasurements)
    return measured


def test_circles_that_nothing_reads_are_in_the_embedding_and_cost_nothing(m: CyclicMeasurements) -> None:
    assert m.accuracy == 1
    assert set((m.basis.energy_shares(m.W_E) > 0.1).nonzero().flatten().add(1).tolist()) == {*FREQS, *DECOYS}
    lost = m.causal.without_each["margin lost"]
    assert all(lost[k] > 1 for k in FREQS)
    assert all(abs(lost[k]) < 1e-3 for k in DECOYS)
    assert all(m.causal.without_each["lead lost"][k] > 1 for k in FREQS)
    assert m.causal.without_each["loss"][list(FREQS)].min() > m.causal.without_each.attrs["loss"]


def test_the_formula_foretells_margins_and_their_sums(m: CyclicMeasurements) -> None:
    found = m.causal.foretold
    assert found.correlation == pytest.approx(1)
    assert found.slope == pytest.approx(1)
    assert m.causal.margins_foretold == found.explained
    assert m.causal.synergy.additive == pytest.approx(1)
    assert m.causal.spill < 0.01


def test_circles_of_a_sum_of_cosines_are_crossed_and_equal_circles_are_not(m: CyclicMeasurements) -> None:
    assert m.causal.crossed == (3, 3)
    cosines, intact = Cosines(29, 1, {3: 1.0, 5: 1.0}), torch.full((29,), 2.0, dtype=torch.float64)
    alike = torch.linspace(0, 1, 29, dtype=torch.float64)
    assert crossed_pairs(cosines, intact, {3: alike, 5: alike}) == (0, 1)


def test_the_answer_follows_the_read_directions_and_no_others(m: CyclicMeasurements) -> None:
    neurons = m.causal.at_neurons
    assert neurons.swap() == 1
    assert max(neurons.swap_controls.values()) < 0.1
    assert neurons.scrubbed == 1
    assert all(neurons.without_keys(how) < 0.1 for how in ("zero", "mean", "resampled"))
    assert (neurons.keys.T @ neurons.other_planes).abs().max() < 1e-5
    nothing = torch.zeros(m.post.shape[-1], dtype=torch.bool)
    assert neurons.without(nothing, "zero") == 1
    assert neurons.without(~nothing, "mean") < 0.1
    assert 0 < neurons.fewest() <= m.post.shape[-1]


def test_removal_and_resampling_of_all_circles_leave_chance(m: CyclicMeasurements) -> None:
    assert m.causal.accuracy_of(FREQS) == 1
    assert m.causal.accuracy_of(DECOYS) < 0.1
    assert m.causal.accuracy_resampled < 0.1
    harmed, spared = m.causal.without_circles_is_wrong
    assert harmed > 700
    assert spared == 0


def test_a_projector_holds_the_functions_of_its_period_and_no_constant() -> None:
    projector = period_projector(11, 3)
    wave = (torch.arange(11) % 3 == 1).double()
    assert torch.allclose(projector @ wave, wave - wave.mean())
    for one in (projector, random_projector(11, 2)):
        assert torch.allclose(one @ one, one)
        assert torch.allclose(
            one @ torch.ones(11, dtype=torch.float64), torch.zeros(11, dtype=torch.float64), atol=1e-9
        )


def test_a_network_answers_from_the_embedding_that_it_is_given(m: CyclicMeasurements) -> None:
    E, rows = m.model.embed.W_E[:29].detach().double(), torch.arange(100)
    assert accuracies_with(m.model, m.task, E, rows).tolist() == [1.0]
    assert accuracies_with(m.model, m.task, E * 0, rows)[0] < 0.1


def test_statistics_of_scores_and_shares() -> None:
    scores, true = torch.tensor([0.9, 0.8, 0.1, 0.1]), torch.tensor([True, False, True, False])
    assert auroc(scores, true) == pytest.approx((2 + 0 + 0.5) / 4)
    assert average_precision(scores[:3], true[:3]) == pytest.approx((1 + 2 / 3) / 2)
    half = torch.arange(1000) % 2 == 0
    assert 0.02 < bootstrap_width(half) < 0.12
    assert e_value_bound(50, 50, 100) == 1
    assert e_value_bound(99, 0, 100) > 50
