"""The README says what is so."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from reproduced import Reproduced

from modinterp.sources import source, sources

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
DOCS = {path.name: path.read_text() for path in (ROOT / "docs").glob("*.md")}
FINDINGS = (ROOT / "docs" / "findings.md").read_text()
WRITTEN_BY = runpy.run_path(str(ROOT / "docs" / "findings.py"))
current = WRITTEN_BY["current"]


ROWS = re.findall(r"^\| (.+) \| `(\w+)` \|([ \d|]+)\|$", README, re.MULTILINE)


@dataclass(frozen=True)
class Written:
    """The counts of a source as README.md and docs/findings.md have them, in place of those that are measured."""

    measurements: dict[str, int]
    words: str

    def __str__(self) -> str:
        return self.words


def written() -> dict[str, Written]:
    words = dict(re.findall(r"\n## (\w+)\n[^*]*\*[^*]+\*[^*]*\*\*([^*]+)\*\*", FINDINGS))
    return {
        name: Written(dict(zip(WRITTEN_BY["COUNTED"], map(int, numbers.split("|")), strict=False)), words[name])
        for _, name, numbers in ROWS
    }


def test_the_table_of_results_has_every_source() -> None:
    assert {name for _, name, _ in ROWS} == set(sources())
    for text, name, _ in ROWS:
        about = source(name)
        assert text == (f"[{about.citation}]({about.link})" if about.link else f"*{about.title}*, {about.citation}")


@pytest.mark.parametrize("name", sources())
def test_the_counts_are_those_that_are_measured(name: str, reproduced: Callable[[str], Reproduced]) -> None:
    tally = reproduced(name).reproduction.tally
    numbers = next(numbers for _, each, numbers in ROWS if each == name)
    assert [int(n) for n in numbers.split("|")] == WRITTEN_BY["counts"](source(name), tally)
    assert sum(tally.statements.values()) == len(source(name))
    assert f"**{tally}**" in FINDINGS
    written = {id: text for id, text in WRITTEN_BY["missed"]().items() if id.startswith(f"{name}.")}
    assert WRITTEN_BY["missed_of"](reproduced(name).reproduction.results) == written


@pytest.mark.parametrize("page", ["README.md", "docs/findings.md"])
def test_tables_are_those_of_the_claims(page: str) -> None:
    text = (ROOT / page).read_text()
    assert current(text, written()) == text, "python docs/findings.py writes them anew"
    stale = re.sub(r"(`nanda` \|)\d+", r"\g<1>9", re.sub(r"\*\*\d+ claims", "**9 claims", text))
    stale = re.sub(r"\n\| `[^\n]+", "", stale)  # a row of the tables that are made of the claims
    assert stale != text
    assert current(stale, written()) == text


def test_the_count_of_verdicts_on_some_of_their_runs_is_current() -> None:
    text = (ROOT / "docs" / "verdicts.md").read_text()
    stale = re.sub(r"\d+ of the verdicts", "9999 of the verdicts", text)
    assert stale != text
    assert current(stale, written()) == text, "python docs/findings.py writes it anew"


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
    assert current(re.sub(r"\n\|[^\n]+`clock`[^\n]+", "", README), written()) == README
    before, _, rest = FINDINGS.partition("\n## clock\n")
    without = f"{before}\n## {rest.partition(chr(10) + '## ')[2]}"
    assert "## clock" not in without
    section = current(without, written()).partition("\n## clock\n")[2]
    assert str(written()["clock"]) in section
    table = FINDINGS.partition("<!-- clock: by")[2].partition("<!-- clock: end")[0]
    assert table in section
    once = current(without, written())
    assert current(once, written()) == once


@pytest.mark.parametrize("name", sources())
def test_every_claim_that_is_refuted_or_not_measured_is_named(name: str) -> None:
    section = FINDINGS.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    for claim in source(name).claims.values():
        written = f"`{claim.id.removeprefix(f'{name}.')}`" in section
        assert written == (claim.finding.verdict != "holds"), claim.id


def test_the_readme_is_a_screen_and_a_half() -> None:
    assert len(README.split()) <= 700


def test_links_and_files_exist() -> None:
    places = r"\]\(([^)#:]+)\)|`((?:docs|notebooks|tests|benchmarks|modinterp)/[\w./-]+)`"
    for folder, page in ((ROOT, README), (ROOT, CONTRIBUTING), *((ROOT / "docs", text) for text in DOCS.values())):
        for link, file in re.findall(places, page):
            stands_for_others = re.search(r"\b(YOURS|NAME|test_YOURS)\b", file)
            assert stands_for_others or (folder / link if link else ROOT / file).exists(), link or file


@pytest.mark.long
def test_the_example_runs(mainline) -> None:
    block = README.split("## Use it")[1].split("[Your own checkpoint")[0]
    code = "\n".join(line[4:] for line in block.splitlines() if line.startswith("    "))
    names: dict = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["m"].keys.freqs == (14, 35, 41, 42, 52)


def test_the_moving_picture_is_small_and_moves() -> None:
    image = pytest.importorskip("PIL.Image")
    picture = ROOT / "docs" / "grokking.webp"
    assert picture.stat().st_size < 1.5 * 2**20
    assert "docs/grokking.webp" in README
    assert image.open(picture).n_frames >= 8
