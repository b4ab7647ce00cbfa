"""The paper's numbers beside ours: on the page of definitions, and each that lies outside of all with its reason."""

from __future__ import annotations

import json
import re
import runpy
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from reproduced import Reproduced

from modinterp.reproduce.printed import OUTSIDE, printed_table

ROOT = Path(__file__).parents[3]
WRITTEN_BY = runpy.run_path(str(ROOT / "docs" / "findings.py"))


def test_every_number_outside_of_all_that_is_measured_has_its_reason(reproduced: Callable[[str], Reproduced]) -> None:
    table = printed_table(reproduced("nanda").reproduction.results)
    outside = table[table["the source's number is"] == OUTSIDE]
    assert 0 < len(outside) < len(table) / 3
    assert [row for row in outside.to_dict("records") if not row["why outside"]] == []


def test_the_page_of_definitions_has_these_numbers(reproduced: Callable[[str], Reproduced]) -> None:
    text = (ROOT / "docs" / "definitions.md").read_text()
    stale = re.sub(r"\n\| `[^\n]+", "", text)
    assert stale != text
    results = reproduced("nanda").reproduction.results
    assert WRITTEN_BY["with_printed"](stale, results) == text, "python docs/findings.py writes them anew"


def test_the_readme_shows_lines_of_this_report(reproduced: Callable[[str], Reproduced]) -> None:
    text = (ROOT / "README.md").read_text()
    stale = re.sub(r"(?m)^(    nanda\.\S+  ).*$", r"\1", text)
    assert stale != text
    results = reproduced("nanda").reproduction.results
    assert WRITTEN_BY["with_lines"](stale, results) == text, "python docs/findings.py writes them anew"


def test_totals_can_be_had_from_the_file(reproduced: Callable[[str], Reproduced]) -> None:
    claims = json.loads((reproduced("nanda").folder / "claims.json").read_text())
    once = Counter(column for _, column in {(claim["measurement"], claim["counts_as"]) for claim in claims})
    tally = reproduced("nanda").reproduction.tally
    assert once == Counter({column: n for column, n in tally.measurements.items() if n})
    assert Counter(claim["counts_as"] for claim in claims) == Counter({c: n for c, n in tally.statements.items() if n})
