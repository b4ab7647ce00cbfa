"""The bands of claims about networks against those of the ledger, which were read entry by entry into a table.

A row of `ledger_bands.csv` is a claim, or a pattern of several, one of its numbers, the ledger's band for it, why ours is
another one or why the ledger has none, and the entry in which it stands, where that is not the claim's own.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from modinterp.claims import Band, Claim
from modinterp.sources import source

LEDGER = Path(__file__).parents[3] / "shared" / "ledger"
NAMES = ("nanda", "mlp", "clock", "miiii", "circuits", "groups", "pizza", "he", "arena", "validity")
CLAIMS = {claim.id: claim for name in NAMES for claim in source(name).claims.values() if claim.is_about_networks}
# statements of the sources that the ledger does not have
OURS = {
    "nanda.fig3.frequencies",
    "nanda.fig9.frequencies",
    "nanda.s52.memorization_flat",
    "nanda.s52.cleanup_restricted",
    "nanda.C13.amplifier_norms",
    "clock.s8.bup_orthant",
    "clock.s93.origin",
    "clock.s5.inactive_norms",
    "clock.s6.head0_mixture",
    "clock.s61.offset_periodic",
    "miiii.slower",
    "circuits.obs.width_shape",
    "circuits.max.k_flat",
    "groups.s5.cosets",
    "groups.proof",
    "arena.sum.carry_swap",
    "arena.sum.nines_swap",
    "arena.sum.half_turn",
    "arena.sum.through_nines",
}
# `validity.md` writes its entries in one paragraph
ACCEPTED = r"accept(?: \(\d+\))?: (.*?)(?:\n- run|$)|\*Accept\* (.*?)(?:\*[A-Z]|\bH \d|$)"
NUMBER = r"(\d+(?:\.\d+)?|\.\d+)(e-?\d+)?(k\b|%)?(?:/(\d+))?"


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    claims: str
    number: str
    band: str
    why: str
    stands_in: str

    @property
    def of(self) -> list[Claim]:
        """The claims that it is about."""
        fitting = [claim for id, claim in CLAIMS.items() if fnmatchcase(id, self.claims)]
        return [claim for claim in fitting if self.number in claim.expected]


def rows() -> Iterator[Row]:
    """The rows of the table."""
    with (Path(__file__).parent / "ledger_bands.csv").open() as file:
        yield from (Row(**row) for row in csv.DictReader(file))


ROWS = tuple(rows())


def read(text: str) -> Band:
    """A band from how it is told."""
    words = text.split()
    if text.startswith("at least"):
        return Band(float(words[2]), float("inf"))
    if text.startswith("at most"):
        return Band(-float("inf"), float(words[2]))
    return Band(float(words[0]), float(words[-1]))


def accepted() -> dict[str, str]:
    """Id of an entry of the ledger to what it accepts."""
    found = {}
    for name in NAMES:
        for part in re.split(r"\n(?=\*\*`|##)", (LEDGER / f"{name}.md").read_text()):
            if (id := re.match(r"\*\*`([^`]+)`", part)) and (text := re.search(ACCEPTED, part, re.S)):
                found[id[1]] = text[1] or text[2]
    return found


def numbers(text: str) -> set[float]:
    """The numbers of a text, with thousands, shares in percent and fractions as what they are."""
    found = set()
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    for digits, power, unit, below in re.findall(NUMBER, f"{text.replace(',', ' ')} {plain.replace(',', ' ')}"):
        x = float(digits + power)
        found |= {x, x * 1000} if unit == "k" else {x, x / 100} if unit == "%" else {x}
        if below.strip("0"):
            found.add(x / float(below))
    return found


def test_every_number_that_a_claim_about_networks_expects_is_in_the_table() -> None:
    told = {(claim.id, row.number) for row in ROWS for claim in row.of}
    empty = [f"{row.claims}, {row.number}: no claim" for row in ROWS if not row.of]
    assert not empty, "\n".join(empty)
    assert told == {(id, number) for id, claim in CLAIMS.items() if id not in OURS for number in claim.expected}


def unlike(row: Row) -> Iterator[str]:
    """What is wrong with our tolerance for each claim of a row, beside the ledger's."""
    for claim in row.of:
        ours = claim.expected[row.number]
        if str(ours).replace(",", "") == row.band:  # the table has no commas within numbers
            if row.why:
                yield f"{claim.id}, {row.number}: {ours}, as in the ledger, and yet a reason is given"
        elif not row.why:
            yield f"{claim.id}, {row.number}: {ours}, where the ledger has {row.band or 'no band'}"
        elif row.band:
            ledgers = read(row.band)
            narrower = ledgers.low <= ours.low and ours.high <= ledgers.high
            if not (narrower or claim.changed or row.why.startswith("the same")):
                yield f"{claim.id}, {row.number}: {ours} is wider than {row.band}"


def unwritten(row: Row, entries: dict[str, str]) -> Iterator[str]:
    """The ends of a row's tolerance that the ledger's entry does not have."""
    band = read(row.band)
    for claim in row.of:
        written = numbers(entries[row.stands_in or claim.id])
        for end in {band.low, band.high} - {float("inf"), -float("inf")}:
            if not any(abs(abs(end) - x) <= 1e-6 * max(1, x) for x in written):
                yield f"{claim.id}, {row.number}: {end:g} of {row.band} is not in the ledger"


def test_our_bands_are_the_ledgers_or_say_why_not() -> None:
    failures = [failure for row in ROWS for failure in unlike(row)]
    assert not failures, "\n".join(failures)


@pytest.mark.skipif(not LEDGER.is_dir(), reason="the ledger is not at hand")
def test_the_ledgers_bands_are_read_rightly() -> None:
    entries = accepted()
    failures = [failure for row in ROWS if row.band for failure in unwritten(row, entries)]
    assert not failures, "\n".join(failures)


@pytest.mark.skipif(not LEDGER.is_dir(), reason="the ledger is not at hand")
def test_every_entry_about_networks_is_in_the_table() -> None:
    listed = {line.split("\t")[0] for line in (LEDGER / "ids.tsv").read_text().splitlines()}
    told = {row.stands_in if claim.id not in listed else claim.id for row in ROWS for claim in row.of}
    assert told <= listed
    assert not OURS & listed
