"""Write a reproduction as one self-contained page: first a summary, then folded sections with every claim and its
figures.
"""

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
        number: number of the figure in the source.
        html: HTML of the figure.
        below: HTML below the figure: a table, and additions that plotly alone cannot show.
        claims: claims that the figure illustrates.
    """

    key: str
    number: str
    html: str
    below: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Section:
    """The claims of one section of a source.

    Attributes:
        title: title of the section, such as "Section 4.1".
        results: the results of the section's claims, one result per claim.
        figures: figures of the section; a figure is placed with the first claim that it illustrates.
    """

    title: str
    results: tuple[Result, ...]
    figures: tuple[Figure, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of claims with each verdict."""
        return counted(self.results)


def counted(results: Sequence[Result]) -> dict[str, int]:
    """Return the number of claims with each verdict."""
    return {verdict: sum(r.verdict == verdict for r in results) for verdict in VERDICTS}


def place(claim: Claim) -> str:
    """Return the section of a claim: its place in the source, up to the first comma."""
    title = re.split("[,;]", claim.where)[0]
    is_one = not re.search(" and | to ", title)  # of several that the comma has cut off
    return title.replace("sections ", "section ").replace("appendices ", "appendix ") if is_one else title


def _order(title: str) -> tuple[bool, list[tuple[int, str]]]:
    """Return the sort key of a numbered section: appendices come last, and section 10 comes after section 9."""
    parts = re.findall(r"(\d+)|([A-Z])\b", title)
    return title.startswith("appendi"), [(int(number or 0), letter) for number, letter in parts]


def sections(results: Sequence[Result], figures: Sequence[Figure]) -> list[Section]:
    """Return the sections of a page, each with its claims and the figures whose first claim is in the section.

    Numbered sections and appendices are in the order of their numbers, and other sections in the order of the claims.
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
    """Return the report as one HTML document with every figure and plotly itself inside.

    Args:
        title: title of the question if the page is about one question; the figures of the question then come first.
            Without `title`, the page has the source's title and story.
        inside: True if the parent folder holds the index of all sources.
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
    """Return the first sentences of the page: the source's own sentences, if it has some and was measured."""
    own = reproduced.source.story
    by_id = {result.claim.id.partition(".")[2]: result for result in reproduced.results}
    return (own.told(by_id) if own else []) or told_by_itself(reproduced.results)


def _overview(reproduced: Reproduction) -> str:
    """Return the source's own table of its findings; empty if it has none."""
    found = reproduced.source.overview({r.claim.id.partition(".")[2]: r for r in reproduced.results})
    return "" if found is None else table_html(*found, unfolded=True)


def _first_figures(reproduced: Reproduction) -> list[str]:
    """Return the keys of the first figures on the page: figures of the source's story, and then the first available
    ones.
    """
    own = reproduced.source.story
    told = [key for key in (own.figures if own else ()) if key in reproduced.figures]
    there = [key for key in reproduced.figures if not reproduced.source.drawings[key].own_page]
    return list(dict.fromkeys([*told, *there]))[: max(FIRST_FIGURES, len(told))]


def _figure(reproduced: Reproduction, key: str, apart: str) -> Figure:
    """Return a figure with its table and its claims, or with a link if the figure has a page of its own."""
    (number, figure), source = reproduced.figures[key], reproduced.source
    shown = source.figures_shown_with(key)
    claims = tuple(r.claim for r in reproduced.results if r.claim.figure in shown)
    table = table_html(*reproduced.tables[key]) if key in reproduced.tables else ""
    html = f"<p><a href='{key}.html'>{escape(apart)}</a></p>" if apart else figure_html(figure, key)
    return Figure(key, number, html, _more(source, key) + table, claims)


def _more(source: Source, key: str) -> str:
    """Return the HTML below a figure that plotly alone cannot show."""
    name = source.drawings[key].template
    return template(source.package, name).render(phase=get_colorscale(CYCLIC)) if name else ""


def _numbers(result: Result, beside: Result | None = None) -> list[dict[str, str]]:
    """Return each measured number with its tolerance; numbers outside their tolerance come first.

    Args:
        beside: result of the same claim on the run that a user's network replaces.
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
    """Return a figure of the number of seeds in which each claim holds; empty if no claim was measured on several
    networks.
    """
    figure = prevalence(tables)
    return "" if figure is None else figure_html(figure, "held-in")


def _printed(results: Sequence[Result]) -> dict[str, Any]:
    """Return the table of the source's numbers and ours: the first of each section, and the whole table folded."""
    table = printed_table(results)
    if not len(table):
        return {"beside": (), "printed": ""}
    first = table.groupby(table["where"].str.split(",").str[0], sort=False).head(1).head(FIRST_NUMBERS)
    whole = table_html(f"All {len(table)} numbers that the source prints, with our measurements", table)
    return {"beside": first.to_dict("records"), "printed": whole if len(table) > len(first) else ""}
