"""Which runs a claim asks for, and what comes out where there are none."""

from __future__ import annotations

import pytest

from modinterp.claims import Claim, at_least, equals
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.tasks import addition


def run(name: str) -> TrainedRun:
    config = TransformerConfig.of(addition(5), d_model=8, n_heads=1, d_head=8, d_mlp=8)
    return TrainedRun(name, addition(5), hooked(config, initial_weights(config, seed=0)))


def test_requirements_are_patterns_of_which_each_must_be_met() -> None:
    def claim(required: tuple[str, ...]) -> Claim:
        return Claim(id="test.x", where="nowhere", statement="Something.", source_says="1",
                     measure=lambda *runs: {"runs": len(runs)}, expected={"runs": at_least(1)},
                     needs=("a/x-0", "a/x-1", "a/y-0"), required=required, scope="any seed")  # fmt: skip

    there = {name: run(name) for name in ("a/x-1", "a/y-0")}
    assert claim(()).check_available(there).measured["runs"] == (2,)
    assert claim(("a/x-*", "a/y-*")).check_available(there).verdict == "holds"
    assert claim(("a/x-0",)).check_available(there).verdict == "open"
    assert claim(("a/*",)).check_available({}).verdict == "open"
    assert claim(("a/x-*",)).check_foreign(there["a/x-1"]).verdict == "open"
    with pytest.raises(ValueError, match="requires a/z, which none of its needs fits"):
        claim(("a/z",))


def test_of_no_run_a_number_is_missing_and_holds_nothing() -> None:
    claim = Claim(id="test.x", where="nowhere", statement="Something.", source_says="1", measure=lambda *_: {"x": []},
                  expected={"x": equals(1)}, needs=("a/x-0",))  # fmt: skip
    result = claim.check(run("a/x-0"))
    assert result.verdict == "refuted"
    assert result.measured_text() == "x nan"
    assert result.to_json()["measured"] == {"x": None}
