"""Draw clock and pizza networks by attention rate and width, and logits of circles (Zhong et al. 2023, figures 5 and
7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import torch
from plotly.subplots import make_subplots

from modinterp.analyses.circles.formulas import formula_logits
from modinterp.analyses.circles.isolation import ComponentCircle
from modinterp.figures.theme import CATEGORIES, INK, MUTED, SEQUENTIAL, array, colour_of, heatmap, with_title


def phase_diagram(table: pd.DataFrame, title: str) -> go.Figure:
    """Draw networks in 3D by attention rate, width and gradient symmetricity, coloured by distance irrelevance.

    Args:
        table: one row per network, with the columns `run`, `rate`, `width`, `symmetricity` and `irrelevance`.
        title: title of the figure, which says what to see.
    """
    figure = go.Figure()
    for width in sorted(set(table["width"])):
        rows = table[table["width"] == width]
        swept = sorted(set(rows["rate"]))
        figure.add_scatter3d(
            x=array(swept),
            y=array([float(width)] * len(swept)),
            z=array([float(rows["symmetricity"][rows["rate"] == rate].mean()) for rate in swept]),
            mode="lines",
            line={"color": MUTED, "width": 3},
            hoverinfo="skip",
        )
    figure.add_scatter3d(
        x=array(table["rate"].astype(float)),
        y=array(table["width"].astype(float)),
        z=array(table["symmetricity"].astype(float)),
        mode="markers",
        marker={
            "size": 5,
            "color": array(table["irrelevance"].astype(float)),
            "colorscale": SEQUENTIAL,
            "cmin": 0,
            "cmax": 1,
            "colorbar": {"title": "distance<br>irrelevance", "thickness": 12, "len": 0.8},
        },
        text=list(table["run"]),
        hovertemplate="rate %{x}, width %{y}<br>symmetricity %{z:.3f}<br>irrelevance %{marker.color:.2f}"
        "<extra>%{text}</extra>",
    )
    figure.update_layout(
        scene={
            "xaxis": {"title": {"text": "attention rate"}, "range": [1, 0]},
            "yaxis": {"title": {"text": "width"}, "type": "log", "tickvals": sorted(set(table["width"]))},
            "zaxis": {"title": {"text": "gradient symmetricity"}},
            "camera": {"eye": {"x": 1.5, "y": -1.6, "z": 0.7}},
        }
    )
    return with_title(figure, title, 560, False)


def rates(table: pd.DataFrame, title: str) -> go.Figure:
    """Draw gradient symmetricity and distance irrelevance by attention rate, with one point per network, coloured by
    width.

    Args:
        table: one row per network, with the same columns as for `phase_diagram`.
        title: title of the figure, which says what to see.
    """
    columns = {"symmetricity": "gradient symmetricity", "irrelevance": "distance irrelevance"}
    figure = make_subplots(1, 2, subplot_titles=list(columns.values()))
    widths = sorted(set(table["width"]))
    for place, column in enumerate(columns, start=1):
        for width in widths:
            rows = table[table["width"] == width]
            figure.add_scatter(
                x=array(rows["rate"].astype(float)),
                y=array(rows[column].astype(float)),
                mode="markers",
                name=f"width {width}",
                legendgroup=str(width),
                showlegend=place == 1,
                marker={"size": 8, "color": colour_of(width, widths), "opacity": 0.75},
                text=list(rows["run"]),
                hovertemplate="rate %{x}<br>%{y:.3f}<extra>%{text}</extra>",
                row=1,
                col=place,
            )
    figure.update_xaxes(title="attention rate")
    figure.update_yaxes(title="gradient symmetricity", col=1)
    figure.update_yaxes(title="distance irrelevance", col=2)
    return with_title(figure, title)


def formula_maps(p: int, freq: int, names: Sequence[str], title: str) -> go.Figure:
    """Draw the correct logit of formulas with one circle over all pairs (a, b), with one panel per formula.

    Args:
        freq: frequency of the circle. [cycles per p]
        names: names of the formulas, keys of `modinterp.analyses.circles.formulas.FORMULAS`.
        title: title of the figure, which says what to see in it.
    """
    x = torch.arange(p)
    answers = ((x[:, None] + x) % p).unsqueeze(-1)
    figure = make_subplots(1, len(names), subplot_titles=list(names))
    for column, name in enumerate(names, start=1):
        field = formula_logits(name, p, freq).gather(-1, answers).squeeze(-1)
        last = column == len(names)
        figure.add_trace(heatmap(field, "b", "a", "correct logit", True, colorbar=last, zmax=2), row=1, col=column)
    figure.update_xaxes(title="b")
    figure.update_yaxes(title="a", col=1)
    return with_title(figure, title, 400, False)


def distance_profiles(profiles: Mapping[int, Sequence[float]], title: str) -> go.Figure:
    """Draw the mean correct logit of each single circle by the distance of the two numbers along the circle.

    The distances between the two numbers are sorted along the circle. The drawn line is `abs(cos)` of half the angle
    between the two numbers, scaled to the largest value.

    Args:
        profiles: map from the frequency of a circle to the mean correct logit of every distance. [logits]
        title: title of the figure, which says what to see.
    """
    figure = go.Figure()
    for place, (freq, values) in enumerate(profiles.items()):
        p = len(values)
        turns = (freq * torch.arange(p) % p).double() / p
        order, top = turns.argsort(), max(values)
        figure.add_scatter(
            x=array(turns[order]),
            y=array(torch.tensor(values, dtype=torch.float64)[order] / top),
            mode="markers",
            name=f"frequency {freq}",
            marker={"color": CATEGORIES[place % len(CATEGORIES)], "size": 6},
        )
    line = torch.linspace(0, 1, 201)
    figure.add_scatter(
        x=array(line), y=array((torch.pi * line).cos().abs()), mode="lines", name="|cos(w(a - b) / 2)|", line_color=INK
    )
    figure.update_xaxes(title="angle between the two points of the circle [turns]")
    figure.update_yaxes(title="mean correct logit over the largest mean")
    return with_title(figure, title)


def component_variances(circles: Mapping[str, Sequence[ComponentCircle]], least: float, title: str) -> go.Figure:
    """Draw variance and frequency of pairs of principal components of embeddings, with one group of bars per network.

    Args:
        circles: map from the name of a network to its pairs of components.
        least: smallest share of the variance for which a pair is shown.
        title: title of the figure, which says what to see.
    """
    figure = go.Figure()
    for place, (name, found) in enumerate(circles.items()):
        shown = [one for one in found if one.variance >= least]
        figure.add_bar(
            x=[one.pair for one in shown],
            y=array([one.variance for one in shown]),
            name=name,
            marker_color=CATEGORIES[place % len(CATEGORIES)],
            text=[str(one.freq) for one in shown],
            hovertemplate="pair %{x}, frequency %{text}<br>%{y:.3f} of the variance<extra>" + name + "</extra>",
        )
    figure.update_xaxes(title="pair of principal components", dtick=1)
    figure.update_yaxes(title="share of the embedding's variance")
    return with_title(figure.update_layout(barmode="group"), title)
