"""Measured numbers by the quantity that they depend on, with a line or markers for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from torch import Tensor

from modinterp.figures.theme import array, with_title

Numbers = Tensor | Sequence[float]


def curves(
    by_name: Mapping[str, tuple[Numbers, Numbers]], axes: tuple[str, str], title: str, markers: bool = False
) -> go.Figure:
    """One quantity against another, a line for each name; markers alone where there is a cloud of points.

    Args:
        by_name: name to the values along x and along y, as many of each.
        axes: what stands along x and along y, with units.
        title: what to see.
        markers: whether points are drawn without a line between them.
    Raises:
        ValueError: nothing to draw.
    """
    if not by_name:
        raise ValueError("there must be a line to draw, got none")
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
