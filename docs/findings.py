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
from modinterp.claims.finding import KINDS, Reason
from modinterp.claims.tally import Column, Tally
from modinterp.reproduce.findings import NAMED
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
NAMES = ROOT / "docs" / "number_names.json"  # the short title of a number to words that say what it measures

COUNTED: dict[Column, str] = {
    "mathematics": "hold: mathematics and set-up",
    "many seeds": "hold in 8 or more seeds",
    "few seeds": "hold in fewer than 8 seeds",
    "redefined": "redefined",
    "no control": "hold, also of controls",
    "by selection": "by selection",
    "mixed": "hold in some seeds only",
    "refuted": "refuted",
    "open": "open",
}
SHOWN = re.compile(r"^    (\w+\.\S+)  .*$", re.MULTILINE)  # a line of a report, by the claim's id
HEADER = f"| source | name | {' | '.join(COUNTED.values())} | contradictions |\n|{'---|' * (3 + len(COUNTED))}\n"
HEADS = {
    "refuted": ("Refuted claim: id and statement", "Result in our networks"),
    "mixed": ("Claim that is true of some networks: id and statement", "Result in our networks"),
    "open": ("Open claim: id and statement", "Result so far, and why the claim is open"),
}
MISSED_HEAD = "Measured numbers outside their tolerance, by network"


def current(text: str, tallies: Mapping[str, Tally]) -> str:
    """A page with the counts, tables and lists of today.

    Args:
        tallies: name of a source to its verdicts counted, as `reproduce` measures them.
    """
    text = re.sub(r"\d+ of the verdicts", f"{_on_some_of_their_runs()} of the verdicts", text)
    rows = "".join(f"{_row(each, tallies[each.name])}\n" for each in _own_sources()) + _total(tallies)
    text = re.sub(r"\| source \| name \|.*\n(\|.*\n)*", lambda _: HEADER + rows, text)
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
    lines = (
        ""
        if table is None
        else _table([*map(_head, table.columns)], [[*map(_cell, row)] for row in table.itertuples(index=False)])
    )
    return mark[0].partition("\n")[0] + "\n" + lines


TABLE_HEADS = {
    "run": "network",
    "moved by units in the last place": "initial matrix that is moved, and by how many units in the last place",
    "key frequencies": "key frequencies of the network",
    "frequencies of the heads": "frequencies of heads 0 to 3",
    "key frequencies of the paper": "number of the paper's five key frequencies in the network",
    "heads at the paper's frequency": "number of heads at the paper's frequency",
    "epoch of test loss below 1": "first epoch with a test loss below 1 nat",
}


def _head(column: str) -> str:
    """The head of a column, in full words for a page without the figure."""
    return re.sub(
        r"^(epoch [\d,]+)$", r"distance of the weights from `rounding-0` at \1", TABLE_HEADS.get(column, column)
    )


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
    lines = []
    for row in table.to_dict("records"):
        claim = row["claim"].partition(".")[2]
        if row["the source's number is"] == OUTSIDE if outside else claim in mark[1].split(", "):
            place = row["why outside" if outside else "the source's number is"]
            lines.append((f"`{claim}`: {_values(row)}", place))
    head = (NUMBER_HEAD, OUTSIDE_HEAD if outside else INSIDE_HEAD)
    return mark[0].partition("\n")[0] + "\n" + _table(head, lines)


NUMBER_HEAD = "claim: measured number, with its value in the paper and in our networks"
INSIDE_HEAD = "the paper's value is"
OUTSIDE_HEAD = "why the paper's value lies outside the ranges of our networks"


def _values(row: dict[Hashable, Any]) -> str:
    """One number of a claim in words, with the paper's value and ours; every part can be read alone."""
    others = (
        _between(row, "variants of the seed", "numerical replicate", "of the paper's seed"),
        _between(row, "other seeds", "network", "of other seeds"),
    )
    values = f"{_three_digits(row['the source'])} in the paper, {_three_digits(row['ours'])} in `mainline-0`"
    return "; ".join([f"{name_of(row['number'])}: {values}", *filter(None, others)])


def _three_digits(x: float) -> str:
    text = f"{x:.3g}"
    return f"{float(text):,.0f}" if 1000 <= abs(x) < 1e6 else text


def _between(row: dict[Hashable, Any], name: str, network: str, of: str) -> str:
    low, high, n = (row[f"{name}, {what}"] for what in ("smallest", "largest", "networks"))
    ends = dict.fromkeys((_three_digits(low), _three_digits(high))) if n else ()
    return f"{' to '.join(ends)} in {n} {network}{'s' * (n > 1)} {of}" if n else ""


def with_lines(text: str, results: Iterable[Result]) -> str:
    """A page with the lines of a report that it shows, as `python -m modinterp.reproduce` prints them."""
    told = {result.claim.id: result for result in results}
    ids = [id for id in SHOWN.findall(text) if id in told]
    lines = dict(zip(ids, terminal_table(tuple(told[id] for id in ids), 116).splitlines()[2:], strict=True))
    return SHOWN.sub(lambda line: f"    {lines[line[1]]}" if line[1] in lines else line[0], text)


def _cell(x: object) -> str:
    if not isinstance(x, float):
        return f"{x:,}" if isinstance(x, int) else str(x) or "not applicable"
    return "not applicable" if x != x else f"{x:,.0f}" if x == int(x) else f"{x:.1e}"


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
    return f"| all sources | |{'|'.join(f'**{n}**' for n in together)}|\n"


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
    for verdict, head in HEADS.items():
        why = defaultdict(list)
        for claim in source.claims.values():
            if claim.finding.verdict == verdict:
                why[_reason(claim), "" if claim.finding.why else claim.id].append(claim)
        rows = [[f"{_ids(claims)}: {_statements(claims)}", reason] for (reason, _), claims in why.items()]
        if verdict != "open":
            head = (*head, MISSED_HEAD)
            rows = [[*row, missed_text(claims)] for row, claims in zip(rows, why.values(), strict=True)]
        if rows:
            parts.append(f"{_table(head, rows)}\n")
    return parts


def _reason(claim: Claim) -> str:
    """Why the verdict is what it is, and what a refutation says of the source, or why it is open."""
    finding = claim.finding
    if not finding.why:
        return "The statement holds in some networks and fails in others."
    why = f"{_capital(finding.why).rstrip('.')}."
    if finding.kind:
        return f"{why} {KINDS[finding.kind]}."
    return f"{why} {OPEN[finding.reason]}" if finding.reason else why


OPEN: dict[Reason, str] = {
    "pending": "The claim is open because a run that it needs is pending.",
    "variant": "The claim is open because we measured only a variant of the set-up.",
    "does not apply": "The claim is open because no network meets its precondition.",
    "one seed": "The claim is open because a single seed cannot refute it.",
}


@cache
def missed() -> dict[str, dict[str, Any]]:
    """By the id of a claim that does not hold, the numbers of its networks that miss their tolerances.

    Each value has `networks`, the first few of `Result.missed`, and `more`, the number of further networks.
    """
    return json.loads(MISSED.read_text())


def missed_of(results: Iterable[Result]) -> dict[str, dict[str, Any]]:
    """The same of some results, as measured."""
    return {
        r.claim.id: {
            "networks": {
                network: {title: list(pair) for title, pair in numbers.items()}
                for network, numbers in list(r.missed.items())[:NAMED]
            },
            "more": max(0, len(r.missed) - NAMED),
        }
        for r in results
        if r.missed
    }


@cache
def _names() -> dict[str, str]:
    return json.loads(NAMES.read_text())


def name_of(title: str) -> str:
    """Words that say what a number measures, by its short title."""
    return _names().get(title, title)


def missed_text(claims: list[Claim]) -> str:
    """The numbers outside their tolerances, with their networks, where all claims of a row miss the same numbers."""
    first, *others = [missed().get(claim.id) for claim in claims]
    if not first:
        return "none"
    if any(other != first for other in others):
        return "These claims miss different numbers; `claims.json` lists them."
    by_title: dict[tuple[str, str], list[str]] = defaultdict(list)
    for network, numbers in first["networks"].items():
        where = f" in `{network}`" if network else " over the compared networks" * claims[0].is_about_networks
        for title, (value, tolerance) in numbers.items():
            by_title[title, tolerance].append(f"{'no value' if value == 'nan' else value}{where}")
    parts = [f"{_capital(name_of(title))} (expected: {tolerance}): {', '.join(values)}."
             for (title, tolerance), values in by_title.items()]  # fmt: skip
    more = first["more"]
    return " ".join([*parts, *([f"The claim also fails in {more} other network{'s' * (more > 1)}."] if more else [])])


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _ids(claims: list[Claim]) -> str:
    return ", ".join(f"`{claim.id.partition('.')[2]}`" for claim in claims)


def _statements(claims: list[Claim]) -> str:
    """What the claims of one row say, at most two of them."""
    said = list(dict.fromkeys(claim.statement for claim in claims))
    more = len(said) - 2
    return " ".join(said[:2]) + (f" {_more_statements(more)}" if more > 0 else "")


def _more_statements(n: int) -> str:
    return f"{n} other claims of this row make such statements." if n > 1 else "One more claim of this row does."


def changes() -> str:
    """What was changed of bands, measures and verdicts after their numbers were known, as a page."""
    claims = [claim for each in _own_sources() for claim in each.claims.values()]
    rows = [(change, claim) for claim in claims for change in claim.changed]
    cells = [
        (
            f"`{claim.id}`: {claim.statement}",
            f"On {change.date}, {_changed(change.what)}",
            _of(change.what, change.before),
            _of(change.what, change.now),
            _sentence(change.why),
        )
        for change, claim in sorted(rows, key=lambda row: row[0].date)
    ]
    better = [(f"`{c.id}`: {c.statement}", c.redefined, c.finding.words, _capital(_changed(c.redefinition.what)))
              for c in claims if c.redefinition]  # fmt: skip
    kinds = Counter(
        f'stayed "{now}"' if was == now else f'changed from "{was}" to "{now}"' for _, was, now, _ in better
    )
    counted = "\n".join(f"- {n} verdict{'s' * (n > 1)} {kind}." for kind, n in sorted(kinds.items()))
    return (
        f"{HEAD_OF_CHANGES}## Verdicts that a change made better\n\n{ABOUT_BETTER}{counted}\n\n"
        f"{_table(BETTER, better)}\n## All changes\n\n{ABOUT_CHANGES}{_table(CHANGED, cells)}"
    )


BETTER = (
    "claim: id and statement",
    "verdict before the change",
    "verdict after the change",
    "what we changed of the claim's test",
)
CHANGED = (
    "claim: id and statement",
    "date, and what we changed of the claim's test",
    "before the change: test, our numbers, verdict",
    "after the change: test, our numbers, verdict",
    "reason for the change",
)
ABOUT_BETTER = """A claim whose verdict improved because we changed its test counts separately, as *redefined*. A claim
*holds* if it is true in all seeds, is *mixed* if it is true in some seeds, and is *refuted* if it is true in none.

"""
ABOUT_CHANGES = """If a cell of the table has several numbers, they belong to our networks in the order of their seeds.
If a change concerned the verdict, the last word of a cell is the verdict.

"""


def _changed(what: str) -> str:
    """A sentence that says what was changed; some claims say it in a sentence of their own."""
    is_part = re.match(r"(the|which|how|what|whether|over|in) (?!precondition is|tolerance of \S+ \S+ is)", what)
    return f"we changed {what}." if is_part else f"{what}."


def _of(what: str, test: str) -> str:
    """What a claim tested, with the part that changed where the test is a bare limit, such as "6 to 20"."""
    is_bare = "tolerance" in what and re.match(r"(at (most|least) )?-?\d", test)
    return _sentence(f"{what}: {test}" if is_bare else test)


def _sentence(text: str) -> str:
    return f"{_capital(text).rstrip('.')}."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


HEAD_OF_CHANGES = """# Changes to tolerances, measures and verdicts

A claim expects each measured number to lie within a tolerance. The tolerances of claims come from the sources'
numbers. For most numbers, we read the tolerance out of the source before any measurement. The file
`tests/sources/ledger_bands.csv` lists the tolerances that we read out of sources before measuring. If the
tolerance of a claim differs from the listed tolerance, the file `tests/sources/ledger_bands.csv` gives a reason. A test
compares the tolerances of all claims with `tests/sources/ledger_bands.csv`.

- About a third of the numbers of claims are not in `tests/sources/ledger_bands.csv`. We chose the tolerances of numbers
  that `tests/sources/ledger_bands.csv` does not list when we wrote the claim.
- The tolerances of the source `validity` are those of the audit that `validity` reproduces. The reason of each
  tolerance of `validity` says whether we chose the tolerance after seeing numbers.
- We committed the claims of `he` and `arena` before we measured their networks.

We changed some tolerances and measures after seeing a number. Because of such a change, some claims hold that did not
hold before. This page lists each change of a tolerance or measure, with the reason and with the numbers before and
after the change. `docs/findings.py` writes this page from the claims' records.

This page does not list verdicts that changed because we measured other networks, or because we count networks in
another way. Three changes of networks and counting matter:

- Since 2026-11-23, `nanda/mainline-0` has the seed of Nanda et al.'s own network.
- Since 2026-11-28, networks of one seed that differ by rounding count as one seed.
- Since 2026-11-28, one seed cannot refute a claim. Claims that were refuted on one seed are now open.

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
