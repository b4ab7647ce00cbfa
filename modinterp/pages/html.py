"""Figures, tables and templates as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import jinja2
import pandas as pd
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

_PLOT = {"displaylogo": False, "responsive": True}
# [px]: height of a title in a figure, least width of a panel and of a diagram without axes, width of a letter
_TITLE, _PANEL, _DIAGRAM, _LETTER = 40, 250, 800, 7.5


def figure_html(figure: go.Figure, key: str) -> str:
    """A figure as a part of a page that has plotly: its title as text, which wraps, and panels that stay legible.

    In a narrow window a figure of several panels is as wide as they need, and scrolls in its own box.
    """
    shown, title = go.Figure(figure), figure.layout.title.text or ""
    shown.update_layout(title_text="", height=(figure.layout.height or 450) - _TITLE,
                        margin_t=(figure.layout.margin.t or 100) - _TITLE)  # fmt: skip
    drawn = shown.to_html(config=_PLOT, include_plotlyjs=False, full_html=False, div_id=f"plot-{key}", auto_play=False)
    return (
        f"<p class='sees'>{escape(title)}</p>"
        f"<div class='scroll'><div style='min-width: {_least_width(figure)}px'>{drawn}</div></div>"
    )


def _least_width(figure: go.Figure) -> int:
    """At which no panel is too small, no title or axis title runs into its neighbour's, no labels have to turn. [px]"""
    if all(axis.visible is False for axis in figure.select_xaxes()):
        return _DIAGRAM
    panels = len({axis.domain for axis in figure.select_xaxes()})
    labels = max((_LETTER * (len(names) + sum(map(len, names))) for names in _labels(figure)), default=0)
    if panels < 2:
        return max(_PANEL * panels, round(labels))
    titles = [note.text or "" for note in figure.layout.annotations if not note.showarrow and note.yref == "paper"]
    titles += [axis.title.text or "" for axis in figure.select_xaxes()]
    return panels * max(_PANEL, round(_LETTER * max(map(len, titles))), round(labels))


def _labels(figure: go.Figure) -> list[Sequence[str]]:
    """The words below each axis whose ticks are words, be they set or the names of bars."""
    bars: dict[str, dict[str, None]] = {}
    for trace in figure.select_traces("bar"):
        if trace.orientation != "h" and trace.x is not None and all(isinstance(x, str) for x in trace.x):
            bars.setdefault(trace.xaxis, {}).update(dict.fromkeys(trace.x))
    ticks = [axis.ticktext for axis in figure.select_xaxes() if axis.ticktext is not None]
    return [*ticks, *map(list, bars.values())]


def table_html(title: str, table: pd.DataFrame) -> str:
    """A table that unfolds under its title."""
    body = table.to_html(index=False, border=0, na_rep="", float_format=lambda x: f"{x:.4g}")
    return f"<details><summary>{title}</summary><div class='scroll'>{body}</div></details>"


def rendered(package: str, name: str, /, **values: Any) -> str:
    """A template of a package, filled in with its values and with `plotly`, the library itself."""
    return template(package, name).render(plotly=get_plotlyjs(), **values)


def template(package: str, name: str) -> jinja2.Template:
    """A template of a package, which may extend `base.html` and include the other templates of this package."""
    loaders = [jinja2.PackageLoader(each, "") for each in dict.fromkeys((package, "modinterp.pages"))]
    environment = jinja2.Environment(loader=jinja2.ChoiceLoader(loaders), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True)  # fmt: skip
    return environment.get_template(name)
