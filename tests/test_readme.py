"""The README says what is so."""

from __future__ import annotations

import re
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from modinterp.claims import SOURCES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("source", SOURCES)
def test_counts_are_the_recorded_ones(source: str) -> None:
    claims = SOURCES[source]
    found = Counter(claim.finding.verdict for claim in claims.values())
    counts = f"{found['holds']} hold, {found['refuted']} refuted, {found['not measured']} not measured"
    assert f"**{len(claims)} claims, {counts}**" in README


@pytest.mark.parametrize("source", SOURCES)
def test_every_claim_that_is_refuted_or_not_measured_is_named(source: str) -> None:
    named = re.findall(r"`(\w[\w.*?\[\]-]+)`", README)
    for claim in SOURCES[source].values():
        if claim.finding.verdict != "holds":
            assert any(fnmatchcase(claim.id.removeprefix(f"{source}."), name) for name in named), claim.id


def test_links_and_files_exist() -> None:
    for path in re.findall(r"\]\(([^)#:]+)\)|`((?:docs|notebooks|tests|benchmarks)/[\w./-]+)`", README):
        assert (ROOT / (path[0] or path[1])).exists(), path


def test_the_example_runs(mainline) -> None:
    block = README.split("## Use it")[1].split("Your own checkpoint")[0]
    code = "\n".join(line[4:] for line in block.splitlines() if line.startswith("    "))
    names: dict = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["keys"].freqs == (1, 5, 7, 29)
