"""The claims on ordering held against networks of other sizes than those they were made for."""

from __future__ import annotations

import pytest
import torch

from modinterp.claims import Claim, circuits
from modinterp.claims.circuits.evidence import ordering_evidence
from modinterp.reproduce.circuits import DRAWINGS
from modinterp.runs import TrainedRun

OF_MAX = [c for c in circuits.matching("max.*") if c.needs]
OF_SORT = [c for c in circuits.matching("sort.*") if c.needs]


@pytest.mark.parametrize("claim", OF_MAX, ids=lambda claim: claim.id)
def test_every_claim_on_the_maximum_can_be_held_against_another_network(claim: Claim, tiny_max: TrainedRun) -> None:
    result = claim.check(tiny_max)
    assert result.verdict in {"holds", "refuted"}
    assert set(claim.expected) <= set(result.measured)


@pytest.mark.parametrize("claim", OF_SORT, ids=lambda claim: claim.id)
def test_every_claim_on_the_sort_can_be_held_against_another_network(claim: Claim, tiny_sort: TrainedRun) -> None:
    assert set(claim.expected) <= set(claim.check(tiny_sort).measured)


@pytest.mark.parametrize("claim", [c for c in OF_MAX + OF_SORT if c.scope != "any network"], ids=lambda claim: claim.id)
def test_none_holds_on_a_small_network_before_training(
    claim: Claim, tiny_max: TrainedRun, tiny_sort: TrainedRun
) -> None:
    run = tiny_max if claim in OF_MAX else tiny_sort
    assert claim.check(run.at_start()).verdict == "refuted"


def test_evidence_keeps_clear_of_the_training_set(tiny_max: TrainedRun) -> None:
    ev = ordering_evidence(tiny_max)
    seen = set(map(tuple, ev.seen.tolist()))
    assert len(seen) == 350
    for examples in (ev.uniform, ev.small):
        assert not seen & set(map(tuple, examples.inputs.tolist()))
        assert torch.equal(examples.labels[:, 0], examples.inputs[:, :3].amax(dim=1))
    assert (ev.small.inputs[:, :3] < ev.first).all()
    assert ev.accuracy > 0.7


def test_other_queries_change_nothing_and_the_proof_is_no_more_than_the_truth(tiny_max: TrainedRun) -> None:
    measured = circuits["max.qk_heatmap"].check(tiny_max).measured
    assert measured["change of the logits without these queries"] == (0.0,)
    proven = circuits["max.algorithm"].check(tiny_max).measured
    every = torch.cartesian_prod(*[torch.arange(8)] * 3)
    asked = tiny_max.task.asked(every)
    truth = (tiny_max.model(asked.inputs)[:, -1].argmax(dim=1) == asked.labels[:, 0]).double().mean().item()
    assert 0.5 < proven["proven accuracy"][0] <= truth + 1e-12


def test_figures_are_drawn_from_other_networks(tiny_max: TrainedRun, tiny_sort: TrainedRun) -> None:
    of = {"circuits/max-balanced-0": tiny_max, "circuits/max-0": tiny_max, "circuits/sort-0": tiny_sort}
    drawn = DRAWINGS.figures(of, set(DRAWINGS.figures_of))
    assert set(drawn) == {k for k in DRAWINGS.figures_of if not k.startswith(("add_", "widths", "median"))}
    assert set(DRAWINGS.tables(of, set(DRAWINGS.figures_of))) == set(DRAWINGS.tables_of)


def test_only_runs_on_ordering_have_this_evidence(mainline: TrainedRun) -> None:
    with pytest.raises(ValueError, match="not on the order of numbers"):
        ordering_evidence(mainline)
