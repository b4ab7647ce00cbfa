"""Draw results of sequence networks: accuracy by kind of input, mean attention, and the effect of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.figures.theme import CATEGORIES, colour_of, heatmap, with_title

MOST_HEADS = 12


def by_kind(kinds: pd.DataFrame, title: str) -> go.Figure:
    """Draw accuracy for each value of each kind of input, with its interval, with one panel per kind.

    Args:
        kinds: one row per value, with the columns `kind`, `value`, `answers`, `accuracy`, `at least` and `at most`.
        title: title of the figure, which says what to see.
    """
    names = list(dict.fromkeys(kinds["kind"]))
    figure = make_subplots(1, len(names), subplot_titles=names, shared_yaxes=True, horizontal_spacing=0.06)
    for column, name in enumerate(names, start=1):
        rows = kinds[kinds["kind"] == name]
        figure.add_bar(
            x=[str(value) for value in rows["value"]],
            y=rows["accuracy"].tolist(),
            error_y={
                "type": "data",
                "symmetric": False,
                "array": (rows["at most"] - rows["accuracy"]).tolist(),
                "arrayminus": (rows["accuracy"] - rows["at least"]).tolist(),
            },
            customdata=rows["answers"].tolist(),
            marker_color=colour_of(column - 1, range(len(names))),
            hovertemplate="%{x}<br>%{y:.2%} of %{customdata} answers<extra></extra>",
            row=1,
            col=column,
        )
        figure.update_xaxes(type="category", row=1, col=column)
    figure.update_yaxes(range=[0, 1.05])
    figure.update_yaxes(title="share of right answers", col=1)
    return with_title(figure, title, 380, False)


def attention(heads: Mapping[str, Float[Tensor, "query key"]], names: Sequence[str], title: str) -> go.Figure:
    """Draw the mean attention between positions, with one panel for each of the first dozen heads.

    Args:
        heads: map from the name of a head to its mean attention `[query, key]`.
        names: names of the positions.
        title: title of the figure, which says what to see.
    """
    shown = list(heads.items())[:MOST_HEADS]
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    figure = make_subplots(
        rows, columns, subplot_titles=[name for name, _ in shown], shared_yaxes=True, horizontal_spacing=0.04
    )
    for place, (name, pattern) in enumerate(shown):
        trace = heatmap(
            pattern,
            "position attended to",
            "query position",
            "attention",
            labels=names,
            colorbar=not place,
            zmax=1,
            name=name,
        )
        figure.add_trace(trace, row=place // columns + 1, col=place % columns + 1)
    figure.update_xaxes(title="position attended to", row=rows)
    figure.update_yaxes(title="query position", col=1)
    figure.update_yaxes(autorange="reversed")
    return with_title(figure, title, 120 + 300 * rows, False)


def effects(parts: pd.DataFrame, title: str) -> go.Figure:
    """Draw bars of the rise of the loss when each part of the network is removed.

    Args:
        parts: one row per part, with the columns `part`, `accuracy` and `rise [nats]`.
        title: title of the figure, which says what to see.
    """
    rows = parts[parts["part"] != "none"]
    figure = go.Figure(
        go.Bar(
            x=rows["part"].tolist(),
            y=rows["rise [nats]"].tolist(),
            customdata=rows["accuracy"].tolist(),
            marker_color=CATEGORIES[0],
            hovertemplate="%{x}<br>%{y:.4g} nats, accuracy %{customdata:.2%}<extra></extra>",
        )
    )
    figure.update_xaxes(title="part replaced by its mean over inputs")
    figure.update_yaxes(title="rise of the loss [nats]")
    return with_title(figure, title, 420, False)
