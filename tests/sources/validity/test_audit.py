"""The audit's criteria: all are answered, by a claim or in a sentence."""

from __future__ import annotations

from modinterp.sources import catalogue, source
from modinterp.sources.validity.overview import CRITERIA, table

ABOUT = source("validity")


def test_each_of_the_36_criteria_is_answered_once() -> None:
    keys = [criterion.key for criterion in CRITERIA]
    assert len(keys) == len(set(keys)) == 36
    for criterion in CRITERIA:
        assert criterion.claims or criterion.answer, criterion.key
        assert all(key.partition(".")[0] == criterion.key and key in {*map(_short, ABOUT)} for key in criterion.claims)


def _short(id: str) -> str:
    return id.removeprefix("validity.")


def test_each_claim_belongs_to_a_criterion_and_quotes_its_status() -> None:
    answering = {f"validity.{key}": criterion for criterion in CRITERIA for key in criterion.claims}
    assert set(answering) == set(ABOUT)
    for id, criterion in answering.items():
        assert ABOUT[id].source_says.startswith(criterion.status), id
        assert ABOUT[id].where == f"{criterion.key}, {criterion.name}", id


def test_tolerances_say_why() -> None:
    assert not [(id, name) for id, claim in ABOUT.items() for name, band in claim.expected.items() if not band.because]


def test_a_source_may_train_no_run_of_its_own() -> None:
    assert not ABOUT.runs
    assert ABOUT.main_run in catalogue()
    assert all(run in catalogue() for claim in ABOUT.claims.values() for run in claim.needs)


def test_the_table_has_every_criterion_and_what_was_found() -> None:
    result = ABOUT["M5.sensitivity"].check()
    assert result.verdict == "holds"
    rows = table({"M5.sensitivity": result})
    assert len(rows["criterion"].unique()) == 36
    row = rows[rows["criterion"] == "M5 sensitivity"].iloc[0]
    assert row["here"] == "holds"
    assert "at least 0.95" in row["numbers"]
    assert set(rows[rows["criterion"] == "V1 level"]["here"]) == {"answered in words"}
