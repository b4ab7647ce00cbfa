"""Every claim: its verdict is the recorded one, and it fails on the same network before training."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import pytest
from loops import check_each
from reproduced import Reproduced

from modinterp.claims import (
    HOLDS,
    Band,
    Claim,
    Finding,
    Result,
    at_least,
    at_most,
    between,
    equals,
    in_pairs,
    near,
    one_seed,
    pending,
    refuted,
    variant,
)
from modinterp.claims.relatives import Network
from modinterp.measurements import NetworkMeasurements, measure
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.reproduce.report import terminal_table
from modinterp.reproduce.reproduction import measurements_of
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.sources import source, sources
from modinterp.tasks import addition
from modinterp.training import Nudge, Recipe, RunSpec
from modinterp.training.relation import Relation

LEDGER = Path(__file__).parents[3] / "shared" / "ledger"
CLAIMS = [claim for each in sources().values() for claim in each.claims.values()]


@pytest.mark.parametrize("name", sources())
def test_verdict_is_the_recorded_one(name: str, reproduced: Callable[[str], Reproduced]) -> None:
    results = {result.claim.id: result for result in reproduced(name).reproduction.results}

    def check(claim: Claim) -> None:
        result = results[claim.id]
        assert result.claim is claim
        assert result.as_recorded, str(result)
        assert (result.verdict == "refuted") == bool(result.kind)

    check_each(source(name).claims.values(), check, name=attrgetter("id"))


NUMBER = "(one|two|three|four|five|six|seven|eight|nine|ten)"


def test_what_was_found_counts_no_networks_which_its_prevalence_does() -> None:
    def check(claim: Claim) -> None:
        assert not re.search(rf"\b{NUMBER} (seeds? |networks? |variants? )?of (the )?{NUMBER}\b", claim.finding.why)

    check_each([claim for claim in CLAIMS if claim.of_one], check, name=attrgetter("id"))


@pytest.mark.parametrize("name", sources())
def test_claim_tells_a_trained_network_from_an_untrained_one_or_says_that_it_does_not(
    name: str, reproduced: Callable[[str], Reproduced]
) -> None:
    results = {result.claim.id: result for result in reproduced(name).reproduction.results}

    def check(claim: Claim) -> None:
        result = results[claim.id]
        if result.measured:
            assert result.specificity == claim.control, str(result.control)

    claims = [claim for claim in source(name).claims.values() if claim.is_about_networks]
    check_each(claims, check, name=attrgetter("id"))


@pytest.mark.long
def test_claims_of_any_network_have_the_same_verdict_before_training() -> None:
    for about in sources().values():
        claims = [claim for claim in about.claims.values() if claim.scope == "any network" and claim.needs]
        runs = measurements_of([run for claim in claims for run in claim.needs])
        at_start = {name: measure(m.run.at_start()) for name, m in runs.items()}
        for claim in claims:
            assert claim.check_available(at_start).verdict == claim.finding.verdict, claim.id


def test_every_entry_has_its_claim() -> None:
    if not LEDGER.is_dir():
        pytest.skip("the ledger is not at hand")
    entries = re.compile(r"^\*\*`([^`]+)`\*\*", re.MULTILINE)
    text = (LEDGER / "miiii.md").read_text()
    main, everything = (set(entries.findall(part)) for part in (text.partition("### 5.3")[0], text))
    beside = {"miiii.slower"}  # a statement of the source that the ledger does not have
    assert main <= set(source("miiii")) - beside <= everything  # the rest stands in no text at hand
    for name in ("nanda", "clock", "mlp", "circuits"):
        assert set(entries.findall((LEDGER / f"{name}.md").read_text())) <= set(source(name))


def test_records_are_complete() -> None:
    for claim in CLAIMS:
        assert claim.statement.endswith("."), claim.id
        assert claim.source_says, claim.id
        assert claim.finding.why or claim.finding.verdict in ("holds", "mixed"), claim.id
        if claim.scope != "any network":
            assert all(band.because for band in claim.expected.values()), f"{claim.id} has a band without a reason"


@pytest.mark.parametrize("name", sources())
def test_contradictions_are_settled_by_numbers_that_are_measured(
    name: str, reproduced: Callable[[str], Reproduced]
) -> None:
    about, results = source(name), {r.claim.id: r for r in reproduced(name).reproduction.results}
    for contradiction in about.contradictions:
        assert contradiction.follows.endswith("."), contradiction.id
        assert contradiction.settled_by, contradiction.id
        for key, names in contradiction.settled_by.items():
            measured = results[about[key].id].measured
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
    learned = {"accuracy, own": at_least(0.9, "it is said of one that has learned")}
    for accuracy, x, verdict in (
        (1.0, 1, "holds"),
        (1.0, 3, "refuted"),
        (0.5, 1, "open"),
        (0.5, 3, "open"),
    ):
        measured = {"x": x, "accuracy, own": accuracy}
        result = replace(made(lambda _, found=measured: found, x=at_most(2)), given=learned).check(run())
        assert result.verdict == verdict
        assert result.to_json()["given"] == {"accuracy, own": "at least 0.9"}
        assert ("0.5, not at least 0.9: accuracy, own" in terminal_table((result,), 160)) == (verdict == "open")
        assert ("3, not at most 2: x" in terminal_table((result,), 160)) == (verdict == "refuted")
    with pytest.raises(ValueError, match="expects accuracy, own, which its measure does not return"):
        replace(made(lambda _: {"x": 1}, x=equals(1)), given=learned).check(run())


def test_of_several_together_all_must_hold() -> None:
    claim = replace(made(lambda *runs: {"x": [1.0, 5.0]}, x=at_least(2)), needs=("test/run-0", "test/run-1"))
    result = claim.check(run("a"), run("b"))
    assert result.verdict == "refuted"
    assert result.prevalence is None
    assert result.measured_text() == "x 1 to 5 (2 runs)"
    assert result.to_json()["measured"] == {"x": [1.0, 5.0]}


def of_many(values: list[float], y: float = 0.0) -> Result:
    """The result of a claim about one network, measured on as many as there are values."""
    numbers = iter(values)
    claim = made(lambda _: {"x": next(numbers), "y": y}, x=at_least(2), y=at_most(1))
    return claim.check(*(run(f"run-{i}") for i in range(len(values))))


@pytest.mark.parametrize(("values", "verdict", "told"), [
    ([5.0] * 8, "holds", "holds 8/8"),
    ([5.0, 3.0, 2.0], "holds", "holds 3/3 prelim."),
    ([1.0, 5.0, 2.0], "mixed", "mixed 2/3 prelim."),
    ([5.0, float("nan"), 5.0], "mixed", "mixed 2/3 prelim."),
    ([1.0, float("nan"), 0.0], "refuted", "REFUTED 0/3 prelim."),
    ([5.0], "holds", "holds"),
    ([1.0], "refuted", "REFUTED"),
])  # fmt: skip
def test_of_several_networks_it_is_told_in_how_many_a_claim_holds(values: list, verdict: str, told: str) -> None:
    result = of_many(values)
    assert result.verdict == verdict
    assert f"  {told}  " in terminal_table((result,), 160)
    held = sum(v >= 2 for v in values)
    prevalence = result.to_json()["prevalence"]
    assert (prevalence["held"], prevalence["of"]) == (held, len(values))
    assert prevalence["low"] <= held / len(values) <= prevalence["high"]
    assert of_many(values, y=9.0).verdict == "refuted"  # all of a network's own numbers count


@pytest.mark.parametrize(("others", "verdict", "told"), [
    ([1, 1], "holds", "2 of 2 seeds, preliminary"), ([1, 2], "mixed", "1 of 2 seeds, preliminary"),
    ([2, 2], "refuted", "0 of 2 seeds, preliminary"),
])  # fmt: skip
def test_a_network_that_was_chosen_by_a_number_does_not_count_for_it(others: list, verdict: str, told: str) -> None:
    chosen = replace(made(lambda m: {"x": 1}, x=equals(1)), by_selection=("x",))
    networks = [Network("test/run-0", Relation.SAME), *(Network(f"test/run-{n}", Relation.SEED) for n in (1, 2))]
    rows = [(network, {"x": (float(x),)}) for network, x in zip(networks, [1, *others], strict=True)]
    result = chosen.judged(rows)
    assert (result.verdict, result.prevalence_text) == (verdict, told)
    assert chosen.judged(rows[:1]).verdict == "holds"
    counted = replace(made(lambda m: {"x": 1, "y": 2}, x=equals(1), y=equals(2)), by_selection=("x",))
    assert not counted.is_by_selection, "it expects another number as well"
    with pytest.raises(ValueError, match="expects z, which its measure does not return"):
        replace(chosen, by_selection=("z",)).check(run())


def test_why_a_number_lies_outside_is_said_of_numbers_that_are_printed() -> None:
    with pytest.raises(
        ValueError, match="explains why x differs from the source, but the source prints no such number"
    ):
        replace(made(lambda m: {"x": 1}, x=equals(1)), outside={"x": "it does"})


def trained(name: str, seed: int, nudge: Nudge | None = None) -> TrainedRun:
    bare = run(name)
    return replace(bare, spec=RunSpec(bare.task, bare.config, Recipe(epochs=10), seed, nudge=nudge))


def test_one_seed_refutes_nothing_and_neither_do_its_numerical_replicates() -> None:
    claim = replace(made(lambda _: {"x": 3}, x=at_most(2)), scope="any seed")
    nudged = trained("test/run-1", 0, Nudge("unembed.W_U", 1))
    alone = claim.check_available({"test/run-0": trained("test/run-0", 0), "test/run-1": nudged})
    assert (alone.verdict, alone.why_open, alone.seeds, alone.kind) == ("open", "one seed", 1, "")
    assert alone.runs == ("test/run-0", "test/run-1")
    assert alone.words == one_seed("so").words == "open (one seed)"
    two = claim.check_available({"test/run-0": trained("test/run-0", 0), "test/run-2": trained("test/run-2", 1)})
    assert (two.verdict, two.seeds) == ("refuted", 2)
    assert two.found_text == "refuted in 0 of 2 seeds (at most 78% of seeds, 95%), preliminary"
    assert claim.check(trained("test/run-0", 0)).verdict == "refuted"  # it is said of the network that was given


def test_pairs_of_one_seed_are_compared_and_each_seed_counts() -> None:
    epochs = {"a-0": 10.0, "a-1": 10.0, "b-0": 20.0, "b-1": 9.0}
    measure = in_pairs(lambda a, b: {"ratio": epochs[b.name] / epochs[a.name]})
    claim = replace(made(measure, ratio=at_least(1)), needs=tuple(epochs), scope="any seed")
    result = claim.check(*(trained(name, int(name[-1])) for name in epochs))
    assert result.measured == {"ratio": (2.0, 0.9)}
    assert (result.verdict, result.prevalence_text) == ("mixed", "1 of 2 seeds, preliminary")


def test_networks_of_which_what_is_given_is_not_so_are_not_counted() -> None:
    numbers = iter([(1.0, 5), (0.2, 5), (1.0, 1)])
    claim = made(lambda _: dict(zip(("learned", "x"), next(numbers), strict=True)), x=at_least(2))
    claim = replace(claim, given={"learned": at_least(0.9)})
    result = claim.check(run("a"), run("b"), run("c"))
    assert (result.verdict, result.prevalence_text, result.runs) == ("mixed", "1 of 2 seeds, preliminary", ("a", "c"))


@pytest.mark.parametrize(("x", "kind"), [(10.4, "near miss"), (11.0, "setting"), (float("nan"), "setting")])
def test_a_refutation_has_a_kind_and_a_near_miss_is_told_as_that(x: float, kind: str) -> None:
    claim = made(lambda _: {"x": x}, refuted("ours is 10 times as long", "setting"), x=at_most(10))
    assert claim.check(run()).kind == kind
    assert replace(claim, finding=variant("half as long")).check(run()).verdict == "open"


def test_an_expectation_of_ours_that_is_refuted_says_nothing_of_the_source() -> None:
    claim = made(lambda _: {"x": 10.4}, refuted("ours is longer", "our own expectation"), x=at_most(10))
    result = claim.check(run())
    assert (result.kind, result.to_json()["kind"]) == ("our own expectation", "our own expectation"), "a near miss, too"
    assert result.as_recorded
    assert not replace(claim, finding=refuted("ours is longer")).check(run()).as_recorded
    of_us = re.compile(r"ours\b(?!, from)|not in the (source|paper)")
    for each in (claim for claim in CLAIMS if claim.finding.verdict == "refuted" and of_us.match(claim.where)):
        assert each.finding.kind == "our own expectation", each.id


def test_an_accuracy_alone_tells_no_trained_network_from_another() -> None:
    expected = {"x": equals(1), "accuracy, own": at_least(0.9)}
    measured = made(lambda _: {"x": 1, "accuracy, own": 1.0}, **expected)
    result = replace(measured, behaviour=("accuracy, own",)).check(run())
    for before, control in (
        ({"x": (1.0,), "accuracy, own": (0.0,)}, "also true before training"),
        ({"x": (2.0,), "accuracy, own": (1.0,)}, "told apart"),
        ({"x": (float("nan"),), "accuracy, own": (float("nan"),)}, "without control"),
    ):
        assert replace(result, control={"before training": before}).specificity == control
    nothing_said = {"before training": {"x": (float("nan"),)}, "of random labels": {"x": (float("nan"),)}}
    assert replace(result, control=nothing_said).specificity == "without control"
    told = nothing_said | {"of another operation": {"x": (2.0,)}}
    assert replace(result, control=told).specificity == "told apart"
    learned_labels = told | {"of random labels": {"x": (1.0,)}}
    assert replace(result, control=learned_labels).specificity == "also true of random labels"
    memorised = {"before training": {"x": (2.0,)}, "after memorising": {"x": (1.0,)}}
    assert replace(result, control=memorised).specificity == "also true after memorising"


def test_what_did_not_come_with_a_run_is_not_measured() -> None:
    def raising(error: type[Exception]) -> Claim:
        def measure(_: NetworkMeasurements) -> dict[str, float]:
            raise error("it is not there")

        return made(measure, x=equals(1))

    for undefined in (NotRecorded, KeyError, IndexError, ZeroDivisionError, ValueError, RuntimeError):
        result = raising(undefined).check_foreign(run())
        assert result.reason == "does not apply"
        assert ("it is not there" in result.why) == (undefined is NotRecorded)  # which is written for people
        assert result.why
    for bug in (AttributeError, TypeError):
        with pytest.raises(bug):
            raising(bug).check_foreign(run())


def test_claims_are_made_with_keywords_alone() -> None:
    with pytest.raises(TypeError):
        Claim("test.x", "nowhere", "Something.", "1", lambda _: {}, {"x": equals(1)})  # type: ignore[misc]


def test_no_seed_at_all_holds_nothing() -> None:
    assert made(lambda _: {"x": []}, x=at_least(2)).check(run()).verdict == "refuted"


def test_a_missing_run_is_pending() -> None:
    claim = made(lambda _: {"x": 1}, x=equals(1), finding=pending("no run"))
    result = claim.check_available({})
    assert (result.verdict, result.reason) == ("open", "pending")
    assert result.as_recorded
    with pytest.raises(ValueError, match="is measured on a run, such as test/run-0"):
        claim.check()


def test_claims_must_expect_something_that_is_measured() -> None:
    with pytest.raises(ValueError, match="no measurement could refute it"):
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
    assert result.measured["ablated loss"][0] == pytest.approx(6.4, abs=0.05)
    assert nanda["fig5.left"].check(low_precision).measured["neurons above 0.85"] == (405,)


@pytest.mark.parametrize("name", sources())
def test_no_two_parts_of_a_page_have_one_id(name: str, reproduced: Callable[[str], Reproduced]) -> None:
    page = (reproduced(name).folder / "index.html").read_text()
    ids = re.findall(r"<\w+[^<>]* id=['\"]([^'\"]+)['\"]", page)
    assert len(ids) > 20
    assert not [each for each in set(ids) if ids.count(each) > 1]
