"""A figure as a part of a page: its title and what it shows in words, as wide as its panels need, and how it moves."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from modinterp.figures.animation import Slider, without_slider
from modinterp.pages.packed import content_packed, needs_whole, plain

# [px]: height of a title in a figure, least width of a panel and of a diagram without axes, width of a letter
_TITLE, _PANEL, _DIAGRAM, _LETTER = 40, 215, 800, 7.5
_WHOLE = " data-library='whole'"


class Drawn:
    """A figure of a page.

    Attributes:
        key: by which it is linked to.
        title: what to see.
        html: the figure, from `figure_html`.
    """

    def __init__(self, key: str, figure: go.Figure):
        self.key, self.title, self.html = key, figure.layout.title.text or key, figure_html(figure, key)


def figure_html(figure: go.Figure, key: str) -> str:
    """A figure as a part of a page, where it is drawn when it comes into view.

    Its title is text, which wraps; a figure that moves has a slider and a button of the page. In a narrow window a
    figure of several panels is as wide as they need, and scrolls in its own box.
    """
    shown, slider = without_slider(figure)
    title, content = untitled(shown)
    return (
        f"<p class='sees'>{escape(title)}</p>{'' if slider is None else _player(slider, key)}"
        f"<div class='scroll'><div class='plot' id='plot-{key}' role='img' aria-label='{escape(in_words(figure))}' "
        f"style='min-width: {least_width(figure)}px; height: {content['layout']['height']}px'></div></div>"
        f"<script type='application/gzip' data-plot='plot-{key}'{_WHOLE * needs_whole(figure)}>"
        f"{content_packed(content)}</script>"
    )


def untitled(figure: go.Figure) -> tuple[str, dict[str, Any]]:
    """The title of a figure, and its plain content without it and without the room for it."""
    content = plain(figure)
    layout, margin = content["layout"], content["layout"].setdefault("margin", {})
    layout["height"], margin["t"] = layout.get("height", 450) - _TITLE, margin.get("t", 100) - _TITLE
    return layout.pop("title", {}).get("text") or "", content


def _player(slider: Slider, key: str) -> str:
    """What sets a figure in motion."""
    values = escape(" ".join(slider.steps))
    return (
        f"<div class='player' data-plot='plot-{key}' data-steps='{values}'><button type='button'>play</button>"
        f"<label>{escape(slider.name)} <input type='range' min='0' max='{len(slider.steps) - 1}' value='0'></label>"
        f"<output>{escape(slider.steps[0])}</output></div>"
    )


def in_words(figure: go.Figure) -> str:
    """What a figure shows, for who cannot see it: its title, panels, axes and what is drawn."""
    axes = dict.fromkeys(a.title.text for a in (*figure.select_xaxes(), *figure.select_yaxes()) if a.title.text)
    names = dict.fromkeys(trace.name for trace in figure.data if trace.name)
    parts = {
        "": [figure.layout.title.text or "A figure"],
        "Panels: ": _panel_titles(figure),
        "Axes: ": list(axes),
        "Drawn: ": list(names)[:12] + ["and more"] * (len(names) > 12),
    }
    return ". ".join(head + ", ".join(words) for head, words in parts.items() if words)


def _panel_titles(figure: go.Figure) -> list[str]:
    return [note.text or "" for note in figure.layout.annotations if not note.showarrow and note.yref == "paper"]


def least_width(figure: go.Figure) -> int:
    """At which no panel is too small, no title or axis title runs into its neighbour's, no labels have to turn. [px]"""
    if all(axis.visible is False for axis in figure.select_xaxes()):
        return _DIAGRAM
    panels = _panels_side_by_side(figure)
    labels = max((_LETTER * (len(names) + sum(map(len, names))) for names in _labels(figure)), default=0)
    if panels < 2:
        return max(_PANEL * panels, round(labels))
    titles = _panel_titles(figure) + [axis.title.text or "" for axis in figure.select_xaxes()]
    return panels * max(_PANEL, round(_LETTER * max(map(len, titles))), round(labels))


def _panels_side_by_side(figure: go.Figure) -> int:
    """How many panels the fullest row has."""
    rows: dict[Sequence[float] | None, set[Sequence[float] | None]] = {}
    for axis in figure.select_xaxes():
        beside = figure.layout[(axis.anchor or "y").replace("y", "yaxis")]
        rows.setdefault(beside.domain, set()).add(axis.domain)
    return max(map(len, rows.values()), default=0)


def _labels(figure: go.Figure) -> list[Sequence[str]]:
    """The words below each axis whose ticks are words, be they set or the names of bars."""
    bars: dict[str, dict[str, None]] = {}
    for trace in figure.select_traces("bar"):
        if trace.orientation != "h" and trace.x is not None and all(isinstance(x, str) for x in trace.x):
            bars.setdefault(trace.xaxis, {}).update(dict.fromkeys(trace.x))
    ticks = [axis.ticktext for axis in figure.select_xaxes() if axis.ticktext is not None]
    return [*ticks, *map(list, bars.values())]
