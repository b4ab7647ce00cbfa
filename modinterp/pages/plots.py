"""Render a figure as a part of a page, with title, description in words, smallest width, and slider if it is
animated.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from modinterp.figures.animation import Slider, without_slider
from modinterp.figures.theme import TITLE_LINE, title_of
from modinterp.pages.packed import content_packed, needs_whole, plain

# [px]: height of a title in a figure, least width of a panel and of a diagram without axes, width of a letter
_TITLE, _PANEL, _DIAGRAM, _LETTER = 40, 215, 800, 7.5
_WHOLE = " data-library='whole'"


class Drawn:
    """A figure of a page, as HTML with its title.

    Attributes:
        key: the figure's key, used in links.
        title: title of the figure, which says what to see.
        html: HTML of the figure, from `figure_html`.
    """

    def __init__(self, key: str, figure: go.Figure):
        self.key, self.title, self.html = key, title_of(figure) or key, figure_html(figure, key)


def figure_html(figure: go.Figure, key: str) -> str:
    """Return the HTML of a figure, which is drawn when it comes into view.

    The figure's title is HTML text, which wraps; an animated figure has an HTML slider and an HTML button. In a narrow
    window, panels of a figure stand below one another (`fit.js`), and a diagram is drawn smaller.
    """
    shown, slider = without_slider(figure)
    title, content = untitled(shown)
    is_diagram = all(axis.visible is False for axis in figure.select_xaxes())
    least = f" data-least='{_DIAGRAM}'" if is_diagram else ""
    return (
        f"<p class='sees'>{escape(title)}</p>{'' if slider is None else _player(slider, key)}"
        f"<div class='scroll'><div class='plot' id='plot-{key}' role='img' aria-label='{escape(in_words(figure))}' "
        f"data-panel='{least_of_a_panel(figure)}'{least} style='height: {content['layout']['height']}px'></div></div>"
        f"<script type='application/gzip' data-plot='plot-{key}'{_WHOLE * needs_whole(figure)}>"
        f"{content_packed(content)}</script>"
    )


def untitled(figure: go.Figure) -> tuple[str, dict[str, Any]]:
    """Return the title of a figure, and its plain content without the title and the title's space."""
    content = plain(figure)
    layout, margin = content["layout"], content["layout"].setdefault("margin", {})
    title = layout.pop("title", {}).get("text") or ""
    room = _TITLE + TITLE_LINE * title.count("<br>")
    layout["height"], margin["t"] = layout.get("height", 450) - room, margin.get("t", 100) - room
    layout.pop("width", None)
    return title.replace("<br>", " "), content


def _player(slider: Slider, key: str) -> str:
    """Return the HTML of the slider and button that animate a figure."""
    values = escape(" ".join(slider.steps))
    return (
        f"<div class='player' data-plot='plot-{key}' data-steps='{values}'><button type='button'>play</button>"
        f"<label>{escape(slider.name)} <input type='range' min='0' max='{len(slider.steps) - 1}' value='0'></label>"
        f"<output>{escape(slider.steps[0])}</output></div>"
    )


def in_words(figure: go.Figure) -> str:
    """Describe a figure for readers who cannot see it: title, panels, axes and curves."""
    axes = dict.fromkeys(a.title.text for a in (*figure.select_xaxes(), *figure.select_yaxes()) if a.title.text)
    names = dict.fromkeys(trace.name for trace in figure.data if trace.name)
    parts = {
        "": [title_of(figure) or "A figure"],
        "Panels: ": _panel_titles(figure),
        "Axes: ": list(axes),
        "Drawn: ": list(names)[:12] + ["and more"] * (len(names) > 12),
    }
    return ". ".join(head + ", ".join(words) for head, words in parts.items() if words)


def _panel_notes(figure: go.Figure) -> list[Any]:
    return [note for note in figure.layout.annotations if not note.showarrow and note.yref == "paper"]


def _panel_titles(figure: go.Figure) -> list[str]:
    return [note.text or "" for note in _panel_notes(figure)]


def least_width(figure: go.Figure) -> int:
    """Return the smallest width at which no panel is too small, no titles overlap, and no labels are rotated. [px]"""
    if all(axis.visible is False for axis in figure.select_xaxes()):
        return _DIAGRAM
    labels = max((_LETTER * (len(names) + sum(map(len, names))) for names in _labels(figure)), default=0)
    return max(_panels_side_by_side(figure) * least_of_a_panel(figure), round(labels))


def least_of_a_panel(figure: go.Figure) -> int:
    """Return the width that a single panel needs in the row with the most panels. [px]"""
    most, least = max(1, _panels_side_by_side(figure)), float(_PANEL)
    for height, row in _rows(figure).items():
        low, high = height or (0.0, 1.0)
        whole = sum(end - start for start, end in row)
        for start, end in row if len(row) > 1 else ():
            words = [n.text or "" for n in _panel_notes(figure) if start < n.x < end and low < n.y <= high + 1e-6]
            words += [a.title.text or "" for a in figure.select_xaxes() if (a.domain or (0, 1)) == (start, end)]
            longest = max((len(line) for each in words for line in each.split("<br>")), default=0)
            least = max(least, _LETTER * longest * whole / (end - start) / most)
    return round(least)


def _rows(figure: go.Figure) -> dict[Sequence[float] | None, set[tuple[float, float]]]:
    """Return, for each row of panels, where each panel begins and ends, as a share of the width."""
    rows: dict[Sequence[float] | None, set[tuple[float, float]]] = {}
    for axis in figure.select_xaxes():
        beside = figure.layout[(axis.anchor or "y").replace("y", "yaxis")]
        start, end = axis.domain or (0.0, 1.0)
        rows.setdefault(beside.domain, set()).add((start, end))
    return rows


def _panels_side_by_side(figure: go.Figure) -> int:
    """Return the number of panels in the row with the most panels."""
    return max(map(len, _rows(figure).values()), default=0)


def _labels(figure: go.Figure) -> list[Sequence[str]]:
    """Return the tick labels of each axis with text labels, either set explicitly or the names of bars."""
    bars: dict[str, dict[str, None]] = {}
    for trace in figure.select_traces("bar"):
        if trace.orientation != "h" and trace.x is not None and all(isinstance(x, str) for x in trace.x):
            bars.setdefault(trace.xaxis, {}).update(dict.fromkeys(trace.x))
    ticks = [axis.ticktext for axis in figure.select_xaxes() if axis.ticktext is not None]
    return [*ticks, *map(list, bars.values())]
