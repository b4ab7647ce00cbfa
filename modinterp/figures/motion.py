"""Animate circles over b that move and rotate as a changes (blog post on the Clock algorithm, section 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.circles.circle import wave_angles
from modinterp.figures.animation import with_slider
from modinterp.figures.circles import ring, square_axes
from modinterp.figures.theme import CYCLIC, INK, MUTED, array, with_title

STEP = 2  # every second a, which halves the page


def circles_in_motion(
    panels: Mapping[str, tuple[int, Float[Tensor, "a b 2"]]], title: str, axes: Sequence[tuple[int, int]], columns: int
) -> go.Figure:
    """Draw circles over b, with one panel per plane and a slider over a; faint points show all pairs.

    A cross marks the centre of the circle, and colours show the number b.

    Args:
        panels: map from the name of a panel to its frequency [cycles per p] and its points.
        title: title of the figure, which says what to see.
        axes: indices of the two principal directions that form each panel's axes.
        columns: number of panels in a row.
    """
    rows = -(-len(panels) // columns)
    figure = make_subplots(
        rows, columns, subplot_titles=list(panels), horizontal_spacing=0.07, vertical_spacing=0.3 / rows
    )
    for number, (_, points) in enumerate(panels.values()):
        faint = points[::4, ::4].flatten(0, 1)
        row, col = number // columns + 1, number % columns + 1
        figure.add_scatter(
            x=array(faint[:, 0]),
            y=array(faint[:, 1]),
            mode="markers",
            marker={"size": 2, "color": MUTED, "opacity": 0.3},
            hoverinfo="skip",
            showlegend=False,
            row=row,
            col=col,
        )
        reach = 1.05 * float(points.abs().max())
        across, up = axes[number]
        figure.update_xaxes(title=f"principal direction {across}", range=[-reach, reach], row=row, col=col)
        figure.update_yaxes(title=f"principal direction {up}", range=[-reach, reach], row=row, col=col)

    def circles_at(a: int) -> list:
        traces = []
        for name, (freq, points) in panels.items():
            centre = points[a].mean(dim=0)
            traces.append(ring(points[a], freq, f"{name}, a = {a}"))
            traces.append(
                go.Scatter(
                    x=array(centre[:1]),
                    y=array(centre[1:]),
                    mode="markers",
                    marker={"symbol": "x", "size": 8, "color": INK},
                    hoverinfo="skip",
                    showlegend=False,
                )
            )
        return traces

    for number, trace in enumerate(circles_at(0)):
        panel = number // 2
        figure.add_trace(trace, row=panel // columns + 1, col=panel % columns + 1)
    square_axes(figure)
    with_title(figure, title, 360 * rows + 80, False)
    steps = range(0, len(next(iter(panels.values()))[1]), STEP)
    return with_slider(figure, list(steps), circles_at, range(len(panels), 3 * len(panels)), "a")


def in_three_dimensions(points: Float[Tensor, "a b 3"], freq: int, title: str) -> go.Figure:
    """Draw a circle over b in the first three principal directions, with a slider over a.

    Args:
        points: coordinates of every pair (a, b).
        freq: frequency of the angle that colours the points. [cycles per p]
        title: title of the figure, which says what to see.
    """
    angle = wave_angles(points.shape[1], freq)
    low, high = points.flatten(0, 1).aminmax(dim=0)

    def circle_at(a: int) -> list:
        x, y, z = points[a].T
        return [
            go.Scatter3d(
                x=array(x),
                y=array(y),
                z=array(z),
                mode="markers",
                marker={"size": 4, "color": array(angle), "colorscale": CYCLIC, "cmin": 0, "cmax": 6.2832},
                hovertemplate="b = %{text}<extra></extra>",
                text=[str(b) for b in range(len(angle))],
                showlegend=False,
            )
        ]

    figure = go.Figure(circle_at(0))
    faint = points[::4, ::4].flatten(0, 1)
    figure.add_scatter3d(
        x=array(faint[:, 0]),
        y=array(faint[:, 1]),
        z=array(faint[:, 2]),
        mode="markers",
        marker={"size": 1.5, "color": MUTED, "opacity": 0.3},
        hoverinfo="skip",
        showlegend=False,
    )
    names = ("principal direction 1", "principal direction 2", "principal direction 3")
    scene = {
        f"{axis}axis": {"title": name, "range": [float(low[i]), float(high[i])]}
        for i, (axis, name) in enumerate(zip("xyz", names, strict=True))
    }
    camera = {"eye": {"x": 1.7, "y": 1.3, "z": 1.0}, "center": {"x": 0, "y": 0, "z": -0.15}}
    figure.update_layout(scene=scene | {"aspectmode": "cube", "camera": camera})
    with_title(figure, title, 620, False)
    return with_slider(figure, list(range(0, len(points), STEP)), circle_at, [0], "a")
