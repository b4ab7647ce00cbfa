"""Which runs a claim asks for, and what comes out where there are none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modinterp.claims import Claim, at_least, equals
from modinterp.claims.claim import each
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
    with pytest.raises(ValueError, match="requires a/z, but no run in its `needs` matches this pattern"):
        claim(("a/z",))


def test_what_is_given_leaves_a_run_out_and_does_not_make_it_pending() -> None:
    runs = {name: run(name) for name in ("a/x-0", "a/x-1", "a/x-2")}
    claim = Claim(id="test.x", where="nowhere", statement="Something.", source_says="1", scope="any seed",
                  measure=each(lambda m: {"number": int(m.name[-1])}), expected={"number": at_least(1)},
                  given={"number": at_least(1, "so")}, needs=(*runs, "a/x-3"))  # fmt: skip
    result = claim.check_available(runs)
    assert (result.runs, result.left_out, result.runs_pending) == (("a/x-1", "a/x-2"), ("a/x-0",), ("a/x-3",))
    assert result.verdict == "holds"


def test_what_is_said_of_one_task_is_not_held_against_a_network_of_another() -> None:
    claim = Claim(id="test.x", where="nowhere", statement="Something.", source_says="1", needs=("a/x-0",),
                  measure=lambda m: {"number": 0}, expected={"number": at_least(1)})  # fmt: skip
    assert claim.check_foreign(run("file")).verdict == "refuted"
    of_seven = replace(claim, said_of=lambda task: task == addition(7))
    assert of_seven.check_foreign(run("file")).words == "open (does not apply)"


def test_of_no_run_a_number_is_missing_and_holds_nothing() -> None:
    claim = Claim(id="test.x", where="nowhere", statement="Something.", source_says="1", measure=lambda *_: {"x": []},
                  expected={"x": equals(1)}, needs=("a/x-0",))  # fmt: skip
    result = claim.check(run("a/x-0"))
    assert result.verdict == "refuted"
    assert result.measured_text() == "x nan"
    assert result.to_json()["measured"] == {"x": None}


def test_a_claim_says_which_runs_it_has_no_numbers_of() -> None:
    def claim(*needs: str) -> Claim:
        def measure(*runs: object) -> dict[str, float]:
            return {"first": {"a/x-0": 1.0}[runs[0].name]}  # type: ignore[attr-defined]

        return Claim(id="test.x", where="nowhere", statement="Something.", source_says="1", measure=measure,
                     expected={"first": at_least(1)}, needs=needs, scope="any seed")  # fmt: skip

    assert claim("a/x-0").check(run("a/x-0")).verdict == "holds"
    with pytest.raises(ValueError, match=r"^test.x is measured on a/x-0, so there are no numbers for mine$"):
        claim("a/x-0").check(run("mine"))
    with pytest.raises(
        ValueError, match=r"^test.x is measured on a/x-0 and others together, so there are no numbers for mine$"
    ):
        claim("a/x-0", "a/x-1").check(run("mine"))
    with pytest.raises(KeyError, match="a/y-0"):
        claim("a/y-0").check(run("a/y-0"))
