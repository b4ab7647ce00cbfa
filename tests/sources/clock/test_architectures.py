"""Claims of the blog post on networks of other shapes: a verdict or none, and never an error."""

from __future__ import annotations

from functools import cache

import pytest

from modinterp.claims import VERDICTS, Claim
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.sources.clock.claims import CLAIMS
from modinterp.tasks import addition

SHAPES = ({}, {"d_mlp": None}, {"n_layers": 2}, {"n_heads": 1}, {"positional": True}, {"mlp_biases": False},
          {"attn_biases": True}, {"act_fn": "gelu"})  # fmt: skip


@cache
def network(number: int) -> TrainedRun:
    task = addition(13)
    shape = {"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 24, "positional": False} | SHAPES[number]
    config = TransformerConfig.of(task, **shape)
    return TrainedRun("mine", task, hooked(config, initial_weights(config, 0)))


@pytest.mark.parametrize("number", range(len(SHAPES)), ids=lambda number: str(SHAPES[number]))
@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.needs], ids=lambda claim: claim.id)
def test_claims_take_any_architecture(claim: Claim, number: int) -> None:
    assert claim.check_foreign(network(number)).verdict in VERDICTS
