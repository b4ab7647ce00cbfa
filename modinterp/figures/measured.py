"""Draw measured numbers against another quantity, as lines or markers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from torch import Tensor

from modinterp.figures.theme import array, with_title

Numbers = Tensor | Sequence[float]


def curves(
    by_name: Mapping[str, tuple[Numbers, Numbers]], axes: tuple[str, str], title: str, markers: bool = False
) -> go.Figure:
    """Draw one quantity against another, with one line per name, or as a cloud of markers.

    Args:
        by_name: map from a name to the values along x and along y, two sequences of the same length.
        axes: titles of the x-axis and the y-axis, with units.
        title: title of the figure, which says what to see.
        markers: True to draw points without lines between them.
    Raises:
        ValueError: `by_name` holds no points.
    """
    if not by_name:
        raise ValueError("expected at least one line to draw, got none")
    figure, mode = go.Figure(), "markers" if markers else "lines+markers"
    for name, (x, y) in by_name.items():
        figure.add_scatter(
            x=array(x),
            y=array(y),
            name=name,
            mode=mode,
            marker={"size": 4 if markers else 6, "opacity": 0.5 if markers else 1},
            hovertemplate=f"{axes[0]} %{{x:.4g}}<br>{axes[1]} %{{y:.4g}}<extra>{name}</extra>",
        )
    figure.update_xaxes(title=axes[0])
    figure.update_yaxes(title=axes[1])
    return with_title(figure, title, 440, legend=len(by_name) > 1)
