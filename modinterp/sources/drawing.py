"""Define a figure of a source: its number in the source, and how the figure is drawn from measurements of runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from modinterp.measurements import NetworkMeasurements
from modinterp.runs import NotRecorded

Measured = Mapping[str, NetworkMeasurements]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table below a figure, which the page shows folded.

    Attributes:
        title: the title that readers see while the table is folded.
        make: function from the figure's measurements to the table; returns None if the measurements are not enough.
    """

    title: str
    make: Callable[..., pd.DataFrame | None]


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """The instructions for drawing one figure of a source.

    The function `draw` gets the measurements of the source's main run, unless a field says otherwise. With `first_of`,
    `draw` gets the measurements of the first available run; with `all_of`, of all available runs by name; with
    `needs_no_run`, nothing.

    Attributes:
        number: number of the figure in the source, such as `Figure 7`.
        draw: function that returns the figure, or None if the available runs are not enough for the figure.
        first_of: names of runs, or patterns such as `SOURCE/seed-*`, in order of preference.
        all_of: names of runs, or patterns, from all of which the figure is drawn.
        needs_no_run: True if the figure is drawn from formulas alone.
        table: the table below the figure, if there is one.
        template: name of a file beside the source's drawings, with parts of the page below the figure that plotly
            cannot draw.
        beside: key of another figure beside which this figure is drawn; this figure then belongs to the other figure's
            claims.
        own_page: title of a page that shows only this figure, such as a large figure; empty to show it on the source's
            page.
    """

    number: str
    draw: Callable[..., go.Figure | None]
    first_of: tuple[str, ...] = ()
    all_of: tuple[str, ...] = ()
    needs_no_run: bool = False
    table: Table | None = None
    template: str = ""
    beside: str = ""
    own_page: str = ""

    def __post_init__(self) -> None:
        if bool(self.first_of) + bool(self.all_of) + self.needs_no_run > 1:
            raise ValueError(
                f"{self.number} must be drawn from only one of these: the first of several runs, all of several "
                "runs, or no run"
            )

    def shows(self, run: str, main: str) -> bool:
        """Return True if the figure is, or may be, drawn from a run.

        Args:
            run: name of the run.
            main: the source's main run.
        """
        return not self.needs_no_run and _fits(run, self.all_of or self.first_of or (main,))

    def _given(self, measured: Measured, main: str) -> tuple[Any, ...] | None:
        """The arguments of `draw`; None where no run is there that it could be drawn from."""
        if self.needs_no_run:
            return ()
        if self.all_of:
            return ({name: m for name, m in measured.items() if _fits(name, self.all_of)},)
        run = self.drawn_from(measured, main)
        return None if run is None else (measured[run],)

    def drawn_from(self, names: Collection[str], main: str) -> str | None:
        """Return the available run from which the figure is drawn; None for a figure of several runs, or of no run."""
        if self.needs_no_run or self.all_of:
            return None
        return next((n for pattern in self.first_of or (main,) for n in names if fnmatchcase(n, pattern)), None)

    def figure(self, measured: Measured, main: str) -> go.Figure | None:
        """Return the figure; None if the available runs lack something that the figure needs."""
        return self._made(self.draw, measured, main)

    def made_table(self, measured: Measured, main: str) -> pd.DataFrame | None:
        """Return the table below the figure; None if there is no table or the available runs are not enough for the
        table.
        """
        return None if self.table is None else self._made(self.table.make, measured, main)

    def _made(self, make: Callable[..., Any], measured: Measured, main: str) -> Any:
        """What a function makes of the runs; None where there is none, or where what it asks for did not come along."""
        given = self._given(measured, main)
        try:
            return None if given is None else make(*given)
        except NotRecorded:
            return None


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a name is one of some names, or fits one of some patterns."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)
