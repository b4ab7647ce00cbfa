"""Shipping weights in float16 changes no verdict: every claim on the rounded networks of the runs shipped in float32."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from modinterp.claims import SOURCES
from modinterp.reproduce.run import available_runs
from modinterp.runs import TrainedRun


def rounded(run: TrainedRun) -> TrainedRun:
    """The run as it would be, had its final weights been shipped in float16; history and progress as they are."""
    if not run.has_weights:
        return run
    network = copy.deepcopy(run.model)
    network.load_state_dict({name: w.half().float() for name, w in run.model.state_dict().items()})
    return replace(run, model=network)


@pytest.mark.parametrize("source", ["nanda", "mlp"])
def test_rounding_the_weights_changes_no_verdict(source: str) -> None:
    claims = [claim for claim in SOURCES[source].values() if claim.scope != "any network"]
    runs = {name: rounded(run) for name, run in available_runs(claims, None, "cpu").items()}
    verdicts = {claim.id: claim.check_available(runs).verdict for claim in claims}
    assert verdicts == {claim.id: claim.finding.verdict for claim in claims}
