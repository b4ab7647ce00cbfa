"""Numbers on a spiral, where those that leave one remainder fall into lines (figure 1 of Syrkis & Søgaard 2024)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from jaxtyping import Int
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.primality import on_spiral
from modinterp.figures.animation import animated
from modinterp.figures.theme import CATEGORIES, array, framed

FULL_TURN = 2 * math.pi


def _points(numbers: Int[Tensor, " number"], turn: float) -> dict:
    x, y = on_spiral(numbers, turn).unbind(dim=1)
    return {"x": array(x.float()), "y": array(y.float()), "text": array(numbers)}


def polar(sets: Mapping[str, Int[Tensor, " number"]], turns: Sequence[float]) -> go.Figure:
    """One panel a set, each number at radius n, with a slider over how many numbers make a full turn.

    Args:
        sets: name to numbers.
        turns: what the slider offers; 2 pi, where the angle is the number itself, should be the first.
    """
    of = {f"{turn / FULL_TURN:.3g} ({turn:.3g})": turn for turn in turns}
    figure = make_subplots(1, len(sets), subplot_titles=[f"{name}: {len(of):,}" for name, of in sets.items()],
                           horizontal_spacing=0.05)  # fmt: skip
    for column, (name, numbers) in enumerate(sets.items(), start=1):
        figure.add_scatter(
            **_points(numbers, turns[0]),
            mode="markers",
            marker={"size": 2.5, "color": CATEGORIES[column - 1]},
            name=name,
            hovertemplate="%{text}<extra>%{fullData.name}</extra>",
            row=1,
            col=column,
        )
        figure.update_yaxes(scaleanchor=f"x{column}" if column > 1 else "x", row=1, col=column)
    figure.update_xaxes(title="n cos(angle)", constrain="domain")
    figure.update_yaxes(constrain="domain")
    figure.update_yaxes(title="n sin(angle)", col=1)
    largest = max(int(numbers.max()) for numbers in sets.values())
    figure.update_xaxes(range=[-1.05 * largest, 1.05 * largest])
    figure.update_yaxes(range=[-1.05 * largest, 1.05 * largest])
    title = "Multiples spiral in regular arms, primes do not; move the slider until an arm is a straight line"
    figure = framed(figure, title, 480, False)
    return animated(
        figure,
        list(of),
        lambda step: [go.Scatter(**_points(numbers, of[step])) for numbers in sets.values()],
        range(len(sets)),
        "a full turn in units of 2 pi (in numbers)",
    )


def called(found: Mapping[str, Int[Tensor, " number"]], title: str) -> go.Figure:
    """Which numbers a primality test called prime, and rightly or not, on one spiral.

    Args:
        found: name to numbers, such as primes found, primes missed, others called prime.
        title: what to see.
    """
    figure = go.Figure()
    for index, (name, numbers) in enumerate(found.items()):
        if len(numbers):
            figure.add_scatter(
                **_points(numbers, FULL_TURN), mode="markers", name=f"{name}: {len(numbers):,}",
                marker={"size": 3 + 2 * (index > 0), "color": CATEGORIES[index]},
                hovertemplate="%{text}<extra>%{fullData.name}</extra>",
            )  # fmt: skip
    figure.update_xaxes(title="n cos n", constrain="domain")
    figure.update_yaxes(title="n sin n", scaleanchor="x", constrain="domain")
    return framed(figure, title, 560)
