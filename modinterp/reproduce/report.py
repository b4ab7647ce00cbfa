"""A reproduction as a table on the terminal, as JSON and CSV, and as one self-contained page."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
from plotly.colors import get_colorscale

from modinterp.claims import SOURCES, Result
from modinterp.figures.theme import CYCLIC
from modinterp.reproduce.html import figure_html, rendered, table_html, template
from modinterp.reproduce.run import DRAWN, Reproduction
from modinterp.runs.store import write

TITLES = {
    "nanda": "Progress measures for grokking via mechanistic interpretability (Nanda et al. 2023)",
    "clock": "The Clock algorithm and its petals (blog post)",
    "mlp": "Modular addition with a one-hidden-layer MLP (Kissane's notebook)",
    "circuits": "Circuit engineering: addition, maximum, median, sort",
    "miiii": "Mechanistic interpretability on irreducible integer identifiers (Syrkis & Søgaard 2024)",
}
_MARK = {"holds": "holds", "refuted": "REFUTED", "not measured": "not measured"}


def terminal_table(results: tuple[Result, ...], width: int | None = None) -> str:
    """One line a claim: id, verdict, ours, the source's number, the statement; cut to the terminal's width.

    Of a claim that is refuted, the numbers that refute it, each with its band before its name.
    Beside the verdict on any seed, in how many of them it holds.
    """
    width = width or max(shutil.get_terminal_size((160, 24)).columns, 80)
    id_width = max(len(r.claim.id) for r in results)
    verdicts = [f"{_MARK[r.verdict]} {r.seeds_held.replace(' of ', '/')}".rstrip() for r in results]
    verdict_width = max(len("not measured"), *map(len, verdicts))
    rest = max(width - id_width - verdict_width - 8, 30)  # 8 between the columns
    ours, theirs = int(rest * 0.42), int(rest * 0.23)
    widths = (id_width, verdict_width, ours, theirs, rest - ours - theirs)

    def line(*cells: str) -> str:
        shown = (textwrap.shorten(c, w, placeholder="…").ljust(w) for c, w in zip(cells, widths, strict=True))
        return "  ".join(shown).rstrip()

    head = line("claim", "verdict", "measured", "source", "statement")
    rows = []
    for r, verdict in zip(results, verdicts, strict=True):
        off = [
            f"{r.value_text(name)}, not {r.claim.bands[name]}: {name}"
            for name in r.off
            if r.verdict == "refuted" or name in r.claim.given
        ]
        measured = "; ".join(off) or r.measured_text(r.claim.expected) or r.claim.finding.why
        rows.append(line(r.claim.id, verdict, measured, r.claim.reference, r.claim.statement))
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
            "reference": r.claim.reference,
            "expected": r.expected_text(),
            "measured": r.measured_text(),
            "verdict": r.verdict,
            "seeds_held": r.seeds_held,
            "finding": r.claim.finding.verdict,
            "why": r.claim.finding.why,
            "runs": " ".join(r.runs),
            "runs_pending": " ".join(r.runs_pending),
        }
        for r in results
    )


def contradictions_table(found: Reproduction) -> pd.DataFrame:
    """One row a contradiction between sources: what they say, what was measured, what follows."""
    results = {r.claim.id.partition(".")[2]: r for r in found.results}
    rows = [(c.id, c.conflict, c.measured(results), c.follows) for c in SOURCES[found.source].contradictions]
    part = len(results) < len(SOURCES[found.source])  # of which only what it says something of
    settled = [(*row[:3], row[3] if row[2] else "not measured") for row in rows if row[2] or not part]
    return pd.DataFrame(settled, columns=["id", "what the sources say", "measured", "what follows"])


def _refuted(found: Reproduction) -> list[tuple[str, list[Result]]]:
    """Why claims do not hold, with those that do not for that reason."""

    def why(result: Result) -> str:
        numbers = result.measured_text(result.claim.expected)
        return numbers if found.foreign else result.claim.finding.why or numbers

    missed = [result for result in found.results if result.verdict == "refuted"]
    return [(reason, list(alike)) for reason, alike in groupby(missed, why)]


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
                "spread": f"{len(values)} runs" if len(values) > 1 else "",
                "band": str(band) if band else "",
                "because": band.because if band else "",
                "state": "" if band is None else "off" if name in result.off else "ok",
            }
        )
    return rows


def page(found: Reproduction, title: str = "", inside: bool = False) -> str:
    """The report as one HTML document with every figure and plotly itself inside.

    Args:
        title: the source's by default.
        inside: whether the folder above has the index of all sources.
    """
    sections: list[tuple[str, list[dict[str, Any]]]] = [
        (title, [{"result": r, "claim": r.claim, "numbers": _numbers(r)} for r in group])
        for title, group in groupby(found.results, key=lambda r: r.claim.where.partition(",")[0].partition(";")[0])
    ]
    figures = [
        {
            "key": key,
            "number": number,
            "html": figure_html(figure, key),
            "claims": [r.claim for r in found.results if key in DRAWN[found.source].along({r.claim.figure})],
            "more": _more(found.source, key),
            "table": table_html(*found.tables[key]) if key in found.tables else "",
        }
        for key, (number, figure) in found.figures.items()
    ]
    return rendered(
        "modinterp.reproduce",
        "page.html",
        title=title or TITLES[found.source],
        pages=() if title else found.pages,
        source=found.source,
        inside=inside,
        sections=sections,
        partly=sum(bool(result.runs_pending) for result in found.results),
        parts_are="section",
        parts=[(title, title[0].upper() + title[1:]) for title, _ in sections],
        figures=figures,
        drawn=set(found.figures),
        foreign=found.foreign,
        counts={verdict: found.count(verdict) for verdict in _MARK},
        note=SOURCES[found.source].note,
        contradictions=contradictions_table(found).values.tolist(),
        refuted=_refuted(found),
        runs=[repr(run) for run in found.runs.values()],
    )


def _more(source: str, key: str) -> str:
    """What the page has below a figure, that plotly alone cannot do."""
    name = DRAWN[source].more_of.get(key)
    return template("modinterp.reproduce", name).render(phase=get_colorscale(CYCLIC)) if name else ""


def index(found: Sequence[Reproduction]) -> str:
    """One page that leads to those of all sources, which lie in folders beside it, each under the source's name."""
    sources = [
        {
            "name": each.source,
            "title": TITLES[each.source],
            "counts": {verdict: each.count(verdict) for verdict in _MARK},
            "claims": each.results,
            "refuted": _refuted(each),
        }
        for each in found
    ]
    return rendered(
        "modinterp.reproduce",
        "index.html",
        sources=sources,
        counts={verdict: sum(each.count(verdict) for each in found) for verdict in _MARK},
        contradictions=[(each.source, *row) for each in found for row in contradictions_table(each).values.tolist()],
        parts_are="source",
        parts=[(source["name"], source["title"]) for source in sources],
    )


def write_index(found: Sequence[Reproduction], out: Path) -> Path:
    """Write `index.html` and `claims.json` of all sources above their folders, and return the path of the page.

    Raises:
        OSError: the folder cannot be written; what was there stays.
    """
    write(out / "claims.json", claims_json(tuple(r for each in found for r in each.results)).encode())
    write(out / "index.html", index(found).encode())
    return out / "index.html"


def write_report(found: Reproduction, out: Path, inside: bool = False) -> Path:
    """Write the report and return the path of its page.

    `claims.json`, `claims.csv`, `contradictions.csv`, `tables/KEY.csv` by the key of the table's figure, `index.html`
    and a page a question.

    Raises:
        OSError: the folder cannot be written; what was there stays.
    """
    write(out / "claims.json", claims_json(found.results).encode())
    write(out / "claims.csv", claims_table(found.results).to_csv(index=False).encode())
    write(out / "contradictions.csv", contradictions_table(found).to_csv(index=False).encode())
    for key, (_, table) in found.tables.items():
        write(out / "tables" / f"{key}.csv", table.to_csv(index=False).encode())
    write(out / "index.html", page(found, inside=inside).encode())
    for question in found.pages:
        write(out / f"{question.key}.html", page(found.part(question), question.title).encode())
    return out / "index.html"
