"""Every claim: its verdict is the recorded one, and it fails on the same network before training."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from modinterp.claims import HOLDS, Band, Claim, Finding, at_least, at_most, between, equals, near, not_measured
from modinterp.measurements import NetworkMeasurements, measure
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.reproduce.report import terminal_table
from modinterp.reproduce.reproduction import measurements_of
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.sources import source, sources
from modinterp.tasks import addition

LEDGER = Path(__file__).parents[3] / "shared" / "ledger"
CLAIMS = [claim for each in sources().values() for claim in each.claims.values()]
Measured = dict[str, NetworkMeasurements]


def needed(name: str) -> list[str]:
    return [run for claim in source(name).claims.values() for run in claim.needs]


# claims come source by source: what was measured of one source is gigabytes, and goes when the next begins
@lru_cache(maxsize=1)
def measured_of(name: str) -> Measured:
    return measurements_of(needed(name))


@lru_cache(maxsize=1)
def at_start_of(name: str) -> Measured:
    return {run: measure(m.run.at_start()) for run, m in measurements_of(needed(name)).items()}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_is_the_recorded_one(claim: Claim) -> None:
    result = claim.check_available(measured_of(claim.source))
    assert result.verdict == claim.finding.verdict, str(result)


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.scope != "any network"], ids=lambda claim: claim.id)
def test_claim_fails_before_training(claim: Claim) -> None:
    result = claim.check_available(at_start_of(claim.source))
    assert result.verdict != "holds", str(result)


def test_claims_of_any_network_have_the_same_verdict_before_training() -> None:
    for claim in (c for c in CLAIMS if c.scope == "any network"):
        assert claim.check_available(at_start_of(claim.source)).verdict == claim.finding.verdict, claim.id


def test_every_entry_has_its_claim() -> None:
    if not LEDGER.is_dir():
        pytest.skip("the ledger is not at hand")
    entries = re.compile(r"^\*\*`([^`]+)`\*\*", re.MULTILINE)
    text = (LEDGER / "miiii.md").read_text()
    main, everything = (set(entries.findall(part)) for part in (text.partition("### 5.3")[0], text))
    assert main <= set(source("miiii")) <= everything  # the rest stands in no text at hand
    for name in ("nanda", "clock", "mlp", "circuits"):
        assert set(entries.findall((LEDGER / f"{name}.md").read_text())) == set(source(name))


def test_records_are_complete() -> None:
    for claim in CLAIMS:
        assert claim.statement.endswith("."), claim.id
        assert claim.source_says, claim.id
        assert claim.finding.why or claim.finding.verdict == "holds", claim.id
        if claim.scope != "any network":
            assert all(band.because for band in claim.expected.values()), f"{claim.id} has a band without a reason"


def test_contradictions_are_settled_by_numbers_that_are_measured() -> None:
    for name, about in sources().items():
        for contradiction in about.contradictions:
            assert contradiction.follows.endswith("."), contradiction.id
            assert contradiction.settled_by, contradiction.id
            for key, names in contradiction.settled_by.items():
                measured = about[key].check_available(measured_of(name)).measured
                assert not measured or set(names) <= set(measured), f"{contradiction.id}, {key}"


def made(measure, finding: Finding = HOLDS, **expected: Band) -> Claim:
    return Claim(id="test.x", where="nowhere", statement="Something.", source_says="1", measure=measure,
                 expected=expected, needs=("test/run-0",), finding=finding)  # fmt: skip


def run(name: str = "run") -> TrainedRun:
    config = TransformerConfig.of(addition(5), d_model=8, n_heads=1, d_head=8, d_mlp=8)
    return TrainedRun(name, addition(5), hooked(config, initial_weights(config, seed=0)))


def test_nan_never_holds() -> None:
    assert made(lambda _: {"x": float("nan")}, x=Band(-float("inf"), float("inf"))).check(run()).verdict == "refuted"


def test_one_number_off_its_band_refutes() -> None:
    claim = made(lambda _: {"x": 1, "y": 3, "beside": 99}, x=equals(1), y=at_most(2))
    assert claim.check(run()).verdict == "refuted"
    assert made(lambda _: {"x": 1, "y": 2}, x=equals(1), y=at_most(2)).check(run()).verdict == "holds"


def test_what_is_said_of_a_network_that_learned_is_not_measured_on_one_that_did_not() -> None:
    learned = {"accuracy": at_least(0.9, "it is said of one that has learned")}
    for accuracy, x, verdict in (
        (1.0, 1, "holds"),
        (1.0, 3, "refuted"),
        (0.5, 1, "not measured"),
        (0.5, 3, "not measured"),
    ):
        measured = {"x": x, "accuracy": accuracy}
        result = replace(made(lambda _, found=measured: found, x=at_most(2)), given=learned).check(run())
        assert result.verdict == verdict
        assert result.to_json()["given"] == {"accuracy": "at least 0.9"}
        assert ("0.5, not at least 0.9: accuracy" in terminal_table((result,), 160)) == (verdict == "not measured")
        assert ("3, not at most 2: x" in terminal_table((result,), 160)) == (verdict == "refuted")
    with pytest.raises(ValueError, match="expects accuracy, which its measure does not return"):
        replace(made(lambda _: {"x": 1}, x=equals(1)), given=learned).check(run())


def test_every_seed_must_hold() -> None:
    claim = made(lambda *runs: {"x": [1.0, 5.0]}, x=at_least(2))
    result = claim.check(run("a"), run("b"))
    assert result.verdict == "refuted"
    assert result.measured_text() == "x 1 to 5 (2 runs)"
    assert result.to_json()["measured"] == {"x": [1.0, 5.0]}


@pytest.mark.parametrize(("measured", "held", "cell"), [
    ({"x": [1.0, 5.0, 2.0]}, "2 of 3", "REFUTED 2/3"),
    ({"x": [5.0, 5.0, 5.0]}, "3 of 3", "holds 3/3"),
    ({"x": [5.0, float("nan"), 5.0], "y": [0.0, 0.0, 9.0]}, "1 of 3", "REFUTED 1/3"),  # all of a run's own numbers count
    ({"x": [1.0, 5.0, 2.0], "y": 0.0}, "2 of 3", "REFUTED 2/3"),
    ({"x": [5.0, 5.0, 5.0], "y": 9.0}, "", "REFUTED"),  # what is off belongs to no run
    ({"x": 5.0, "y": 0.0}, "", "holds"),
])  # fmt: skip
def test_of_several_seeds_it_is_told_in_how_many_a_claim_holds(measured: dict, held: str, cell: str) -> None:
    expected = {"x": at_least(2), "y": at_most(1)}
    claim = replace(made(lambda *_: measured, **{name: expected[name] for name in measured}), scope="any seed")
    result = claim.check(run("a"), run("b"), run("c"))
    assert result.seeds_held == held
    assert result.to_json()["seeds_held"] == (held or None)
    assert f"  {cell}  " in terminal_table((result,), 160)
    assert replace(claim, scope="this run").check(run("a"), run("b"), run("c")).seeds_held == ""
    assert claim.check_available({}).seeds_held == ""


def test_what_did_not_come_with_a_run_is_not_measured() -> None:
    def raising(error: type[Exception]) -> Claim:
        def measure(_: NetworkMeasurements) -> dict[str, float]:
            raise error("it is not there")

        return made(measure, x=equals(1))

    assert raising(NotRecorded).check_foreign(run()).verdict == "not measured"
    for bug in (KeyError, AttributeError, IndexError, TypeError):
        with pytest.raises(bug):
            raising(bug).check_foreign(run())


def test_claims_are_made_with_keywords_alone() -> None:
    with pytest.raises(TypeError):
        Claim("test.x", "nowhere", "Something.", "1", lambda _: {}, {"x": equals(1)})  # type: ignore[misc]


def test_no_seed_at_all_holds_nothing() -> None:
    assert made(lambda _: {"x": []}, x=at_least(2)).check(run()).verdict == "refuted"


def test_a_missing_run_is_not_measured() -> None:
    claim = made(lambda _: {"x": 1}, x=equals(1), finding=not_measured("no run"))
    result = claim.check_available({})
    assert result.verdict == "not measured"
    assert result.as_recorded
    with pytest.raises(ValueError, match="is measured on a run, such as test/run-0"):
        claim.check()


def test_claims_must_expect_something_that_is_measured() -> None:
    with pytest.raises(ValueError, match="nothing could refute it"):
        made(lambda _: {})
    with pytest.raises(ValueError, match="expects x, which its measure does not return"):
        made(lambda _: {"y": 1}, x=equals(1)).check(run())


def test_bands() -> None:
    assert [str(b) for b in (at_least(2), at_most(3), between(1, 2), equals(5), near(1, 0.5))] == [
        "at least 2", "at most 3", "1 to 2", "5", "0.5 to 1.5"]  # fmt: skip
    assert between(1, 2).holds(1)
    assert between(1, 2).holds(2)
    assert not between(1, 2).holds(2.0001)


def test_patterns_choose_claims() -> None:
    nanda = source("nanda")
    assert [c.id for c in nanda.matching("fig7.*")] == [f"nanda.fig7.{x}" for x in ("tl", "tr", "bl", "br")]
    assert nanda.matching("nanda.B.*") == nanda.matching("B.*")
    with pytest.raises(KeyError, match="no claim nanda.fig99"):
        nanda["fig99"]


def test_claims_can_be_held_against_a_foreign_network(low_precision: TrainedRun) -> None:
    nanda = source("nanda")
    result = nanda["A1.attn_zero"].check(low_precision)
    assert result.measured["loss"][0] == pytest.approx(6.4, abs=0.05)
    assert nanda["fig5.left"].check(low_precision).measured["neurons above 0.85"] == (405,)
