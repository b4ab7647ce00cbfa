"""Draw circles: the points of all residues in the plane of one frequency, and the angles between such planes.

Source: the blog post on the Clock algorithm, sections 5, 7 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import torch
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.circles.circle import PlaneAngles, wave_angles
from modinterp.figures.theme import CYCLIC, INK, MUTED, array, colour_of, heatmap, with_title


def ring(points: Float[Tensor, "a 2"], freq: int, name: str, size: int = 5) -> go.Scatter:
    """Return a trace with the points of all residues in a plane, coloured by the angle of each residue at one
    frequency.

    Args:
        freq: frequency of the angle. [cycles per p]
        name: text that the hover label shows.
        size: size of the markers. [pixels]
    """
    p = len(points)
    angle = wave_angles(p, freq)
    return go.Scatter(
        x=array(points[:, 0]),
        y=array(points[:, 1]),
        mode="markers",
        marker={"size": size, "color": array(angle), "colorscale": CYCLIC, "cmin": 0, "cmax": 6.2832},
        text=[str(x) for x in range(p)],
        hovertemplate="number %{text}: (%{x:.3g}, %{y:.3g})<extra>" + name + "</extra>",
        showlegend=False,
    )


def square_axes(figure: go.Figure) -> go.Figure:
    """Give both axes of every panel equal units, mark the origin, and hide all other grid lines."""
    for number, axis in enumerate(figure.select_xaxes()):
        axis.update(zeroline=True, zerolinecolor=MUTED, showgrid=False, constrain="domain")
        anchor = "x" if number == 0 else f"x{number + 1}"
        figure.layout["yaxis" if number == 0 else f"yaxis{number + 1}"].update(
            zeroline=True, zerolinecolor=MUTED, showgrid=False, scaleanchor=anchor, scaleratio=1, constrain="domain"
        )
    return figure


def planes(
    points: Mapping[str, tuple[int, Float[Tensor, "a 2"]]], title: str, unit: str, columns: int = 3
) -> go.Figure:
    """Draw the points of all residues in several planes, with one panel per plane.

    Args:
        points: map from the name of a panel to its frequency [cycles per p] and its points.
        title: title of the figure, which says what to see.
        unit: unit of the axes, such as "embedding".
        columns: number of panels in a row.
    """
    rows = -(-len(points) // columns)
    figure = make_subplots(
        rows, columns, subplot_titles=list(points), horizontal_spacing=0.07, vertical_spacing=0.26 / rows
    )
    for number, (name, (freq, where)) in enumerate(points.items()):
        figure.add_trace(ring(where, freq, name), row=number // columns + 1, col=number % columns + 1)
    figure.update_xaxes(title=f"{unit} along the cosine")
    figure.update_yaxes(title=f"{unit} along the sine", col=1)
    return with_title(square_axes(figure), title, 330 * rows + 60, False)


def dihedral_angles(angles: Mapping[tuple[int, int], PlaneAngles], freqs: Sequence[int]) -> go.Figure:
    """Draw a heat-map of the dihedral angles between planes of the embedding (rows) and of attention's output
    (columns).

    Args:
        angles: map from the frequencies of two planes to the angles between the planes. [degrees]
        freqs: frequencies of the rows and columns. [cycles per p]
    """
    z = torch.tensor([[angles[i, j].dihedral for j in freqs] for i in freqs])
    names = [str(k) for k in freqs]
    figure = go.Figure(
        heatmap(z, "circle in attention's output", "circle in the embedding", "angle [degrees]", labels=names, zmax=90)
    )
    figure.update_traces(texttemplate="%{z:.1f}°")
    figure.update_xaxes(title="frequency of the circle in attention's output [cycles per p]", type="category")
    figure.update_yaxes(title="frequency in the embedding [cycles per p]", type="category", autorange="reversed")
    return with_title(
        figure, "Circles in attention's output are almost perpendicular to the embedding's circles", 420, False
    )


def sorted_biases(
    b_in: Float[Tensor, " neuron"], radii: Mapping[int, Float[Tensor, " neuron"]], freqs: Sequence[int]
) -> go.Figure:
    """Draw the neurons' biases in ascending order, and the norms of W_in's columns in each circle's plane.

    Args:
        radii: map from frequency to the norm of every neuron's column of W_in, projected onto the circle's plane.
        freqs: key frequencies, which set the colours. [cycles per p]
    """
    figure = make_subplots(
        1,
        2,
        subplot_titles=("biases of the neurons", "columns of W_in in the plane of each circle"),
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
    figure.update_xaxes(title="neuron, sorted by the value")
    figure.update_yaxes(title="bias of the neuron", col=1)
    figure.update_yaxes(title="length of the neuron's column of W_in", col=2)
    return with_title(
        figure, "No bias is far below zero; the columns of W_in form no circle, since few are long and most are short"
    )
