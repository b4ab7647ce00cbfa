"""Bring docs/findings.md, verdicts.md, verdict_changes.md, definitions.md and README.md up to date.

    python docs/findings.py

What is written by hand stays: all but the README's table and its lines of a report, the counts, and what stands
between two marks. They come from the claims' records; those lines, and the tables of docs/definitions.md, from the
networks that are shipped. A source that is new gets its row and its section.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from modinterp.claims import Claim, Result
from modinterp.claims.finding import KINDS
from modinterp.claims.tally import Column, Tally
from modinterp.reproduce.printed import OUTSIDE, printed_table
from modinterp.reproduce.report import terminal_table
from modinterp.reproduce.reproduction import measurements_of, reproduction
from modinterp.runs import store
from modinterp.sources import Source, source, sources

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PLACES = (README, ROOT / "docs" / "findings.md", ROOT / "docs" / "verdicts.md")
DEFINITIONS = ROOT / "docs" / "definitions.md"
CHANGES = ROOT / "docs" / "verdict_changes.md"
MISSED = ROOT / "docs" / "missed.json"  # what `missed` reads


COUNTED: dict[Column, str] = {
    "mathematics": "mathematics and set-up",
    "many seeds": "8 or more seeds",
    "few seeds": "fewer seeds",
    "redefined": "redefined",
    "no control": "also of controls",
    "by selection": "by selection",
    "mixed": "in some seeds",
    "refuted": "refuted",
    "open": "open",
}
SHOWN = re.compile(r"^    (\w+\.\S+)  .*$", re.MULTILINE)  # a line of a report, by the claim's id
HEADER = f"| what is said by | | {' | '.join(COUNTED.values())} | contradictions |\n|{'---|' * (3 + len(COUNTED))}\n"
HEADS = {"refuted": ("Refuted", "What was measured"), "mixed": ("True of some networks", "What was measured"),
         "open": ("Open", "Why")}  # fmt: skip


def current(text: str, tallies: Mapping[str, Tally]) -> str:
    """A page with the counts, tables and lists of today.

    Args:
        tallies: name of a source to its verdicts counted, as `reproduce` measures them.
    """
    text = re.sub(r"\d+ of the verdicts", f"{_on_some_of_their_runs()} of the verdicts", text)
    rows = "".join(f"{_row(each, tallies[each.name])}\n" for each in _own_sources()) + _total(tallies)
    text = re.sub(r"\| what is said by .*\n(\|.*\n)*", lambda _: HEADER + rows, text)
    for each in _own_sources():
        if text.startswith("# What was found\n") and f"\n## {each.name}\n" not in text:
            text = f"{text.rstrip()}\n\n{_section(each, tallies[each.name])}"
        counts = rf"(?s)(\n## {each.name}\n.*?\*\*)\d+ claims?, [^*]+"
        text = re.sub(counts, rf"\g<1>{tallies[each.name]}", text, count=1)
        begin, end = _marks(each)
        before, begun, rest = text.partition(begin)
        if begun:
            text = f"{before}{begin}\n{''.join(_tables(each))}{end}{rest.partition(end)[2]}"
    return text


def with_tables(text: str) -> str:
    """A page with the tables of figures that it has marks for, measured on the networks that are shipped."""
    return re.sub(r"<!-- (\w+), table of (\w+): by .* -->\n(?:\|.*\n)*", _marked_table, text)


def _marked_table(mark: re.Match[str]) -> str:
    about = source(mark[1])
    drawing = about.drawings[mark[2]]
    names = [name for name in about.runs if drawing.shows(name, about.main_run)]
    table = drawing.made_table(measurements_of(names), about.main_run)
    rows = [] if table is None else [table.columns, ["---"] * table.shape[1], *table.itertuples(index=False)]
    return mark[0].partition("\n")[0] + "\n" + "".join(f"| {' | '.join(map(_cell, row))} |\n" for row in rows)


def with_printed(text: str, results: Iterable[Result]) -> str:
    """A page with the tables of printed numbers that it has marks for, from what was measured of a source.

    A mark names the claims, or says `outside` for all numbers that lie outside of what is measured, with the reason.
    """
    table = printed_table(results)
    return re.sub(
        r"<!-- \w+, printed numbers of ([^:]+): by .* -->\n(?:\|.*\n)*", lambda mark: _printed(mark, table), text
    )


def _printed(mark: re.Match[str], table: pd.DataFrame) -> str:
    outside = mark[1] == "all that lie outside"
    last = "why outside" if outside else "the source's number is"
    head = ("claim", "number", "the source", "ours", "variants of its seed", "other seeds", last)
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in table.to_dict("records"):
        claim = row["claim"].partition(".")[2]
        if row["the source's number is"] == OUTSIDE if outside else claim in mark[1].split(", "):
            ranges = (_between(row, name) for name in ("variants of the seed", "other seeds"))
            cells = (f"`{claim}`", row["number"], f"{row['the source']:.3g}", f"{row['ours']:.3g}", *ranges, row[last])
            lines.append(f"| {' | '.join(cells)} |")
    return mark[0].partition("\n")[0] + "\n" + "\n".join(lines) + "\n"


def _between(row: dict[Hashable, Any], name: str) -> str:
    low, high, n = (row[f"{name}, {what}"] for what in ("smallest", "largest", "networks"))
    return f"{low:.3g} to {high:.3g} ({n})" if n else "none"


def with_lines(text: str, results: Iterable[Result]) -> str:
    """A page with the lines of a report that it shows, as `python -m modinterp.reproduce` prints them."""
    told = {result.claim.id: result for result in results}
    ids = [id for id in SHOWN.findall(text) if id in told]
    lines = dict(zip(ids, terminal_table(tuple(told[id] for id in ids), 116).splitlines()[2:], strict=True))
    return SHOWN.sub(lambda line: f"    {lines[line[1]]}" if line[1] in lines else line[0], text)


def _cell(x: object) -> str:
    if not isinstance(x, float):
        return f"{x:,}" if isinstance(x, int) else str(x)
    return "" if x != x else f"{x:,.0f}" if x == int(x) else f"{x:.1e}"


def _own_sources() -> list[Source]:
    """The sources that come with modinterp, those with the most claims first."""
    own = [each for each in sources().values() if each.package.startswith("modinterp.")]
    return sorted(own, key=len, reverse=True)


def counts(source: Source, tally: Tally) -> list[int]:
    """How many measurements of a source are in each column of the README's table, and its contradictions."""
    return [*(tally.measurements[column] for column in COUNTED), len(source.contradictions)]


def _row(source: Source, tally: Tally) -> str:
    """The row of a source in the README's table."""
    words = f"[{source.citation}]({source.link})" if source.link else f"*{source.title}*, {source.citation}"
    return f"| {words} | `{source.name}` |{'|'.join(map(str, counts(source, tally)))}|"


def _total(tallies: Mapping[str, Tally]) -> str:
    """The last row of the README's table."""
    together = (sum(column) for column in zip(*(counts(s, tallies[s.name]) for s in _own_sources()), strict=True))
    return f"| all | |{'|'.join(f'**{n}**' for n in together)}|\n"


def _marks(source: Source) -> tuple[str, str]:
    """What stands around the tables of a source."""
    return f"<!-- {source.name}: by docs/findings.py -->", f"<!-- {source.name}: end -->"


def _section(source: Source, tally: Tally) -> str:
    """The section of a source that has none yet."""
    begin, end = _marks(source)
    return f"## {source.name}\n*{source.title}* ({source.citation}): **{tally}**.\n\n{begin}\n{end}\n"


def _on_some_of_their_runs() -> int:
    """Number of verdicts with a run that is not shipped."""
    there = set(store.run_names(store.checkpoints()))
    claims = [claim for each in _own_sources() for claim in each.claims.values()]
    return sum(claim.finding.verdict != "open" and bool(set(claim.needs) - there) for claim in claims)


def _tables(source: Source) -> list[str]:
    parts = []
    for verdict, (head, last) in HEADS.items():
        why = defaultdict(list)
        for claim in source.claims.values():
            if claim.finding.verdict == verdict:
                why[_reason(claim)].append(claim)
        rows = [f"| {_ids(claims)} | {_statements(claims)} | {_with_missed(reason, claims)} |\n"
                for reason, claims in why.items()]  # fmt: skip
        if rows:
            parts.append(f"| {head} | Statement | {last} |\n|---|---|---|\n{''.join(rows)}\n")
    return parts


def _reason(claim: Claim) -> str:
    """Why the verdict is what it is, and what a refutation says of the source, or why it is open."""
    finding = claim.finding
    if not finding.why:
        return missed().get(claim.id, "")
    why = f"{finding.why[0].upper()}{finding.why[1:].rstrip('.')}."
    if finding.kind:
        kind = KINDS[finding.kind]
        return f"{why} ({kind[0].lower()}{kind[1:]}.)"
    return f"{why} ({finding.reason})" if finding.reason else why


def _with_missed(reason: str, claims: list[Claim]) -> str:
    """A reason with what is off, where it is of one claim alone."""
    off = missed().get(claims[0].id, "") if len(claims) == 1 else ""
    return (reason if off in reason else f"{reason} {off}").replace("|", r"\|")


@cache
def missed() -> dict[str, str]:
    """By the id of a claim that does not hold, which numbers of which networks are off."""
    return json.loads(MISSED.read_text())


def missed_of(results: Iterable[Result]) -> dict[str, str]:
    """The same of some results, as measured."""
    return {r.claim.id: f"{r.missed_text}." for r in results if r.missed_text}


def _ids(claims: list[Claim]) -> str:
    return ", ".join(f"`{claim.id.partition('.')[2]}`" for claim in claims)


def _statements(claims: list[Claim]) -> str:
    """What the claims of one row say, at most two of them."""
    said = list(dict.fromkeys(claim.statement for claim in claims))
    return " ".join(said[:2]).replace("|", r"\|") + (" And the like." if len(said) > 2 else "")


def changes() -> str:
    """What was changed of bands, measures and verdicts after their numbers were known, as a page."""
    claims = [claim for each in _own_sources() for claim in each.claims.values()]
    rows = [(change, claim) for claim in claims for change in claim.changed]
    cells = [
        (change.date, f"`{claim.id}`", change.what, change.before, change.now, change.why)
        for change, claim in sorted(rows, key=lambda row: row[0].date)
    ]
    better = [(f"`{c.id}`", c.redefined, c.finding.words, c.redefinition.what) for c in claims if c.redefinition]
    kinds = Counter(f"from {was} to {now}" for _, was, now, _ in better)
    counted = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    return (
        f"{HEAD_OF_CHANGES}## Verdicts that a change made better\n\nThey count apart, as redefined: {counted}.\n\n"
        f"{_table(('claim', 'before', 'now', 'what was changed'), better)}\n## All changes\n\n"
        f"{_table(('when', 'claim', 'what', 'before', 'now', 'why'), cells)}"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


HEAD_OF_CHANGES = """# What was changed of a tolerance, a measure or a verdict

Tolerances come from the sources' numbers. Most were read out of the sources before anything was measured.
`tests/sources/ledger_bands.csv` lists these, with the reason where ours differs; a test compares the claims with the
list.

- About a third of the numbers are not on the list. Their tolerances were chosen when the claim was written.
- The tolerances of `validity` are the audit's. Their reasons say which were chosen after numbers had been seen.
- The claims of `he` and `arena` were committed before their networks were measured.

Some tolerances and measures were changed after a number had been seen. Some of these changes let a claim hold that did
not hold before. This page lists each change with both numbers and its reason. `docs/findings.py` writes it from the
claims' `changed`.

Verdicts that changed because the networks changed are not listed. Three changes of this kind matter:

- Since 2026-11-23 `nanda/mainline-0` is the paper's own seed.
- Since 2026-11-28 networks of one seed that differ by rounding count as one seed.
- Since 2026-11-28 one seed refutes nothing, and claims that were refuted on one seed are open.

"""

if __name__ == "__main__":
    CHANGES.write_text(changes())
    reproduced = {each.name: reproduction(each.name) for each in _own_sources()}
    off = {id: text for each in reproduced.values() for id, text in missed_of(each.results).items()}
    MISSED.write_text(json.dumps(off, indent=1, ensure_ascii=False) + "\n")
    tallies, measured = {name: each.tally for name, each in reproduced.items()}, reproduced["nanda"].results
    DEFINITIONS.write_text(with_printed(with_tables(DEFINITIONS.read_text()), measured))
    README.write_text(with_lines(README.read_text(), measured))
    for place in PLACES:
        place.write_text(current(place.read_text(), tallies))
