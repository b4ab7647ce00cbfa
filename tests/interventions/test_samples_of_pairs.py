"""Interventions on a sample of pairs give what those on all pairs give, to within the sampling error."""

import pytest
import torch

from modinterp.analyses.network import nulls
from modinterp.analyses.statistics import some_pairs as sampling
from modinterp.analyses.statistics.share_interval import Share
from modinterp.bases import Frequencies
from modinterp.interventions.answered import Answered
from modinterp.measurements import measure
from modinterp.models.planted import clock
from modinterp.runs import TrainedRun

P, SOME = 29, 300


def test_some_pairs_are_all_of_few_and_a_fixed_sample_of_many() -> None:
    assert sampling.some_pairs(256) is None
    first, second = sampling.some_pairs(257), sampling.some_pairs(257)
    assert first is not None
    assert second is not None
    assert torch.equal(first, second)
    assert len(first.unique()) == sampling.SAMPLE
    assert int(first.max()) < 257**2


def test_interventions_on_a_sample_agree_with_those_on_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    network = clock(P, (2, 5, 9))
    of_all = measure(TrainedRun("all", *network))
    whole = {row.quantity: float(row.value or 0) for row in of_all.readings("causal")}
    monkeypatch.setattr(sampling, "MOST", 100)
    monkeypatch.setattr(sampling, "SAMPLE", SOME)
    sampled = measure(TrainedRun("some", *network))
    assert sampled.causal.pairs is not None
    assert len(sampled.causal.pairs) == SOME
    found = {row.quantity: float(row.value or 0) for row in sampled.readings("causal")}
    assert whole.keys() == found.keys()
    assert found["half_turn"] == 1.0
    for key in ("half_turn_control", "line_step_control", "accuracy_without", "same_without", "accuracy_alone"):
        low, high = Share(round(found[key] * SOME), SOME).interval
        assert low - 0.01 <= whole[key] <= high + 0.01, key
    for key in ("half_turn_kept", "margins_foretold", "rescue"):
        assert abs(found[key] - whole[key]) < 0.05, key
    assert found["clock_circles"] == whole["clock_circles"]
    assert torch.equal(sampled.causal.answers_of_half_turn, of_all.causal.answers_of_half_turn)


def test_sums_over_a_sample_estimate_those_over_all_pairs() -> None:
    task, network = clock(P, (2, 5, 9))
    logits = measure(TrainedRun("all", task, network)).logits
    pairs = torch.randperm(P * P, generator=torch.Generator().manual_seed(0))
    whole, some = (Answered.of(iter(logits.flatten(0, 1)[x].split(64)), 1, (5,), x) for x in (pairs, pairs[:SOME]))
    torch.testing.assert_close(whole.spectrum, Answered.of(logits).spectrum)
    assert abs(some.energy / whole.energy - 1) < 0.1
    assert torch.equal(some.off_by, whole.off_by[:SOME])
    assert torch.equal(some.waves[5], whole.waves[5][:SOME])


def test_draws_on_a_sample_of_all_pairs_are_those_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    m = measure(TrainedRun("all", *clock(P, (2, 5, 9))))
    every = nulls.logit_nulls(m.logits, 3, None, pairs=torch.arange(P * P))
    assert every == nulls.logit_nulls(m.logits, 3, None)
    monkeypatch.setattr(sampling, "MOST", 100)
    monkeypatch.setattr(sampling, "SAMPLE", SOME)
    basis = Frequencies(m.basis.cyclic, m.basis.answer, True, P)
    sampled = measure(TrainedRun("some", *clock(P, (2, 5, 9))))
    found = basis.logit_nulls(m.logits, 3, sampled._logits_at_start())
    assert [row.observed for row in found.rows] == [row.observed for row in m.logit_nulls.rows]
    assert all(row.p_value <= 0.05 for row in found.rows)
