"""A reproduction as a table on the terminal, as JSON and CSV, and as one self-contained page."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
from plotly.colors import get_colorscale

from modinterp.claims import Result
from modinterp.claims.finding import KINDS
from modinterp.claims.result import number_text
from modinterp.claims.tally import COLUMNS, Tally
from modinterp.figures.prevalence import prevalence, prevalence_table
from modinterp.figures.theme import CYCLIC
from modinterp.files import write_atomically
from modinterp.pages.html import figure_html, rendered, table_html, template
from modinterp.reproduce.printed import printed_table
from modinterp.reproduce.reproduction import Reproduction
from modinterp.sources import Source

_MARK = {"holds": "holds", "mixed": "mixed", "refuted": "REFUTED", "open": "open"}
_REFUTED, _MIXED = "Off its band", "True of some networks trained by the recipe, and not of others"


def terminal_table(results: tuple[Result, ...], width: int | None = None) -> str:
    """One line a claim: id, verdict, our number, the source's number, the statement; cut to the terminal's width.

    Of a claim that does not hold, the numbers that are off, each with its band before its name. Beside the verdict of a
    claim about one network, in how many networks it holds; beside an open one, why.
    """
    width = width or max(shutil.get_terminal_size((160, 24)).columns, 80)
    id_width = max(len(r.claim.id) for r in results)
    verdicts = [f"{_MARK[r.verdict]} {r.reason or r.prevalence_text.replace(' of ', '/')}".rstrip() for r in results]
    verdict_width = max(len("open: pending"), *map(len, verdicts))
    rest = max(width - id_width - verdict_width - 8, 30)  # 8 between the columns
    measured_width, source_width = int(rest * 0.42), int(rest * 0.23)
    widths = (id_width, verdict_width, measured_width, source_width, rest - measured_width - source_width)

    def line(*cells: str) -> str:
        shown = (textwrap.shorten(c, w, placeholder="…").ljust(w) for c, w in zip(cells, widths, strict=True))
        return "  ".join(shown).rstrip()

    head = line("claim", "verdict", "measured", "source", "statement")
    rows = []
    for r, verdict in zip(results, verdicts, strict=True):
        off = [
            f"{r.value_text(name)}, not {r.claim.bands[name]}: {name}"
            for name in r.off
            if r.verdict in ("refuted", "mixed") or name in r.claim.given
        ]
        measured = "; ".join(off) or r.measured_text(r.claim.expected) or r.claim.finding.why
        rows.append(line(r.claim.id, verdict, measured, r.claim.source_says, r.claim.statement))
    return "\n".join([head, "-" * len(head), *rows])


def claims_json(results: tuple[Result, ...]) -> str:
    """A list of objects, one a claim; see `Result.to_json`."""
    return json.dumps([result.to_json() for result in results], indent=1, ensure_ascii=False) + "\n"


def claims_table(results: tuple[Result, ...]) -> pd.DataFrame:
    """One row a claim, everything as text."""
    return pd.DataFrame(
        {
            "id": r.claim.id,
            "where": r.claim.where,
            "statement": r.claim.statement,
            "reference": r.claim.source_says,
            "expected": r.expected_text(),
            "measured": r.measured_text(),
            "verdict": r.verdict,
            "kind": r.kind,
            "reason": r.reason,
            "prevalence": r.prevalence_text,
            "specificity": r.specificity if r.control else "",
            "finding": r.claim.finding.verdict,
            "why": r.claim.finding.why,
            "runs": " ".join(r.runs),
            "runs_pending": " ".join(r.runs_pending),
        }
        for r in results
    )


def contradictions_table(reproduced: Reproduction) -> pd.DataFrame:
    """One row a contradiction between sources: what they say, what was measured, what follows."""
    results = {r.claim.id.partition(".")[2]: r for r in reproduced.results}
    rows = [(c.id, c.conflict, c.measured(results), c.follows) for c in reproduced.source.contradictions]
    part = len(results) < len(reproduced.source)  # of which only what it says something of
    settled = [(*row[:3], row[3] if row[2] else "not measured") for row in rows if row[2] or not part]
    return pd.DataFrame(settled, columns=["id", "what the sources say", "measured", "what follows"])


def did_not_hold(reproduced: Reproduction) -> list[tuple[str, list[tuple[str, list[Result]]]]]:
    """What did not hold, by kind: under each, why claims do not, with those that do not for that reason."""

    def why(result: Result) -> str:
        numbers = result.measured_text(result.claim.expected)
        return numbers if reproduced.foreign else result.claim.finding.why or numbers

    kinds: dict[str, list[Result]] = {title: [] for title in (*KINDS.values(), _REFUTED, _MIXED)}
    for result in reproduced.results:
        if result.verdict == "mixed":
            kinds[_MIXED].append(result)
        elif result.verdict == "refuted":
            kinds[KINDS[result.kind] if result.kind else _REFUTED].append(result)
    return [
        (t, [(reason, list(alike)) for reason, alike in groupby(found, why)]) for t, found in kinds.items() if found
    ]


def _numbers(result: Result) -> list[dict[str, str]]:
    """Each measured number with its band: those off theirs first, then the others with one."""
    bands = result.claim.bands
    rows = []
    for name in sorted(result.measured, key=lambda n: (n not in result.off, n not in bands)):
        values, band = result.measured[name], bands.get(name)
        rows.append(
            {
                "name": name,
                "value": result.value_text(name),
                "spread": f"{len(values)} {'networks' if result.claim.of_one else 'runs'}" if len(values) > 1 else "",
                "first": number_text(values[0]) if result.claim.of_one and len(values) > 1 else "",
                "band": str(band) if band else "",
                "because": band.because if band else "",
                "state": "" if band is None else "off" if name in result.off else "ok",
            }
        )
    return rows


def page(reproduced: Reproduction, title: str = "", inside: bool = False) -> str:
    """The report as one HTML document with every figure and plotly itself inside.

    Args:
        title: the source's by default.
        inside: whether the folder above has the index of all sources.
    """
    sections: list[tuple[str, list[dict[str, Any]]]] = [
        (title, [{"result": r, "claim": r.claim, "numbers": _numbers(r)} for r in group])
        for title, group in groupby(reproduced.results, key=lambda r: r.claim.where.partition(",")[0].partition(";")[0])
    ]
    figures = [
        {
            "key": key,
            "number": number,
            "html": figure_html(figure, key),
            "claims": [
                r.claim for r in reproduced.results if key in reproduced.source.figures_beside({r.claim.figure})
            ],
            "more": _more(reproduced.source, key),
            "table": table_html(*reproduced.tables[key]) if key in reproduced.tables else "",
        }
        for key, (number, figure) in reproduced.figures.items()
    ]
    return rendered(
        "modinterp.reproduce",
        "page.html",
        title=title or f"{reproduced.source.title} ({reproduced.source.citation})",
        pages=() if title else reproduced.pages,
        source=reproduced.source.name,
        inside=inside,
        sections=sections,
        partly=sum(bool(result.runs_pending) for result in reproduced.results),
        parts_are="section",
        parts=[(title, title[0].upper() + title[1:]) for title, _ in sections],
        figures=figures,
        drawn=set(reproduced.figures),
        foreign=reproduced.foreign,
        counts={verdict: reproduced.count(verdict) for verdict in _MARK},
        tally=reproduced.tally,
        columns=COLUMNS,
        prevalence=_prevalence_html([prevalence_table(reproduced.results)]),
        printed=_printed_html(reproduced),
        note=reproduced.source.note,
        contradictions=[("", *row) for row in contradictions_table(reproduced).values.tolist()],
        refuted=did_not_hold(reproduced),
        runs=[repr(m.run) for m in reproduced.measured.values()],
    )


def _prevalence_html(tables: Sequence[pd.DataFrame]) -> str:
    """In how many networks of their recipe claims hold, drawn; empty where none was measured on several."""
    figure = prevalence(tables)
    return "" if figure is None else figure_html(figure, "prevalence")


def _printed_html(reproduced: Reproduction) -> str:
    """The source's numbers beside ours; empty where it prints none that were measured."""
    table = printed_table(reproduced.results)
    return table_html("The numbers that the source prints, and ours", table) if len(table) else ""


def _more(source: Source, key: str) -> str:
    """What the page has below a figure, that plotly alone cannot do."""
    name = source.drawings[key].template
    return template(source.package, name).render(phase=get_colorscale(CYCLIC)) if name else ""


@dataclass(frozen=True)
class IndexEntry:
    """What the index of all sources says of one; it holds no figures and no activations.

    Attributes:
        name: short name of the source, and of the folder of its page.
        title: of the paper or report.
        results: one a claim.
        counts: verdict to number of claims.
        tally: the verdicts counted, what is one measurement once.
        refuted: what did not hold, by kind; see `did_not_hold`.
        contradictions: rows of `contradictions_table`.
    """

    name: str
    title: str
    results: tuple[Result, ...]
    counts: dict[str, int]
    tally: Tally
    refuted: list[tuple[str, list[tuple[str, list[Result]]]]]
    contradictions: list[list[str]]


def index_entry(reproduced: Reproduction) -> IndexEntry:
    """What the index of all sources says of a reproduction."""
    return IndexEntry(
        reproduced.source.name,
        reproduced.source.title,
        reproduced.results,
        {verdict: reproduced.count(verdict) for verdict in _MARK},
        reproduced.tally,
        did_not_hold(reproduced),
        contradictions_table(reproduced).values.tolist(),
    )


def index(entries: Sequence[IndexEntry]) -> str:
    """One page that leads to those of all sources, which lie in folders beside it, each under the source's name."""
    return rendered(
        "modinterp.reproduce",
        "index.html",
        sources=entries,
        counts={verdict: sum(entry.counts[verdict] for entry in entries) for verdict in _MARK},
        total=sum((entry.tally for entry in entries), Tally.of(())),
        columns=COLUMNS,
        prevalence=_prevalence_html([prevalence_table(entry.results) for entry in entries]),
        contradictions=[(f"{entry.name}/index.html", *row) for entry in entries for row in entry.contradictions],
        parts_are="source",
        parts=[(entry.name, entry.title) for entry in entries],
    )


def write_index(entries: Sequence[IndexEntry], out: Path) -> Path:
    """Write `index.html` and `claims.json` of all sources above their folders, and return the path of the page.

    Raises:
        OSError: the folder cannot be written; what was there stays.
    """
    write_atomically(out / "claims.json", claims_json(tuple(r for entry in entries for r in entry.results)).encode())
    write_atomically(out / "index.html", index(entries).encode())
    return out / "index.html"


def write_report(reproduced: Reproduction, out: Path, inside: bool = False) -> Path:
    """Write the report and return the path of its page.

    `claims.json`, `claims.csv`, `prevalence.csv`, `printed.csv`, `contradictions.csv`, `tables/KEY.csv` by the key
    of the table's figure, `index.html` and a page a question.

    Raises:
        OSError: the folder cannot be written; what was there stays.
    """
    write_atomically(out / "claims.json", claims_json(reproduced.results).encode())
    write_atomically(out / "claims.csv", claims_table(reproduced.results).to_csv(index=False).encode())
    write_atomically(out / "contradictions.csv", contradictions_table(reproduced).to_csv(index=False).encode())
    write_atomically(out / "prevalence.csv", prevalence_table(reproduced.results).to_csv(index=False).encode())
    if len(printed := printed_table(reproduced.results)):
        write_atomically(out / "printed.csv", printed.to_csv(index=False).encode())
    for key, (_, table) in reproduced.tables.items():
        write_atomically(out / "tables" / f"{key}.csv", table.to_csv(index=False).encode())
    write_atomically(out / "index.html", page(reproduced, inside=inside).encode())
    for question in reproduced.pages:
        write_atomically(out / f"{question.key}.html", page(reproduced.part(question), question.title).encode())
    return out / "index.html"
