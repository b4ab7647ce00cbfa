"""Claims on the main network held against networks of other shapes: a verdict or none, and never an error."""

from __future__ import annotations

from functools import cache

import pytest

from modinterp.claims import VERDICTS, Claim
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.sources import source
from modinterp.sources.nanda.runs import MAIN
from modinterp.tasks import addition

SHAPES = ({}, {"d_mlp": None}, {"n_layers": 2}, {"n_heads": 1}, {"positional": False}, {"mlp_biases": False},
          {"attn_biases": True}, {"act_fn": "gelu"})  # fmt: skip
CLAIMS = [claim for claim in source("nanda").values() if MAIN in claim.needs]


@cache
def network(number: int) -> TrainedRun:
    task = addition(13)
    config = TransformerConfig.of(task, **{"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 24} | SHAPES[number])
    return TrainedRun("mine", task, hooked(config, initial_weights(config, 0)))


@pytest.mark.parametrize("number", range(len(SHAPES)), ids=lambda number: str(SHAPES[number]))
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_claims_take_any_architecture(claim: Claim, number: int) -> None:
    assert claim.check_foreign(network(number)).verdict in VERDICTS
