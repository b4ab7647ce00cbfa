"""Circles and what becomes of them: points in planes, the order of the points shown by a colour that runs round.

Source: the blog post on the Clock algorithm, sections 5, 7 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import torch
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.circles import PlaneAngles, turns
from modinterp.figures.theme import CYCLIC, INK, MUTED, array, colour_of, framed, heatmap


def ring(points: Float[Tensor, "residue 2"], freq: int, name: str, size: int = 5) -> go.Scatter:
    """Points of the residues in a plane, coloured by how far the frequency has turned, thinly joined in that order."""
    p = len(points)
    angle = turns(p, freq)
    return go.Scatter(
        x=array(points[:, 0]),
        y=array(points[:, 1]),
        mode="markers",
        marker={"size": size, "color": array(angle), "colorscale": CYCLIC, "cmin": 0, "cmax": 6.2832},
        text=[str(x) for x in range(p)],
        hovertemplate="%{text}: (%{x:.3g}, %{y:.3g})<extra>" + name + "</extra>",
        showlegend=False,
    )


def square_axes(figure: go.Figure) -> go.Figure:
    """Equal units on both axes of every panel, the origin marked, no other grid."""
    for number, axis in enumerate(figure.select_xaxes()):
        axis.update(zeroline=True, zerolinecolor=MUTED, showgrid=False, constrain="domain")
        anchor = "x" if number == 0 else f"x{number + 1}"
        figure.layout["yaxis" if number == 0 else f"yaxis{number + 1}"].update(
            zeroline=True, zerolinecolor=MUTED, showgrid=False, scaleanchor=anchor, scaleratio=1, constrain="domain"
        )
    return figure


def planes(
    points: Mapping[str, tuple[int, Float[Tensor, "residue 2"]]], title: str, unit: str, columns: int = 3
) -> go.Figure:
    """One panel a plane.

    Args:
        points: name of the panel to its frequency and points. [cycles per p]
        unit: of the axes, such as "embedding".
    """
    rows = -(-len(points) // columns)
    figure = make_subplots(
        rows, columns, subplot_titles=list(points), horizontal_spacing=0.07, vertical_spacing=0.26 / rows
    )
    for number, (name, (freq, where)) in enumerate(points.items()):
        figure.add_trace(ring(where, freq, name), row=number // columns + 1, col=number % columns + 1)
    figure.update_xaxes(title=f"{unit} along the cosine")
    figure.update_yaxes(title="along the sine", col=1)
    return framed(square_axes(figure), title, 330 * rows + 60, False)


def dihedral_angles(angles: Mapping[tuple[int, int], PlaneAngles], freqs: Sequence[int]) -> go.Figure:
    """Angle between the planes of the embedding (rows) and of what attention writes (columns). [degrees]"""
    z = torch.tensor([[angles[i, j].dihedral for j in freqs] for i in freqs])
    names = [str(k) for k in freqs]
    figure = go.Figure(heatmap(z, "written", "embedded", "degrees", labels=names, zmax=90))
    figure.update_traces(texttemplate="%{z:.1f}°")
    figure.update_xaxes(title="frequency of the written circle [cycles per p]", type="category")
    figure.update_yaxes(title="frequency of the embedding's circle", type="category", autorange="reversed")
    return framed(figure, "What attention writes lies almost perpendicular to the embedding's circles", 420, False)


def sorted_biases(
    b_in: Float[Tensor, " neuron"], radii: Mapping[int, Float[Tensor, " neuron"]], freqs: Sequence[int]
) -> go.Figure:
    """Biases of the neurons in ascending order, and how far each column of W_in reaches into each circle's plane."""
    figure = make_subplots(
        1,
        2,
        subplot_titles=("biases of the neurons, sorted", "length of W_in's columns in the circles' planes, sorted"),
    )
    figure.add_scatter(y=array(b_in.sort().values), mode="lines", line_color=INK, row=1, col=1, showlegend=False)
    for k, lengths in radii.items():
        figure.add_scatter(
            y=array(lengths.sort().values),
            mode="lines",
            name=f"frequency {k}",
            line_color=colour_of(k, freqs),
            row=1,
            col=2,
        )
    figure.update_xaxes(title="rank of the neuron")
    figure.update_yaxes(title="bias", col=1)
    figure.update_yaxes(title="length", col=2)
    return framed(figure, "No bias is far below zero, and the columns of W_in form no circle: few are long, most short")
