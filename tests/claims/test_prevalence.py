"""Shares with their intervals, seeds and their numerical replicates, and verdicts counted once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modinterp.claims.finding import Finding, mixed
from modinterp.claims.prevalence import Prevalence, Share
from modinterp.claims.relatives import Network, fewest_seeds, related
from modinterp.claims.tally import COLUMNS, Tally, column
from modinterp.sources import source
from modinterp.training.relation import Relation

SAME, ROUNDING, SEED, DRAW = Relation


@pytest.mark.parametrize(("held", "of", "low", "high", "text"), [
    (0, 10, 0.0, 0.2589, "at most 26%"), (5, 10, 0.2366, 0.7634, "24% to 76%"), (10, 10, 0.7411, 1.0, "at least 74%"),
    (20, 20, 0.8609, 1.0, "at least 86%"), (1, 1, 0.05, 1.0, "at least 5%"), (0, 0, 0.0, 1.0, "0% to 100%"),
])  # fmt: skip
def test_intervals_are_exact_where_all_agree_and_wilsons_elsewhere(
    held: int, of: int, low: float, high: float, text: str
) -> None:
    assert Share(held, of).interval == pytest.approx((low, high), abs=1e-4)
    assert Share(held, of).interval_text == text


@pytest.mark.parametrize(("networks", "seeds", "replicates", "decides"), [
    ([(True, SAME, 0), (False, ROUNDING, 0)], (0, 1), (1, 2), "rounding"),  # a tie is not most of them
    ([(True, SAME, 0), (True, ROUNDING, 0), (False, ROUNDING, 0)], (1, 1), (2, 3), "rounding"),
    ([(True, SAME, 0), (True, ROUNDING, 0), (False, SEED, 1), (True, SEED, 2)], (2, 3), (2, 2), "seed"),
    ([(True, SAME, 0), (True, ROUNDING, 0), (False, DRAW, 1), (False, DRAW, 2)], (1, 3), (2, 2), "draw order"),
    ([(True, SAME, 0), (True, ROUNDING, 0), (False, DRAW, 1), (True, DRAW, 2)], (2, 3), (2, 2), "seed"),
    ([(True, SAME, 0), (False, SEED, 1)], (1, 2), (0, 0), "seed"),
    ([(True, SAME, 0), (True, SEED, 1)], (2, 2), (0, 0), ""),
    ([(False, SAME, 0)], (0, 1), (0, 0), ""),
])  # fmt: skip
def test_replicates_of_a_seed_are_one_and_reported_beside_it(
    networks: list[tuple[bool, Relation, int]], seeds: tuple, replicates: tuple, decides: str
) -> None:
    found = [Network(str(i), relation, seed) for i, (_, relation, seed) in enumerate(networks)]
    prevalence = Prevalence.of([holds for holds, _, _ in networks], found)
    assert (prevalence.seeds.held, prevalence.seeds.of) == seeds
    assert (prevalence.replicates.held, prevalence.replicates.of) == replicates
    assert prevalence.decided_by == decides
    assert prevalence.is_preliminary
    assert str(prevalence).endswith("preliminary")


def test_thirty_networks_of_the_mainline_are_twenty_seeds() -> None:
    """Duplicates, variants and shared splits: the same training twice, twelve replicates of seed 0, five draw orders."""
    specs = {name: spec for name, spec in source("nanda").runs.items() if "mainline-" in name or "other-draw" in name}
    specs |= {name: spec for name, spec in source("nanda").runs.items() if "/rounding-" in name}
    networks = related(specs)
    assert fewest_seeds(networks) == 20
    passes = ["rounding" not in network.name for network in networks]
    prevalence = Prevalence.of(passes, networks)
    assert (prevalence.seeds.held, prevalence.seeds.of) == (19, 20)  # most replicates of seed 0 are rounding variants
    assert prevalence.replicates.of == 1 + sum("/rounding-" in name for name in specs)
    claim = source("nanda")["fig16"]
    counted = claim.subjects(specs)
    assert "nanda/rounding-2" not in counted, "the same training as mainline-0, cut sooner"
    assert "nanda/mainline-0" in counted


def test_a_comparison_has_as_many_seeds_as_the_recipe_with_the_fewest() -> None:
    networks = [Network("a-0", SAME, "a0", "a"), Network("a-1", SEED, "a1", "a"), Network("b-0", None, "b0", "b")]
    assert fewest_seeds(networks) == 1
    assert fewest_seeds([*networks, Network("b-1", None, "b1", "b")]) == 2
    assert fewest_seeds([]) == 0


def test_each_claim_counts_in_one_column_by_its_evidence() -> None:
    claim = source("nanda")["fig5.left"]
    by_selection = source("nanda")["fig9"]
    redefined = source("nanda")["fig26"]
    mathematics = source("mlp")["fft2d"]
    for of, verdict, control, seeds, expected in (
        (claim, "holds", "told apart", 8, "many seeds"),
        (claim, "holds", "told apart", 7, "few seeds"),
        (claim, "holds", "also true before training", 20, "no control"),
        (claim, "mixed", "told apart", 20, "mixed"),
        (claim, "refuted", "told apart", 20, "refuted"),
        (claim, "open", "told apart", 1, "open"),
        (by_selection, "holds", "told apart", 20, "by selection"),
        (redefined, "holds", "told apart", 20, "redefined"),
        (redefined, "refuted", "told apart", 20, "refuted"),
        (mathematics, "holds", "without control", 0, "mathematics"),
    ):
        assert column(verdict, control, of, seeds) == expected
    assert replace(claim, finding=mixed("so")).finding != Finding()


def test_one_measurement_counts_once() -> None:
    tally = Tally.of([*[("a", "many seeds")] * 3, ("b", "no control"), ("c", "mixed"), ("a", "open")])
    assert {c: n for c, n in tally.measurements.items() if n} == {
        "many seeds": 1, "no control": 1, "mixed": 1, "open": 1,
    }  # fmt: skip
    assert set(tally.measurements) == set(COLUMNS)
    assert tally.statements["many seeds"] == 3
    assert str(tally).startswith("6 claims, 4 measurements: 1 hold in 8 or more seeds (3 statements), 1 hold, also")
    assert (tally + tally).statements["many seeds"] == 6
