"""Give all figures the same look: fixed meanings of colours, titles, panels and heat-maps."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from plotly.subplots import make_subplots
from torch import Tensor

CATEGORIES = (  # more than a network of these has key frequencies, so that none shares its colour
    "#2f6db5",
    "#d1495b",
    "#2a9d8f",
    "#e09f3e",
    "#7b5ea7",
    "#5f8f3e",
    "#b5651d",
    "#4a5a6a",
    "#c05aa8",
    "#3fb0c9",
    "#8c8c2e",
    "#f2876f",
    "#7f93d8",
    "#1b7f4d",
    "#b08a6e",
    "#a33a2a",
)
COS, SIN = CATEGORIES[0], CATEGORIES[1]
TRAIN, TEST, RESTRICTED, EXCLUDED = "#2f6db5", "#d1495b", "#2a9d8f", "#7b5ea7"
MUTED, INK = "#9aa5b1", "#1f2933"
SEQUENTIAL, DIVERGING = "Viridis", "RdBu"
LOSS_AXIS = {"title": "loss [nats]", "type": "log", "exponentformat": "power"}
CYCLIC = "Phase"  # of angles: its two ends are one colour
_KINDS, _UNUSED = ("bar", "heatmap", "scatter", "scatter3d"), ("geo", "mapbox", "polar", "ternary")


def colour_of(item: int, among: Sequence[int]) -> str:
    """Return the colour of a head or key frequency, which is the same in all figures with the same set.

    Args:
        item: index of the head, or the frequency.
        among: all heads or key frequencies of the set; an item outside the set is grey.
    """
    return CATEGORIES[list(among).index(item) % len(CATEGORIES)] if item in among else MUTED


def array(x: Tensor | np.ndarray | pd.Series | Sequence[float]) -> np.ndarray:
    """Return plot data as a numpy array. Floats of plot data get single precision, which halves the size of a page
    without a visible change.
    """
    values = x.detach().cpu().numpy() if isinstance(x, Tensor) else np.asarray(x)
    return values.astype(np.float32) if values.dtype.kind == "f" else values


@cache
def _template() -> str:
    """Return the name of the template of all figures: the parts of plotly's white template that our figures use.

    Plotly copies and checks the template for every figure, and the complete template would take three times as long.
    """
    name, whole = "modinterp", pio.templates["plotly_white"].to_plotly_json()
    data = {kind: whole["data"][kind] for kind in _KINDS}
    layout = {part: value for part, value in whole["layout"].items() if part not in _UNUSED}
    pio.templates[name] = go.layout.Template(data=data, layout=layout)
    return name


TITLE_LINE, _TITLE_LETTERS = 19, 80  # [pixels] of a line of a title; letters of one in a figure 700 pixels wide


def titled(figure: go.Figure, title: str) -> go.Figure:
    """Give a figure another title, broken into lines, and increase its height for the lines."""
    old, new = figure.layout.title.text or "", "<br>".join(textwrap.wrap(title, _TITLE_LETTERS))
    more = TITLE_LINE * (new.count("<br>") - old.count("<br>"))
    height, above = figure.layout.height or 450, 100 if figure.layout.margin.t is None else figure.layout.margin.t
    return figure.update_layout(title_text=new, height=height + more, margin_t=above + more)


def title_of(figure: go.Figure) -> str:
    """Return the title of a figure in one line; empty without a title."""
    return (figure.layout.title.text or "").replace("<br>", " ")


def with_title(figure: go.Figure, title: str, height: int = 420, legend: bool = True) -> go.Figure:
    """Give a figure a title, which says what to see, and the common size, fonts and grid.

    Args:
        height: height of the figure. [pixels]
        legend: True if the figure has a legend.
    """
    figure.update_layout(
        title={"text": "", "x": 0, "xanchor": "left", "xref": "paper", "font": {"size": 15}},
        template=_template(),
        font={"family": "system-ui, sans-serif", "size": 12, "color": INK},
        height=height,
        margin={"l": 64, "r": 24, "t": 84, "b": 56},
        showlegend=legend,
        legend={"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0},
        hoverlabel={"font": {"family": "system-ui, sans-serif"}},
    )
    for note in figure.layout.annotations:  # titles of the panels
        if note.font.size is None or note.font.size > 13:
            note.font.size = 12
    return titled(figure, title)


Places = dict[str, tuple[int, int]]


def panels(names: Iterable[str]) -> tuple[go.Figure, Places]:
    """Return a figure with two columns of panels, one panel per name, and the row and column of each panel."""
    places = {name: (place // 2 + 1, place % 2 + 1) for place, name in enumerate(names)}
    rows = max(row for row, _ in places.values())
    gaps = {"horizontal_spacing": 0.1, "vertical_spacing": 0.4 / rows}
    return make_subplots(rows, 2, subplot_titles=list(places), **gaps), places


def with_panel_title(figure: go.Figure, title: str, places: Places) -> go.Figure:
    """Give a figure with several panels a title, the height that its rows need, and a legend below the rows.

    Args:
        places: row and column of each panel, from `panels`.
    """
    rows = max(row for row, _ in places.values())
    return with_title(figure, title, 340 * rows).update_layout(legend_y=-0.24 / rows)


def heatmap(
    z: Tensor,
    x_name: str,
    y_name: str,
    value: str,
    diverging: bool = False,
    labels: Sequence[str] | None = None,
    colorbar: bool = True,
    zmax: float | None = None,
    name: str = "",
) -> go.Heatmap:
    """Return a heat-map trace of `z[y, x]` whose hover label names both coordinates and the value.

    Args:
        x_name, y_name, value: names of the coordinates and of the value.
        diverging: True for a colour scale that is centred on 0.
        labels: names of rows and columns; numbers by default.
        colorbar: True to show a colour bar.
        zmax: upper end of the colour scale.
        name: extra text in the hover label, such as the head and its frequency.
    """
    top = float(z.abs().max()) if zmax is None else zmax
    span = {"zmin": -top, "zmax": top} if diverging else ({} if zmax is None else {"zmin": 0, "zmax": zmax})
    axes = {} if labels is None else {"x": list(labels)[: z.shape[1]], "y": list(labels)[: z.shape[0]]}
    return go.Heatmap(
        z=array(z),
        colorscale=DIVERGING if diverging else SEQUENTIAL,
        reversescale=diverging,
        showscale=colorbar,
        colorbar={"title": value, "thickness": 12, "len": 0.9},
        hovertemplate=f"{y_name} = %{{y}}<br>{x_name} = %{{x}}<br>{value} = %{{z:.4g}}<extra>{name}</extra>",
        **span,
        **axes,
    )
