"""Shipping weights in float16 changes no verdict: every claim on the rounded networks of the runs shipped in float32."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from modinterp.measurements import measure
from modinterp.reproduce.reproduction import measurements_of
from modinterp.runs import TrainedRun
from modinterp.sources import source


def rounded(run: TrainedRun) -> TrainedRun:
    """The run as it would be, had its final weights been shipped in float16; history and progress as they are."""
    if not run.has_weights:
        return run
    network = copy.deepcopy(run.network)
    network.load_state_dict({name: w.half().float() for name, w in run.network.state_dict().items()})
    return replace(run, model=network)


@pytest.mark.parametrize("name", ["nanda", "mlp"])
def test_rounding_the_weights_changes_no_verdict(name: str) -> None:
    claims = [claim for claim in source(name).claims.values() if claim.scope != "any network"]
    needed = [run for claim in claims for run in claim.needs]
    measured = {run: measure(rounded(m.run)) for run, m in measurements_of(needed).items()}
    verdicts = {claim.id: claim.check_available(measured).verdict for claim in claims}
    assert verdicts == {claim.id: claim.finding.verdict for claim in claims}
