"""Draw how accurate formulas of a network are by their size, compared with the network cut down to the same size."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from modinterp.figures.theme import CATEGORIES, INK, MUTED, with_title

BASELINES = {"svd": ("network with only the largest singular values of each matrix", CATEGORIES[3]),
             "pruned": ("network with only its largest weights", CATEGORIES[4])}  # fmt: skip
LEAST = 1e-9  # KL divergence that is drawn. [nats]


def ladder(rungs: pd.DataFrame, baselines: pd.DataFrame, title: str) -> go.Figure:
    """Draw accuracy and KL divergence of each formula against its number of parameters, with baselines and the network.

    Args:
        rungs: the table `curve` of a `Distilled`; open circles are formulas that do not describe the network's inside.
        baselines: one row per reduced network, with the columns `kind` (`svd` or `pruned`), `numbers`, `accuracy`,
            `kl`.
        title: title of the figure, which says what to see.
    """
    figure = make_subplots(1, 2, subplot_titles=("accuracy", "KL divergence from the network"), horizontal_spacing=0.12)
    for column, name in ((1, "accuracy"), (2, "kl")):
        for kind, (words, colour) in BASELINES.items():
            some = baselines[baselines["kind"] == kind] if len(baselines) else baselines
            if len(some):
                figure.add_trace(_line(some, name, words, colour, column == 1), row=1, col=column)
        formulas = rungs[rungs["rung"] != "network"]
        line = _line(formulas, name, "formulas", CATEGORIES[0], column == 1)
        line.update(
            mode="markers+text",
            text=formulas["rung"],
            textposition=_places(len(formulas)),
            marker={"size": 9, "symbol": ["circle" if x else "circle-open" for x in formulas["inside"]]},
        )
        figure.add_trace(line, row=1, col=column)
        whole = rungs[(rungs["rung"] == "network") & (rungs["numbers"] > 0)]
        dot = _line(whole, name, "the network", INK, column == 1)
        dot.update(mode="markers", marker={"size": 11, "symbol": "diamond"})
        figure.add_trace(dot, row=1, col=column)
    figure.add_hline(y=0.01, line={"color": MUTED, "dash": "dot"}, row=1, col=2)  # type: ignore[arg-type]
    figure.update_xaxes(type="log", title="numbers in the formula or network")
    figure.update_yaxes(title="accuracy on all pairs", range=[-0.03, 1.08], col=1)
    figure.update_yaxes(type="log", title="KL divergence [nats]", exponentformat="power", col=2)
    return with_title(figure, title, 480)


def ladders(curves: Mapping[str, pd.DataFrame], title: str) -> go.Figure:
    """Draw the KL divergence of each network's formulas against their size, as a share of the network's parameters.

    Args:
        curves: map from the name of a network to the table `curve` of its `Distilled`.
        title: title of the figure, which says what to see.
    """
    figure = go.Figure()
    for i, (name, rungs) in enumerate(curves.items()):
        some = rungs[(rungs["rung"] != "network") & (rungs["share of all numbers"] > 0)]
        line = _line(some, "kl", name, CATEGORIES[i % len(CATEGORIES)], is_first=True)
        line.update(x=some["share of all numbers"], mode="markers", text=some["rung"], marker={"size": 9})
        figure.add_trace(line)
    figure.add_hline(y=0.01, line={"color": MUTED, "dash": "dot"})
    figure.update_xaxes(type="log", title="numbers in the formula over numbers in the network", tickformat=".2~p")
    figure.update_yaxes(type="log", title="KL divergence [nats]", exponentformat="power")
    return with_title(figure, title, 460)


def _places(count: int) -> list[str]:
    """Return the positions of the dots' labels, chosen so that labels of neighbours do not overlap."""
    places = ("top center", "bottom center", "middle right", "middle left")
    return [places[i % len(places)] for i in range(count)]


def _line(rows: pd.DataFrame, name: str, words: str, colour: str, is_first: bool) -> go.Scatter:
    values = rows[name].clip(lower=LEAST) if name == "kl" else rows[name]
    return go.Scatter(
        x=rows["numbers"], y=values, name=words, legendgroup=words, showlegend=is_first, mode="lines+markers",
        line={"color": colour},
    )  # fmt: skip
