"""What a piece of work measures of a run is what the claims ask of it, to the same last digit."""

from __future__ import annotations

import json

import pytest

from modinterp.cluster.pieces import processes
from modinterp.reproduce.ensemble import is_worth_processes, measured_in_pieces, measurements_of_a_run
from modinterp.reproduce.evidence import Asked
from modinterp.reproduce.reproduction import reproduction

ONLY = "mlp.neuron_norm_map"


@pytest.mark.parametrize(
    ("source", "only", "is_about_one"), [("mlp", ONLY, True), ("groups", "groups.cyclic.doubles", False)]
)
def test_processes_measure_what_one_process_does(source: str, only: str, is_about_one: bool) -> None:
    with processes(2, "modinterp.reproduce.ensemble") as in_processes:
        measured, evidence, made, damaged = measured_in_pieces(source, only, None, "cpu", 1, in_processes)()
    assert not damaged
    assert set(evidence.rows) == ({only} if is_about_one else set())
    apart, alone = (
        reproduction(source, only, measured=measured, evidence=evidence, made=made),
        reproduction(source, only),
    )
    assert [r.to_json() | {"seconds": 0} for r in apart.results] == [
        r.to_json() | {"seconds": 0} for r in alone.results
    ]
    assert apart.as_recorded
    assert {key: json.loads(figure.to_json()) for key, (_, figure) in apart.figures.items()} == {
        key: json.loads(figure.to_json()) for key, (_, figure) in alone.figures.items()
    }


def test_a_few_claims_are_measured_by_this_process() -> None:
    assert not is_worth_processes("nanda", "B.*")
    assert is_worth_processes("nanda", None)


def test_a_machine_without_the_run_says_so() -> None:
    asked = Asked(own=frozenset({ONLY}))
    with pytest.raises(ValueError, match="does not have the run; choose a --runs that all machines share"):
        measurements_of_a_run("mlp", ONLY, "mlp/none-0", asked, (), None, "cpu", 1, report=lambda rows: None)
