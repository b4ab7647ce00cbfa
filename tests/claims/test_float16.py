"""Shipping weights in float16 changes no verdict: the main runs shipped in float32, rounded, stay on their side of bands."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import pytest
from reproduced import Reproduced

from modinterp.claims import Claim
from modinterp.measurements import NetworkMeasurements, measure
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.sources import source


def rounded(run: TrainedRun) -> TrainedRun:
    """The run as it would be, had its final weights been shipped in float16; history and progress as they are."""
    network = copy.deepcopy(run.network)
    network.load_state_dict({name: w.half().float() for name, w in run.network.state_dict().items()})
    return replace(run, model=network)


def sides(claim: Claim, m: NetworkMeasurements) -> dict[str, list[bool]] | None:
    """Whether each number of a claim lies in its band; None where the claim does not apply to the network."""
    try:
        numbers = claim.numbers(m)
    except NotRecorded:
        return None
    return {name: [band.holds(value) for value in numbers[name]] for name, band in claim.bands.items()}


@pytest.mark.parametrize("name", ["nanda", "mlp"])
def test_rounding_the_weights_moves_no_number_over_its_band(name: str, reproduced: Callable[[str], Reproduced]) -> None:
    about = source(name)
    exact = reproduced(name).reproduction.measured[about.main_run]  # of whose numbers most are kept
    half = measure(rounded(exact.run))
    claims = [c for c in about.claims.values() if c.of_one is not None and about.main_run in c.needs]
    assert len(claims) > 20
    for claim in claims:
        assert sides(claim, exact) == sides(claim, half), claim.id
    exact.let_go()
