"""A reproduction as one self-contained page: a summary first, then every claim with its figures, folded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd
from plotly.colors import get_colorscale

from modinterp.claims import Claim, Result
from modinterp.claims.finding import VERDICTS
from modinterp.claims.tally import COLUMNS
from modinterp.figures.prevalence import prevalence, prevalence_table
from modinterp.figures.theme import CYCLIC
from modinterp.measurements.quantity import number_text
from modinterp.pages.html import rendered, table_html, template
from modinterp.pages.plots import figure_html
from modinterp.reproduce.findings import contradictions_table, did_not_hold
from modinterp.reproduce.printed import printed_table
from modinterp.reproduce.reproduction import SPLIT_UNKNOWN, Reproduction
from modinterp.sources import Source
from modinterp.sources.story import Sentence, told_by_itself

FIRST_FIGURES, FIRST_NUMBERS = 3, 8  # that are shown before anything is unfolded


@dataclass(frozen=True)
class Figure:
    """A figure on the page of a source.

    Attributes:
        number: of the figure in the source.
        html: the figure.
        below: what the page has below it: a table, and what plotly alone cannot do.
        claims: that it belongs to.
    """

    key: str
    number: str
    html: str
    below: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Section:
    """The claims of one place of a source.

    Attributes:
        title: the place, such as "Section 4.1".
        results: one a claim.
        figures: that stand here, each with the first claim that it belongs to.
    """

    title: str
    results: tuple[Result, ...]
    figures: tuple[Figure, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Verdict to number of claims."""
        return counted(self.results)


def counted(results: Sequence[Result]) -> dict[str, int]:
    """Verdict to number of claims."""
    return {verdict: sum(r.verdict == verdict for r in results) for verdict in VERDICTS}


def place(claim: Claim) -> str:
    """The section of a claim: where it stands, up to the first comma."""
    title = re.split("[,;]", claim.where)[0]
    is_one = not re.search(" and | to ", title)  # of several that the comma has cut off
    return title.replace("sections ", "section ").replace("appendices ", "appendix ") if is_one else title


def _order(title: str) -> tuple[bool, list[tuple[int, str]]]:
    """What numbered sections are sorted by: appendices come last, and section 10 comes after section 9."""
    parts = re.findall(r"(\d+)|([A-Z])\b", title)
    return title.startswith("appendi"), [(int(number or 0), letter) for number, letter in parts]


def sections(results: Sequence[Result], figures: Sequence[Figure]) -> list[Section]:
    """The claims by their sections, each with the figures whose first claim is in it.

    Sections and appendices with a number are in the order of their numbers, all else in that of the claims.
    """
    by_title: dict[str, list[Result]] = {}
    for result in results:
        by_title.setdefault(place(result.claim), []).append(result)
    if all(re.match(r"(sections?|appendix|appendices) [A-Z\d]", title) for title in by_title):
        by_title = {title: by_title[title] for title in sorted(by_title, key=_order)}
    return [
        Section(title, tuple(some), tuple(f for f in figures if f.claims and place(f.claims[0]) == title))
        for title, some in by_title.items()
    ]


def page(reproduced: Reproduction, title: str = "", inside: bool = False) -> str:
    """The report as one HTML document with every figure and plotly itself inside.

    Args:
        title: title of the question, for a page about one question; its figures then come first. The source's by
            default, with its story.
        inside: whether the folder above has the index of all sources.
    """
    source, results = reproduced.source, reproduced.results
    apart = {} if title else {key: source.drawings[key].own_page for key in reproduced.figures}
    figures = {key: _figure(reproduced, key, apart.get(key, "")) for key in reproduced.figures}
    first = [figures[key] for key in (figures if title else _first_figures(reproduced))]
    asked = {run for result in results for run in result.runs} if title else set(reproduced.measured)
    parts = sections(results, [figure for figure in figures.values() if figure not in first])
    return rendered(
        "modinterp.reproduce",
        "page.html",
        title=title or source.title,
        source=source,
        question=bool(title),
        inside=inside,
        foreign=reproduced.foreign,
        split_unknown=SPLIT_UNKNOWN,
        story=() if title else _story(reproduced),
        first=first,
        figures=figures,
        sections=parts,
        parts_are="section",
        parts=[(part.title, part.title[0].upper() + part.title[1:]) for part in parts],
        numbers=_numbers,
        ours=reproduced.beside,
        our_run=next((run for result in reproduced.beside.values() for run in result.runs), ""),
        partly=sum(bool(result.runs_pending) for result in results),
        counts=counted(results),
        tally=reproduced.tally,
        columns=COLUMNS,
        pages=() if title else reproduced.pages,
        prevalence="" if title else prevalence_html([prevalence_table(results)]),
        **_printed(results),
        overview="" if title or reproduced.foreign else _overview(reproduced),
        contradictions=[("", *row) for row in contradictions_table(reproduced).values.tolist()],
        refuted=did_not_hold(reproduced),
        recomputed=reproduced.recomputed,
        recomputable=reproduced.recomputable,
        recorded=sum(m.is_recorded for name, m in reproduced.measured.items() if name in asked),
        runs=[repr(m.run) for name, m in reproduced.measured.items() if name in asked],
    )


def _story(reproduced: Reproduction) -> list[Sentence]:
    """The sentences that the page begins with: the source's own where it has some, and something of it was measured."""
    own = reproduced.source.story
    by_id = {result.claim.id.partition(".")[2]: result for result in reproduced.results}
    return (own.told(by_id) if own else []) or told_by_itself(reproduced.results)


def _overview(reproduced: Reproduction) -> str:
    """The source's own table of what came out; empty where it has none."""
    found = reproduced.source.overview({r.claim.id.partition(".")[2]: r for r in reproduced.results})
    return "" if found is None else table_html(*found, unfolded=True)


def _first_figures(reproduced: Reproduction) -> list[str]:
    """Keys of the figures that the page begins with: those of the source's story, and then the first that are there."""
    own = reproduced.source.story
    told = [key for key in (own.figures if own else ()) if key in reproduced.figures]
    there = [key for key in reproduced.figures if not reproduced.source.drawings[key].own_page]
    return list(dict.fromkeys([*told, *there]))[: max(FIRST_FIGURES, len(told))]


def _figure(reproduced: Reproduction, key: str, apart: str) -> Figure:
    """A figure with what stands below it and what it belongs to; a link where it has a page apart, of that title."""
    (number, figure), source = reproduced.figures[key], reproduced.source
    shown = source.figures_shown_with(key)
    claims = tuple(r.claim for r in reproduced.results if r.claim.figure in shown)
    table = table_html(*reproduced.tables[key]) if key in reproduced.tables else ""
    html = f"<p><a href='{key}.html'>{escape(apart)}</a></p>" if apart else figure_html(figure, key)
    return Figure(key, number, html, _more(source, key) + table, claims)


def _more(source: Source, key: str) -> str:
    """What the page has below a figure, that plotly alone cannot do."""
    name = source.drawings[key].template
    return template(source.package, name).render(phase=get_colorscale(CYCLIC)) if name else ""


def _numbers(result: Result, beside: Result | None = None) -> list[dict[str, str]]:
    """Each measured number with its band: those off theirs first, then the others with one.

    Args:
        beside: of the same claim on a network that stands beside the one measured.
    """
    bands = result.claim.bands
    rows = []
    for name in sorted(result.measured, key=lambda n: (n not in result.off, n not in bands)):
        values, band = result.measured[name], bands.get(name)
        rows.append(
            {
                "name": result.title(name),
                "value": result.value_text(name),
                "spread": f"{len(values)} {'networks' if result.claim.of_one else 'runs'}" if len(values) > 1 else "",
                "first": number_text(values[0]) if result.claim.of_one and len(values) > 1 else "",
                "beside": beside.value_text(name) if beside is not None and name in beside.measured else "",
                "band": str(band) if band else "",
                "because": band.because if band else "",
                "state": "" if band is None else "off" if name in result.off else "ok",
            }
        )
    return rows


def prevalence_html(tables: Sequence[pd.DataFrame]) -> str:
    """In how many networks of their recipe claims hold, drawn; empty where none was measured on several."""
    figure = prevalence(tables)
    return "" if figure is None else figure_html(figure, "held-in")


def _printed(results: Sequence[Result]) -> dict[str, Any]:
    """The source's numbers beside ours: the first of each section for all to see, and the whole table, folded."""
    table = printed_table(results)
    if not len(table):
        return {"beside": (), "printed": ""}
    first = table.groupby(table["where"].str.split(",").str[0], sort=False).head(1).head(FIRST_NUMBERS)
    whole = table_html(f"All {len(table)} numbers that the source prints, and ours", table)
    return {"beside": first.to_dict("records"), "printed": whole if len(table) > len(first) else ""}
