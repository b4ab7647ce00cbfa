"""Who reads which circle: W_out's singular vectors, and the directions of the answers (the blog post, 9.5 to 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.alignment import SingularDirections
from modinterp.figures.circles import ring, square_axes
from modinterp.figures.theme import CATEGORIES, INK, MUTED, array, colour_of, framed


def singular(
    found: SingularDirections, gains: Mapping[int, Float[Tensor, " component"]], freqs: Sequence[int]
) -> go.Figure:
    """Singular values of W_out, coloured by whose circle the vector carries, and how far W_out stretches what.

    Args:
        gains: frequency to the factors of the first four principal directions of the neurons' planes.
    """
    figure = make_subplots(
        1,
        2,
        subplot_titles=(
            "singular values of W_out",
            "length after W_out of principal directions of the neurons' planes",
        ),
    )
    shown = min(len(found.values), 20)
    owners = [direction.freq for direction in found.directions]
    colours = [colour_of(owners[i], freqs) if i < len(owners) else MUTED for i in range(shown)]
    hover = [f"frequency {owners[i]}, {found.directions[i].share:.0%}" if i < len(owners) else "" for i in range(shown)]
    figure.add_bar(
        x=list(range(shown)),
        y=array(found.values[:shown]),
        marker_color=colours,
        text=hover,
        hovertemplate="%{x}: %{y:.3g}<br>%{text}<extra></extra>",
        textposition="none",
        showlegend=False,
        row=1,
        col=1,
    )
    for k, factors in gains.items():
        figure.add_bar(
            x=[f"direction {i + 1}" for i in range(len(factors))],
            y=array(factors),
            name=f"frequency {k}",
            marker_color=colour_of(k, freqs),
            row=1,
            col=2,
        )
    figure.update_xaxes(title="number of the singular value", col=1)
    figure.update_yaxes(title="singular value", col=1)
    figure.update_yaxes(title="factor", col=2)
    return framed(figure, "W_out keeps two directions a circle, those that turn, and drops those that revolve")


def answers(
    points: Mapping[int, Float[Tensor, "b 2"]],
    directions: Mapping[int, Float[Tensor, "output 2"]],
    asked: Mapping[int, int],
    a: int,
) -> go.Figure:
    """The MLP's output with a fixed in each circle's plane, and the directions of some answers.

    Args:
        directions: what W_U reads in the plane, by frequency.
        asked: b to the answer of a + b.
    """
    figure = make_subplots(
        1, len(points), subplot_titles=[f"circle of frequency {k}" for k in points], horizontal_spacing=0.06
    )
    for column, (freq, where) in enumerate(points.items(), start=1):
        figure.add_trace(ring(where, freq, f"frequency {freq}", 4), row=1, col=column)
        reach = float(where.norm(dim=1).max())
        for colour, (b, answer) in zip(CATEGORIES[1:], asked.items(), strict=False):
            arrow = directions[freq][answer] / directions[freq][answer].norm() * reach
            figure.add_scatter(
                x=[0, float(arrow[0])],
                y=[0, float(arrow[1])],
                mode="lines",
                line={"color": colour, "width": 2},
                name=f"direction of the answer {answer}",
                legendgroup=f"{answer}",
                showlegend=column == 1,
                row=1,
                col=column,
            )
            figure.add_scatter(
                x=[float(where[b, 0])],
                y=[float(where[b, 1])],
                mode="markers",
                marker={"size": 12, "color": colour, "line": {"color": INK, "width": 1}},
                name=f"{a} + {b}",
                legendgroup=f"{answer}",
                showlegend=column == 1,
                row=1,
                col=column,
            )
    figure.update_xaxes(title="principal direction 1")
    figure.update_yaxes(title="principal direction 2", col=1)
    return framed(square_axes(figure), "In every circle the right answer's direction passes near its point", 480)
