"""Bring docs/findings.md and the table of README.md up to date with the verdicts that the claims record.

    python docs/findings.py

What is written by hand stays: all but the counts, and what stands between the two marks of a source.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

from modinterp.claims import SOURCES, Claim, Source
from modinterp.runs import store

ROOT = Path(__file__).parents[1]
PLACES = (ROOT / "README.md", ROOT / "docs" / "findings.md")


def current(text: str) -> str:
    """A page with the counts, tables and lists of today."""
    text = re.sub(r"\d+ of the verdicts", f"{_on_some_of_their_runs()} of the verdicts", text)
    for source in SOURCES.values():
        found = Counter(claim.finding.verdict for claim in source.values())
        n = (len(source), found["holds"], found["refuted"], found["not measured"])
        counts = "{} claims, {} hold, {} refuted, {} not measured".format(*n)
        text = re.sub(rf"(\n\|[^\n]+\| `{source.name}` \|)[ \d|]+\n", rf"\g<1> {' | '.join(map(str, n))} |\n", text)
        text = re.sub(rf"(?s)(\n## {source.name}\n.*?\*\*)\d+ claims, [^*]+", rf"\g<1>{counts}", text, count=1)
        begin, end = f"<!-- {source.name}: by docs/findings.py -->", f"<!-- {source.name}: end -->"
        before, begun, rest = text.partition(begin)
        if begun:
            text = f"{before}{begin}\n{''.join(_tables(source))}{end}{rest.partition(end)[2]}"
    return text


def _on_some_of_their_runs() -> int:
    """Number of verdicts with a run that is not shipped."""
    there = set(store.run_names(store.checkpoints()))
    claims = [claim for source in SOURCES.values() for claim in source.values()]
    return sum(claim.finding.verdict != "not measured" and bool(set(claim.needs) - there) for claim in claims)


def _tables(source: Source) -> list[str]:
    parts = []
    for verdict, head, last in (("refuted", "Refuted", "What was measured"), ("not measured", "Not measured", "Why")):
        why = defaultdict(list)
        for claim in source.values():
            if claim.finding.verdict == verdict:
                why[claim.finding.why].append(claim)
        rows = [f"| {_ids(claims)} | {_statements(claims)} | {reason[0].upper()}{reason[1:].rstrip('.')}. |\n"
                for reason, claims in why.items()]  # fmt: skip
        if rows:
            parts.append(f"| {head} | The source says | {last} |\n|---|---|---|\n{''.join(rows)}\n")
    return parts


def _ids(claims: list[Claim]) -> str:
    return ", ".join(f"`{claim.id.partition('.')[2]}`" for claim in claims)


def _statements(claims: list[Claim]) -> str:
    """What the claims of one row say, at most two of them."""
    said = list(dict.fromkeys(claim.statement for claim in claims))
    return " ".join(said[:2]).replace("|", r"\|") + (" And the like." if len(said) > 2 else "")


if __name__ == "__main__":
    for place in PLACES:
        place.write_text(current(place.read_text()))
