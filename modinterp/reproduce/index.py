"""Write the index of all sources: their claims, the verdicts, and in how many networks each claim holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modinterp.claims import Result
from modinterp.claims.tally import COLUMNS, Tally
from modinterp.figures.prevalence import prevalence_table
from modinterp.pages.html import rendered
from modinterp.reproduce.findings import Reasons, contradictions_table, did_not_hold
from modinterp.reproduce.reproduction import Reproduction
from modinterp.reproduce.source_page import counted, prevalence_html

# title of a group of claims to whether a claim belongs to it
GROUPS = {
    "Statements that hold in every measured seed": lambda r: r.prevalence_text and r.verdict == "holds",
    "Statements that hold in some seeds and not in others": lambda r: r.verdict == "mixed",
    "Statements that hold in no seed, or are refuted otherwise": lambda r: r.verdict == "refuted",
    "Statements that hold, measured on one network or on none: mathematics, data, set-up": lambda r: (
        r.verdict == "holds"
    ),
    "Open statements: not measured, or measured on a variant alone": lambda r: r.verdict == "open",
}


@dataclass(frozen=True)
class IndexEntry:
    """The entry of one source in the index, without figures and activations.

    Attributes:
        name: short name of the source, and of the folder of its page.
        title: title of the paper or report.
        citation: authors and year of the paper or report.
        results: the results of all claims, one per claim.
        tally: counts of verdicts, each measurement once.
        refuted: claims that did not hold, by kind; see `did_not_hold`.
        contradictions: rows of the table that `contradictions_table` returns.
    """

    name: str
    title: str
    citation: str
    results: tuple[Result, ...]
    tally: Tally
    refuted: list[tuple[str, Reasons]]
    contradictions: list[list[str]]

    @property
    def counts(self) -> dict[str, int]:
        """The number of claims with each verdict."""
        return counted(self.results)


def index_entry(reproduced: Reproduction) -> IndexEntry:
    """Return the entry of a reproduction in the index of all sources."""
    return IndexEntry(
        reproduced.source.name,
        reproduced.source.title,
        reproduced.source.citation,
        reproduced.results,
        reproduced.tally,
        did_not_hold(reproduced),
        contradictions_table(reproduced).values.tolist(),
    )


def by_prevalence(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """Return groups of claims for the index of all sources; in each group, claims that hold in the most networks come
    first.
    """
    groups: dict[str, list[Result]] = {title: [] for title in GROUPS}
    for result in results:
        groups[next(title for title, belongs in GROUPS.items() if belongs(result))].append(result)

    def share(result: Result) -> float:
        seeds = result.prevalence.seeds if result.prevalence else None
        return seeds.held / seeds.of if seeds else 1.0

    return [(title, sorted(some, key=share, reverse=True)) for title, some in groups.items() if some]


def index(entries: Sequence[IndexEntry]) -> str:
    """Return one page that links to the pages of all sources, which lie in folders named after the sources."""
    results = [result for entry in entries for result in entry.results]
    return rendered(
        "modinterp.reproduce",
        "index.html",
        sources=entries,
        counts=counted(results),
        networks=len({run for result in results for run in result.runs}),
        total=sum((entry.tally for entry in entries), Tally.of(())),
        columns=COLUMNS,
        groups=by_prevalence(results),
        prevalence=prevalence_html([prevalence_table(entry.results) for entry in entries]),
        contradictions=[(f"{entry.name}/index.html", *row) for entry in entries for row in entry.contradictions],
        parts_are="source",
        parts=[(entry.name, entry.title) for entry in entries],
    )
