"""The claims on ordering held against networks of other sizes than those they were made for."""

from __future__ import annotations

from operator import attrgetter

import pytest
import torch
from loops import check_each

from modinterp.claims import Claim
from modinterp.measurements import OrderMeasurements, measure
from modinterp.runs import TrainedRun
from modinterp.sources import source
from modinterp.sources.circuits.claims.copying import tolerance_of_copied

circuits = source("circuits")
OF_MAX = [c for c in circuits.matching("max.*") if c.needs]
OF_SORT = [c for c in circuits.matching("sort.*") if c.needs]


def test_every_claim_on_the_maximum_can_be_held_against_another_network(tiny_max: TrainedRun) -> None:
    def check(claim: Claim) -> None:
        result = claim.check(tiny_max)
        assert result.verdict in {"holds", "refuted"}
        assert set(claim.expected) <= set(result.measured)

    check_each(OF_MAX, check, name=attrgetter("id"))


def test_every_claim_on_the_sort_can_be_held_against_another_network(tiny_sort: TrainedRun) -> None:
    def check(claim: Claim) -> None:
        assert set(claim.expected) <= set(claim.check(tiny_sort).measured)

    check_each(OF_SORT, check, name=attrgetter("id"))


def test_none_holds_on_a_small_network_before_training(tiny_max: TrainedRun, tiny_sort: TrainedRun) -> None:
    def check(claim: Claim) -> None:
        run = tiny_max if claim in OF_MAX else tiny_sort
        assert claim.check(run.at_start()).verdict == "refuted"

    check_each([c for c in OF_MAX + OF_SORT if c.scope != "any network"], check, name=attrgetter("id"))


def test_measurements_keep_clear_of_the_training_set(tiny_max: TrainedRun) -> None:
    m = measure(tiny_max)
    trained_on = set(map(tuple, m.task.inputs()[m.split.train].tolist()))
    assert len(trained_on) == 350
    for examples in (m.uniform, m.small):
        assert not trained_on & set(map(tuple, examples.inputs.tolist()))
        assert torch.equal(examples.labels[:, 0], examples.inputs[:, :3].amax(dim=1))
    assert (m.small.inputs[:, :3] < m.smallest_number).all()
    assert m.accuracy > 0.7


def test_other_queries_change_nothing_and_the_proof_is_no_more_than_the_truth(tiny_max: TrainedRun) -> None:
    measured = circuits["max.qk_heatmap"].check(tiny_max).measured
    assert measured["change of the logits without these queries"] == (0.0,)
    proven = circuits["max.algorithm"].check(tiny_max).measured
    every = torch.cartesian_prod(*[torch.arange(8)] * 3)
    examples = tiny_max.task.examples(every)
    truth = (tiny_max.network(examples.inputs)[:, -1].argmax(dim=1) == examples.labels[:, 0]).double().mean().item()
    assert 0.5 < proven["proven accuracy"][0] <= truth + 1e-12


def test_robustness_is_that_of_what_is_copied(tiny_max: TrainedRun) -> None:
    m = measure(tiny_max.at_start())
    assert float(m.tolerance.accuracy[0]) < 0.9  # an untrained network says one number, or a few
    assert float(tolerance_of_copied(m).accuracy[0]) == 1
    assert circuits["max.ov_robust"].check(m).off
    assert "copied without any other number" in circuits["max.ov_robust"].check(m).off


def test_figures_are_drawn_from_other_networks(tiny_max: TrainedRun, tiny_sort: TrainedRun) -> None:
    runs = {"circuits/max-balanced-0": tiny_max, "circuits/max-0": tiny_max, "circuits/sort-0": tiny_sort}
    measured = {name: measure(run) for name, run in runs.items()}
    drawings = circuits.drawings
    drawn = {key for key, drawing in drawings.items() if drawing.figure(measured, circuits.main_run) is not None}
    assert drawn == {key for key in drawings if not key.startswith(("add_", "widths", "median"))}
    tables = {key for key, drawing in drawings.items() if drawing.made_table(measured, circuits.main_run) is not None}
    assert tables == {key for key, drawing in drawings.items() if drawing.table is not None}


def test_figures_of_several_runs_are_left_out_where_none_is_there(tiny_sort: TrainedRun) -> None:
    measured = {"circuits/other-0": measure(tiny_sort)}
    assert all(drawing.figure(measured, circuits.main_run) is None for drawing in circuits.drawings.values())


def test_only_runs_on_ordering_have_these_measurements(mainline: TrainedRun) -> None:
    with pytest.raises(ValueError, match="not on the order of numbers"):
        OrderMeasurements(mainline)
