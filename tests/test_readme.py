"""The README says what is so."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from pathlib import Path

import pytest

from modinterp.claims import SOURCES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
FINDINGS = (ROOT / "docs" / "findings.md").read_text()


def counts(source: str) -> list[int]:
    """All claims of a source, and how many hold, are refuted, are not measured, as recorded."""
    found = Counter(claim.finding.verdict for claim in SOURCES[source].values())
    return [len(SOURCES[source]), found["holds"], found["refuted"], found["not measured"]]


def test_the_table_of_results_is_current() -> None:
    rows = re.findall(r"^\|.+\| `(\w+)` \|([ \d|]+)\|$", README, re.MULTILINE)
    table = {source: [int(n) for n in numbers.split("|")] for source, numbers in rows}
    assert table == {source: counts(source) for source in SOURCES}


@pytest.mark.parametrize("source", SOURCES)
def test_counts_are_the_recorded_ones(source: str) -> None:
    claims, hold, refuted, pending = counts(source)
    assert f"**{claims} claims, {hold} hold, {refuted} refuted, {pending} not measured**" in FINDINGS


@pytest.mark.parametrize("page", ["README.md", "docs/findings.md"])
def test_counts_and_tables_are_those_of_the_claims(page: str) -> None:
    text, current = (ROOT / page).read_text(), runpy.run_path(str(ROOT / "docs" / "findings.py"))["current"]
    assert current(text) == text, "python docs/findings.py writes them anew"
    stale = re.sub(r"(`nanda` \|) \d+", r"\1 9", re.sub(r"\*\*\d+ claims", "**9 claims", text))
    stale = re.sub(r"\n\| `[^\n]+", "", stale)  # a row of the tables that are made of the claims
    assert stale != text
    assert current(stale) == text


@pytest.mark.parametrize("source", SOURCES)
def test_every_claim_that_is_refuted_or_not_measured_is_named(source: str) -> None:
    section = FINDINGS.partition(f"\n## {source}\n")[2].partition("\n## ")[0]
    for claim in SOURCES[source].values():
        named = f"`{claim.id.removeprefix(f'{source}.')}`" in section
        assert named == (claim.finding.verdict != "holds"), claim.id


def test_links_and_files_exist() -> None:
    for path in re.findall(r"\]\(([^)#:]+)\)|`((?:docs|notebooks|tests|benchmarks)/[\w./-]+)`", README):
        assert (ROOT / (path[0] or path[1])).exists(), path


def test_the_example_runs(mainline) -> None:
    block = README.split("## Use it")[1].split("Your own checkpoint")[0]
    code = "\n".join(line[4:] for line in block.splitlines() if line.startswith("    "))
    names: dict = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["keys"].freqs == (1, 5, 7, 29)
