"""The source's numbers beside ours: in which ranges they lie, and each number once."""

from __future__ import annotations

import math
from dataclasses import replace

from modinterp.claims import Claim, at_least
from modinterp.claims.relatives import Network
from modinterp.claims.result import Result
from modinterp.figures.prevalence import prevalence, prevalence_table
from modinterp.reproduce.printed import OUTSIDE, printed_table
from modinterp.training.relation import Relation

SAME, ROUNDING, SEED, DRAW = Relation
BOTH = "within the ranges of the numerical replicates and of the other seeds"
NETWORKS = tuple(Network(f"a/run-{i}", how) for i, how in enumerate((SAME, ROUNDING, SEED, DRAW)))


def result(printed: float, id: str = "test.x", values: tuple[float, ...] = (5.0, 6.0, 1.0, 9.0)) -> Result:
    claim = Claim(id=id, where="table 1", statement="Something.", source_says="1", measure=lambda _: {},
                  expected={"x": at_least(2)}, printed={"x": printed}, needs=("a/run-0",))  # fmt: skip
    return Result(claim, {"x": values}, NETWORKS)


def test_where_the_printed_number_lies() -> None:
    for printed, place in ((5.5, BOTH), (3.0, "only within the range of the other seeds"), (10.0, OUTSIDE)):
        (row,) = printed_table([result(printed)]).to_dict("records")
        assert row["the source's number is"] == place
        assert (row["ours"], row["variants of the seed, smallest"], row["variants of the seed, largest"]) == (5, 5, 6)
        assert (row["other seeds, smallest"], row["other seeds, largest"], row["other seeds, networks"]) == (1, 9, 2)


def test_networks_without_such_a_number_are_left_out_and_three_digits_count() -> None:
    (row,) = printed_table([result(6.3, values=(6.294, math.nan, math.nan, 9.0))]).to_dict("records")
    assert (row["variants of the seed, networks"], row["other seeds, networks"]) == (1, 1)
    assert row["the source's number is"] == OUTSIDE
    (row,) = printed_table([result(6.3, values=(6.296, math.nan, math.nan, 9.0))]).to_dict("records")
    assert row["the source's number is"] == "only within the range of the numerical replicates"
    (row,) = printed_table([result(6.3, values=(6.296, math.nan, math.nan, math.nan))]).to_dict("records")
    assert row["other seeds, networks"] == 0


def test_what_was_chosen_by_and_why_a_number_lies_outside_are_told() -> None:
    marked = result(10.0)
    marked = replace(marked, claim=replace(marked.claim, outside={"x": "misprint"}, by_selection=("x",)))
    (row,) = printed_table([marked]).to_dict("records")
    assert (row["why outside"], row["by selection"]) == ("misprint", True)
    inside = replace(result(5.5), claim=replace(marked.claim, printed={"x": 5.5}, by_selection=()))
    (row,) = printed_table([inside]).to_dict("records")
    assert (row["why outside"], row["by selection"]) == ("", False)


def test_a_number_stands_once() -> None:
    assert len(printed_table([result(5.5), result(5.5, "test.y"), result(6.5, "test.z")])) == 2
    assert not len(printed_table([]))


def test_prevalence_is_drawn_with_its_intervals() -> None:
    results = [result(5.5), result(5.5, "test.y", (5.0, 5.0, 5.0, 5.0))]
    table = prevalence_table(results)
    assert list(table["id"]) == ["test.y", "test.x"]
    assert list(table["held"]) == [4, 3]
    assert list(table["decided by"]) == ["", "seed"]
    figure = prevalence([table])
    assert figure is not None
    assert "1 hold in all seeds" in figure.layout.title.text
    assert prevalence([prevalence_table([])]) is None
