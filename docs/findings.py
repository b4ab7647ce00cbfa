"""Bring docs/findings.md and the table of README.md up to date with the sources and the verdicts that they record.

    python docs/findings.py

What is written by hand stays: all but the rows of the README's table, the counts, and what stands between the two marks
of a source. A source that is new gets its row and its section.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

from modinterp.claims import Claim
from modinterp.runs import store
from modinterp.sources import Source, sources

ROOT = Path(__file__).parents[1]
PLACES = (ROOT / "README.md", ROOT / "docs" / "findings.md")


HEADER = "| source | | claims | hold | refuted | not measured |\n|---|---|---|---|---|---|\n"
VERDICTS = ("holds", "refuted", "not measured")


def current(text: str) -> str:
    """A page with the counts, tables and lists of today."""
    text = re.sub(r"\d+ of the verdicts", f"{_on_some_of_their_runs()} of the verdicts", text)
    rows = "".join(f"{_row(source)}\n" for source in _own_sources())
    text = re.sub(rf"{re.escape(HEADER)}(\|.*\n)*", lambda _: HEADER + rows, text)
    for source in _own_sources():
        if text.startswith("# What was found\n") and f"\n## {source.name}\n" not in text:
            text = f"{text.rstrip()}\n\n{_section(source)}"
        counts = rf"(?s)(\n## {source.name}\n.*?\*\*)\d+ claims, [^*]+"
        text = re.sub(counts, rf"\g<1>{_in_words(source)}", text, count=1)
        begin, end = _marks(source)
        before, begun, rest = text.partition(begin)
        if begun:
            text = f"{before}{begin}\n{''.join(_tables(source))}{end}{rest.partition(end)[2]}"
    return text


def _own_sources() -> list[Source]:
    """The sources that come with modinterp, those with the most claims first."""
    own = [source for source in sources().values() if source.package.startswith("modinterp.")]
    return sorted(own, key=len, reverse=True)


def _counts(source: Source) -> list[int]:
    """How many claims hold, are refuted and are not measured, as recorded."""
    recorded = Counter(claim.finding.verdict for claim in source.claims.values())
    return [recorded[verdict] for verdict in VERDICTS]


def _row(source: Source) -> str:
    """The row of a source in the README's table."""
    title = f"*[{source.title}]({source.link})*" if source.link else f"*{source.title}*"
    numbers = " | ".join(map(str, (len(source), *_counts(source))))
    return f"| {title}, {source.citation} | `{source.name}` | {numbers} |"


def _in_words(source: Source) -> str:
    return "{} claims, {} hold, {} refuted, {} not measured".format(len(source), *_counts(source))


def _marks(source: Source) -> tuple[str, str]:
    """What stands around the tables of a source."""
    return f"<!-- {source.name}: by docs/findings.py -->", f"<!-- {source.name}: end -->"


def _section(source: Source) -> str:
    """The section of a source that has none yet."""
    begin, end = _marks(source)
    return f"## {source.name}\n*{source.title}* ({source.citation}): **{_in_words(source)}**.\n\n{begin}\n{end}\n"


def _on_some_of_their_runs() -> int:
    """Number of verdicts with a run that is not shipped."""
    there = set(store.run_names(store.checkpoints()))
    claims = [claim for source in _own_sources() for claim in source.claims.values()]
    return sum(claim.finding.verdict != "not measured" and bool(set(claim.needs) - there) for claim in claims)


def _tables(source: Source) -> list[str]:
    parts = []
    for verdict, head, last in (("refuted", "Refuted", "What was measured"), ("not measured", "Not measured", "Why")):
        why = defaultdict(list)
        for claim in source.claims.values():
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
