"""Draw numbers on a spiral, where numbers with the same remainder lie on lines (Syrkis & Søgaard 2024, figure 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from jaxtyping import Int
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.embeddings.primality import spiral_points
from modinterp.figures.animation import with_slider
from modinterp.figures.theme import CATEGORIES, array, with_title

FULL_TURN = 2 * math.pi


def _points(numbers: Int[Tensor, " input"], turn: float) -> dict:
    x, y = spiral_points(numbers, turn).unbind(dim=1)
    return {"x": array(x.float()), "y": array(y.float()), "text": array(numbers)}


def polar(sets: Mapping[str, Int[Tensor, " input"]], turns: Sequence[float]) -> go.Figure:
    """Draw numbers n on a spiral at radius n, with one panel per set and a slider over the numbers per full turn.

    Args:
        sets: map from the name of a panel to its numbers.
        turns: numbers per full turn; the first value should be 2 pi, for which the angle equals the number.
    """
    steps = {f"{turn / FULL_TURN:.3g} ({turn:.3g})": turn for turn in turns}
    titles = [f"{name}: {len(numbers):,}" for name, numbers in sets.items()]
    figure = make_subplots(1, len(sets), subplot_titles=titles, horizontal_spacing=0.05)
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
    title = "Multiples form regular spiral arms, and primes do not; move the slider until an arm is a straight line"
    figure = with_title(figure, title, 480, False)
    return with_slider(
        figure,
        list(steps),
        lambda step: [go.Scatter(**_points(numbers, steps[step])) for numbers in sets.values()],
        range(len(sets)),
        "numbers per full turn, in units of 2 pi (and as a count)",
    )


def primality_calls(groups: Mapping[str, Int[Tensor, " input"]], title: str) -> go.Figure:
    """Draw numbers on a spiral, coloured by whether they are prime and whether a primality test calls them prime.

    Args:
        groups: map from the name of a group to its numbers, such as primes found, primes missed, and others called
            prime.
        title: title of the figure, which says what to see.
    """
    figure = go.Figure()
    for index, (name, numbers) in enumerate(groups.items()):
        if len(numbers):
            figure.add_scatter(
                **_points(numbers, FULL_TURN),
                mode="markers",
                name=f"{name}: {len(numbers):,}",
                marker={"size": 3 + 2 * (index > 0), "color": CATEGORIES[index]},
                hovertemplate="%{text}<extra>%{fullData.name}</extra>",
            )
    figure.update_xaxes(title="n cos n", constrain="domain")
    figure.update_yaxes(title="n sin n", scaleanchor="x", constrain="domain")
    return with_title(figure, title, 560)
