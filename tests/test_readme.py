"""The README says what is so."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from modinterp.sources import source, sources

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
DOCS = {path.name: path.read_text() for path in (ROOT / "docs").glob("*.md")}
FINDINGS = (ROOT / "docs" / "findings.md").read_text()
WRITTEN_BY = runpy.run_path(str(ROOT / "docs" / "findings.py"))
current = WRITTEN_BY["current"]


def test_the_table_of_results_is_current() -> None:
    rows = re.findall(r"^\| (.+) \| `(\w+)` \|([ \d|]+)\|$", README, re.MULTILINE)
    assert {name: [int(n) for n in numbers.split("|")] for _, name, numbers in rows} == {
        n: WRITTEN_BY["counts"](source(n)) for n in sources()
    }
    for text, name, _ in rows:
        assert source(name).title in text
        assert text.endswith(source(name).citation)
        assert source(name).link in text


@pytest.mark.parametrize("name", sources())
def test_the_table_counts_what_the_records_say(name: str) -> None:
    """The same numbers by another way: those of the tally, where refutations are not told apart."""
    every, untrained, selected, some, none, wrong, still_open, contradictions = WRITTEN_BY["counts"](source(name))
    once = source(name).tally.measurements
    assert [every, untrained, selected, some, none + wrong, still_open] == list(once.values())
    assert contradictions == len(source(name).contradictions)
    refuted = [claim for claim in source(name).claims.values() if claim.finding.kind == "source"]
    assert wrong <= len(refuted)
    assert bool(wrong) == bool(refuted)


@pytest.mark.parametrize("name", sources())
def test_counts_are_the_recorded_ones(name: str) -> None:
    assert f"**{source(name).tally}**" in FINDINGS


@pytest.mark.parametrize("page", ["README.md", "docs/findings.md"])
def test_counts_and_tables_are_those_of_the_claims(page: str) -> None:
    text = (ROOT / page).read_text()
    assert current(text) == text, "python docs/findings.py writes them anew"
    stale = re.sub(r"(`nanda` \|) \d+", r"\1 9", re.sub(r"\*\*\d+ claims", "**9 claims", text))
    stale = re.sub(r"\n\| `[^\n]+", "", stale)  # a row of the tables that are made of the claims
    assert stale != text
    assert current(stale) == text


def test_the_count_of_verdicts_on_some_of_their_runs_is_current() -> None:
    text = (ROOT / "docs" / "verdicts.md").read_text()
    stale = re.sub(r"\d+ of the verdicts", "9999 of the verdicts", text)
    assert stale != text
    assert current(stale) == text, "python docs/findings.py writes it anew"


@pytest.mark.long
def test_tables_of_figures_are_those_of_the_shipped_networks() -> None:
    text = (ROOT / "docs" / "definitions.md").read_text()
    stale = re.sub(r"\n\| nanda/[^\n]+", "", text)
    assert stale != text
    assert WRITTEN_BY["with_tables"](stale) == text, "python docs/findings.py writes them anew"


def test_every_change_of_a_band_or_measure_is_on_its_page() -> None:
    written = (ROOT / "docs" / "verdict_changes.md").read_text()
    assert WRITTEN_BY["changes"]() == written, "python docs/findings.py writes it anew"
    for claim in (claim for name in sources() for claim in source(name).claims.values()):
        assert (f"`{claim.id}`" in written) == bool(claim.changed)


def test_a_new_source_gets_its_row_and_its_section() -> None:
    assert current(re.sub(r"\n\|[^\n]+`clock`[^\n]+", "", README)) == README
    before, _, rest = FINDINGS.partition("\n## clock\n")
    without = f"{before}\n## {rest.partition(chr(10) + '## ')[2]}"
    assert "## clock" not in without
    section = current(without).partition("\n## clock\n")[2]
    assert str(source("clock").tally) in section
    table = FINDINGS.partition("<!-- clock: by")[2].partition("<!-- clock: end")[0]
    assert table in section
    assert current(current(without)) == current(without)


@pytest.mark.parametrize("name", sources())
def test_every_claim_that_is_refuted_or_not_measured_is_named(name: str) -> None:
    section = FINDINGS.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    for claim in source(name).claims.values():
        written = f"`{claim.id.removeprefix(f'{name}.')}`" in section
        assert written == (claim.finding.verdict != "holds"), claim.id


def test_the_readme_is_a_screen_and_a_half() -> None:
    assert len(README.split()) <= 900


def test_links_and_files_exist() -> None:
    places = r"\]\(([^)#:]+)\)|`((?:docs|notebooks|tests|benchmarks|modinterp)/[\w./-]+)`"
    for folder, page in ((ROOT, README), (ROOT, CONTRIBUTING), *((ROOT / "docs", text) for text in DOCS.values())):
        for link, file in re.findall(places, page):
            stands_for_others = re.search(r"\b(YOURS|NAME|test_YOURS)\b", file)
            assert stands_for_others or (folder / link if link else ROOT / file).exists(), link or file


@pytest.mark.long
def test_the_example_runs(mainline) -> None:
    block = README.split("## Use it")[1].split("Your own checkpoint")[0]
    code = "\n".join(line[4:] for line in block.splitlines() if line.startswith("    "))
    names: dict = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["m"].keys.freqs == (14, 35, 41, 42, 52)
