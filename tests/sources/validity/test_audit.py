"""The audit's criteria: all are answered, by a claim or in a sentence."""

from __future__ import annotations

import pytest

from modinterp.models.planted import clock
from modinterp.reproduce.reproduction import spec_of
from modinterp.runs import TrainedRun
from modinterp.sources import catalogue, source
from modinterp.sources.named_runs import how_to_have_checkpoints
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


def test_the_main_run_may_be_another_sources() -> None:
    assert ABOUT.main_run not in ABOUT.runs
    assert ABOUT.main_run in catalogue()
    assert all(run in catalogue() for claim in ABOUT.claims.values() for run in claim.needs)
    assert spec_of(ABOUT, None) is catalogue()[ABOUT.main_run]
    with pytest.raises(ValueError, match="has no run"):
        spec_of(ABOUT, "validity/first-0")
    assert "'nanda/*'" in how_to_have_checkpoints("validity")


def test_the_table_has_every_criterion_and_what_was_found() -> None:
    result = ABOUT["I2.sufficiency"].check(TrainedRun("planted", *clock(29, (3, 5, 11))))
    assert result.verdict == "holds"
    rows = table({"I2.sufficiency": result})
    assert len(rows["criterion"].unique()) == 36
    row = rows[rows["criterion"] == "I2 sufficiency"].iloc[0]
    assert row["here"] == "holds"
    assert "at least 0.95" in row["numbers"]
    assert set(rows[rows["criterion"] == "V1 level"]["here"]) == {"answered in words"}
