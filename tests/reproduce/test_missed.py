"""Numbers outside their tolerances: as data of a result, and as text of a page."""

from __future__ import annotations

from modinterp.claims import Claim, Finding, Result, at_least, at_most
from modinterp.claims.relatives import Network
from modinterp.reproduce.findings import missed_text
from modinterp.training.relation import Relation


def result(values: tuple[float, ...], relations: tuple[Relation | None, ...]) -> Result:
    claim = Claim(
        id="test.x", where="table 1", statement="Something.", source_says="1", measure=lambda _: {},
        expected={"own loss": at_most(0.1), "share": at_least(0.5)}, needs=("a/run-0",), scope="any seed",
        finding=Finding("mixed"),
    )  # fmt: skip
    networks = tuple(Network(f"a/run-{i}", how) for i, how in enumerate(relations))
    return Result(claim, {"own loss": values, "share": tuple(1.0 for _ in values)}, networks)


def test_each_network_has_the_numbers_that_it_misses() -> None:
    mixed = result((0.05, 0.2, 0.3), (Relation.SAME, Relation.SEED, Relation.SEED))
    assert mixed.missed == {
        "run-1": {"own loss": ("0.2", "at most 0.1")},
        "run-2": {"own loss": ("0.3", "at most 0.1")},
    }
    assert (
        missed_text(mixed)
        == "run-1: own loss = 0.2 (expected: at most 0.1). run-2: own loss = 0.3 (expected: at most 0.1)"
    )


def test_at_most_three_networks_are_named() -> None:
    text = missed_text(result((0.05, 0.2, 0.3, 0.4, 0.5), (Relation.SAME, *(Relation.SEED,) * 4)))
    assert text.count("expected") == 3
    assert text.endswith("The claim fails in 1 more network")


def test_a_claim_that_holds_misses_nothing() -> None:
    held = result((0.05, 0.06), (Relation.SAME, Relation.SEED))
    assert (held.missed, missed_text(held)) == ({}, "")
