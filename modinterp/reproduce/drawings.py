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
        drawn_from: key of a figure to a run other than `main`, or to a pattern of names: the first that is there.
    """

    main: str
    figures_of: Mapping[str, tuple[str, Draw]]
    tables_of: Mapping[str, tuple[str, Make]] = field(default_factory=dict)
    pages: tuple[Page, ...] = ()
    more_of: Mapping[str, str] = field(default_factory=dict)
    drawn_from: Mapping[str, str] = field(default_factory=dict)

    def _evidence(self, runs: Runs, key: str) -> Evidence | None:
        name = self.drawn_from.get(key, self.main)
        return next((evidence(run) for other, run in runs.items() if fnmatchcase(other, name)), None)

    def figures(self, runs: Runs, wanted: set[str]) -> dict[str, tuple[str, go.Figure]]:
        """Those of the wanted figures that the runs allow, by key, each with its number in the source."""
        drawn = {
            key: (number, draw(ev, runs))
            for key, (number, draw) in self.figures_of.items()
            if key in wanted and (ev := self._evidence(runs, key)) is not None
        }
        return {key: (number, figure) for key, (number, figure) in drawn.items() if figure is not None}

    def tables(self, runs: Runs, wanted: set[str]) -> dict[str, tuple[str, pd.DataFrame]]:
        """Tables that belong below a figure, by the figure's key."""
        made = {
            key: (title, make(ev, runs))
            for key, (title, make) in self.tables_of.items()
            if key in wanted and (ev := self._evidence(runs, key)) is not None
        }
        return {key: (title, table) for key, (title, table) in made.items() if table is not None}
