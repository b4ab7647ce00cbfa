"""Draw circles along the singular vectors of W_out, and directions of answers (blog post on the Clock, 9.5 to 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.circles.alignment import SingularDirections
from modinterp.figures.circles import ring, square_axes
from modinterp.figures.theme import CATEGORIES, INK, MUTED, array, colour_of, with_title


def singular_values(
    svd: SingularDirections, gains: Mapping[int, Float[Tensor, " component"]], freqs: Sequence[int]
) -> go.Figure:
    """Draw the singular values of W_out, coloured by frequency, and the factors by which W_out stretches each circle.

    Args:
        svd: singular values and vectors of W_out, from `modinterp.analyses.circles.alignment.singular_directions`.
        gains: map from frequency to the factors by which W_out stretches the first four principal directions of its
            planes.
        freqs: key frequencies, which set the colours. [cycles per p]
    """
    figure = make_subplots(
        1,
        2,
        subplot_titles=(
            "singular values of W_out",
            "how much W_out stretches each principal direction",
        ),
    )
    count = min(len(svd.values), 20)
    owners = [direction.freq for direction in svd.directions]
    colours = [colour_of(owners[i], freqs) if i < len(owners) else MUTED for i in range(count)]
    hover = [
        f"frequency {owners[i]}: {svd.directions[i].share:.0%} of the waves of a + b" if i < len(owners) else ""
        for i in range(count)
    ]
    figure.add_bar(
        x=list(range(count)),
        y=array(svd.values[:count]),
        marker_color=colours,
        text=hover,
        hovertemplate="singular value %{x}: %{y:.3g}<br>%{text}<extra></extra>",
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
    figure.update_xaxes(title="rank of the singular value, from 0", col=1)
    figure.update_yaxes(title="singular value", col=1)
    figure.update_yaxes(title="length after W_out over length before", col=2)
    return with_title(
        figure, "W_out keeps the two directions in which a circle rotates, and shrinks the two in which it revolves"
    )


def answers(
    points: Mapping[int, Float[Tensor, "b 2"]],
    directions: Mapping[int, Float[Tensor, "output 2"]],
    examples: Mapping[int, int],
    a: int,
) -> go.Figure:
    """Draw the MLP's output in each circle's plane for a fixed a, and the directions of some answers.

    Args:
        points: map from frequency [cycles per p] to the coordinates of the MLP's output for every b.
        directions: map from frequency to the coordinates of every column of W_U in the circle's plane.
        examples: map from operand b to the answer a + b, for the pairs that the figure marks.
        a: the operand that stays fixed.
    """
    figure = make_subplots(
        1, len(points), subplot_titles=[f"circle of frequency {k}" for k in points], horizontal_spacing=0.06
    )
    for column, (freq, where) in enumerate(points.items(), start=1):
        figure.add_trace(ring(where, freq, f"frequency {freq}", 4), row=1, col=column)
        reach = float(where.norm(dim=1).max())
        for colour, (b, answer) in zip(CATEGORIES[1:], examples.items(), strict=False):
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
    figure.update_xaxes(title="MLP output along principal direction 1")
    figure.update_yaxes(title="MLP output along principal direction 2", col=1)
    return with_title(
        square_axes(figure), "In every circle the direction of the right answer passes near the point of its pair", 480
    )
