"""What a source's report draws, and from which run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

import pandas as pd
import plotly.graph_objects as go

from modinterp.claims import Evidence, evidence
from modinterp.runs import TrainedRun

Runs = Mapping[str, TrainedRun]
# None: the runs that it is made from are not there
Draw = Callable[[Evidence, Runs], go.Figure | None]
Make = Callable[[Evidence, Runs], pd.DataFrame | None]


@dataclass(frozen=True)
class Page:
    """A question of a source that has a page of its own, with the figures and claims that answer it.

    Attributes:
        key: name of the file, without its ending.
        title: the question.
        figures: keys of the figures; the claims are those that they belong to.
    """

    key: str
    title: str
    figures: tuple[str, ...]


@dataclass(frozen=True)
class Drawings:
    """The figures and tables of a source.

    Attributes:
        main: the run that they are drawn from, where `drawn_from` names no other for a figure's key.
        figures_of: key of a claim's figure to its number in the source and how to draw it.
        tables_of: key of a figure to the title and making of the table below it.
        pages: questions with a page of their own.
        more_of: key of a figure to a template, beside this file, of what the page has below it.
        drawn_from: key of a figure to the run that it is drawn from, or to several of which the first that is there is;
            names or patterns of names.
        of_no_run: key of a figure that needs no run to its number in the source and how to draw it.
        companions: key of a figure to those that are drawn along with it, and belong to the same claims.
        beside: key of a figure to runs that it shows beside those that the claims need.
    """

    main: str
    figures_of: Mapping[str, tuple[str, Draw]]
    tables_of: Mapping[str, tuple[str, Make]] = field(default_factory=dict)
    pages: tuple[Page, ...] = ()
    more_of: Mapping[str, str] = field(default_factory=dict)
    drawn_from: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    of_no_run: Mapping[str, tuple[str, Callable[[], go.Figure | None]]] = field(default_factory=dict)
    companions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def keys(self) -> set[str]:
        """Of all figures."""
        return {*self.of_no_run, *self.figures_of}

    def along(self, keys: set[str]) -> set[str]:
        """These figures and those that are drawn along with them."""
        return keys | {other for key in keys for other in self.companions.get(key, ())}

    def _source(self, key: str) -> tuple[str, ...]:
        named = self.drawn_from.get(key, self.main)
        return (named,) if isinstance(named, str) else named

    def _evidence(self, runs: Runs, key: str) -> Evidence | None:
        there = (run for pattern in self._source(key) for name, run in runs.items() if fnmatchcase(name, pattern))
        return next(map(evidence, there), None)

    def needed(self, wanted: set[str]) -> tuple[str, ...]:
        """Names of runs that the wanted figures are drawn from, or show beside, whatever the claims need."""
        shown = [name for key, names in self.beside.items() if key in wanted for name in names]
        return (
            *shown,
            *(name for key in self.figures_of if key in wanted for name in self._source(key) if "*" not in name),
        )

    def figures(self, runs: Runs, wanted: set[str]) -> dict[str, tuple[str, go.Figure]]:
        """Those of the wanted figures that the runs allow, by key, each with its number in the source."""
        alone = {key: (number, draw()) for key, (number, draw) in self.of_no_run.items() if key in wanted}
        drawn = {
            key: (number, draw(ev, runs))
            for key, (number, draw) in self.figures_of.items()
            if key in wanted and (ev := self._evidence(runs, key)) is not None
        }
        return {key: (number, figure) for key, (number, figure) in (alone | drawn).items() if figure is not None}

    def tables(self, runs: Runs, wanted: set[str]) -> dict[str, tuple[str, pd.DataFrame]]:
        """Tables that belong below a figure, by the figure's key."""
        made = {
            key: (title, make(ev, runs))
            for key, (title, make) in self.tables_of.items()
            if key in wanted and (ev := self._evidence(runs, key)) is not None
        }
        return {key: (title, table) for key, (title, table) in made.items() if table is not None}
