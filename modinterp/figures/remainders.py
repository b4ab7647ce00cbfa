"""Draw the task of remainders by many primes: inputs, labels, and accuracy and loss of every task over training.

Source: Syrkis & Søgaard 2024, figures 2, 3, 5 and 6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import torch
from jaxtyping import Float, Int
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.figures.theme import CATEGORIES, SEQUENTIAL, array, with_title

COLUMNS = 240  # of a map over the logarithm of the epoch


def inputs(numbers: Int[Tensor, "a b"]) -> go.Figure:
    """Draw a heat-map of the two-digit number that each pair of digits represents.

    Args:
        numbers: the result of `PrimeRemainders.numbers()`, folded to the grid of digits.
    """
    trace = go.Heatmap(
        z=array(numbers.float()),
        text=numbers.tolist(),
        texttemplate="%{text}",
        colorscale=SEQUENTIAL,
        opacity=0.75,
        showscale=False,
        hovertemplate="x0 = %{y}<br>x1 = %{x}<br>n = %{z}<extra></extra>",
    )
    figure = go.Figure(trace)
    figure.update_xaxes(title="digit x1", dtick=1, constrain="domain")
    figure.update_yaxes(title="digit x0", dtick=1, autorange="reversed", scaleanchor="x", constrain="domain")
    p = len(numbers)
    return with_title(figure, f"All {p * p} numbers of two digits in base {p}: n = x0 + {p} x1", 520, False)


def labels(panels: Mapping[str, Int[Tensor, "a b"]]) -> go.Figure:
    """Draw a square at every pair of digits, whose size shows the answer, with one panel per task.

    Args:
        panels: map from the name of a task to its answers for every pair of digits.
    """
    figure = make_subplots(1, len(panels), subplot_titles=list(panels), horizontal_spacing=0.03, shared_yaxes=True)
    for column, (name, values) in enumerate(panels.items(), start=1):
        p = len(values)
        rows, columns = torch.meshgrid(torch.arange(p), torch.arange(p), indexing="ij")
        figure.add_scatter(
            x=array(columns.flatten()),
            y=array(rows.flatten()),
            text=array(values.flatten()),
            mode="markers",
            name=name,
            marker={
                "symbol": "square",
                "color": CATEGORIES[(column - 1) % len(CATEGORIES)],
                "size": array(1 + 130 / p * values.flatten() / values.max()),
            },
            hovertemplate="x0 = %{y}<br>x1 = %{x}<br>answer = %{text}<extra>%{fullData.name}</extra>",
            row=1,
            col=column,
        )
        figure.update_yaxes(scaleanchor=f"x{column}" if column > 1 else "x", row=1, col=column)
    figure.update_xaxes(title="digit x1", constrain="domain", zeroline=False)
    figure.update_yaxes(autorange="reversed", constrain="domain", zeroline=False)
    figure.update_yaxes(title="digit x0", col=1)
    return with_title(
        figure,
        "Right answers (as sizes of squares): remainders repeat along the numbers, and sums repeat along the diagonals",
        360,
        False,
    )


def _on_log_axis(epochs: Sequence[float], values: Float[Tensor, "epoch output"]) -> tuple[list[float], Tensor]:
    """Select epochs and rows that are evenly spaced on a logarithmic axis, without epoch 0 and without repetitions."""
    later = [i for i, epoch in enumerate(epochs) if epoch > 0] or [0]
    known = torch.tensor([max(epochs[i], 1) for i in later], dtype=torch.float64)
    targets = torch.linspace(math.log(float(known[0])), math.log(float(known[-1])), COLUMNS, dtype=torch.float64)
    nearest = (targets[:, None] - known.log()).abs().argmin(dim=1).unique()
    return known[nearest].tolist(), values[torch.tensor(later)[nearest]]


def over_training(
    epochs: Sequence[float],
    parts: Mapping[str, Float[Tensor, "epoch output"]],
    names: Sequence[str],
    value: str,
    title: str,
    log: bool = False,
) -> go.Figure:
    """Draw heat-maps of a measure of every task over training, on a logarithmic axis, with one panel per part of the
    data.

    Args:
        epochs: epoch of each row of values.
        parts: map from the name of a part of the data, such as `train`, to the values of every task.
        names: names of the tasks, from the top of the figure.
        value: name of the measure, with its unit.
        title: title of the figure, which says what to see.
        log: True to colour by the logarithm of the measure.
    """
    figure = make_subplots(1, len(parts), subplot_titles=list(parts), horizontal_spacing=0.04, shared_yaxes=True)
    for column, (part, values) in enumerate(parts.items(), start=1):
        x, rows = _on_log_axis(epochs, values)
        z = rows.clamp(min=1e-8).log10() if log else rows
        span = {"zmin": -4, "zmax": 1} if log else {"zmin": 0, "zmax": 1}
        figure.add_heatmap(
            x=x,
            y=list(names),
            z=array(z.T),
            customdata=array(rows.T),
            colorscale=SEQUENTIAL,
            **span,
            showscale=column == len(parts),
            reversescale=log,
            colorbar={"title": f"log10 of<br>{value}" if log else value, "thickness": 12, "len": 0.9},
            hovertemplate=f"%{{y}}<br>epoch %{{x:.0f}}<br>{value} = %{{customdata:.4g}}<extra>{part}</extra>",
            row=1,
            col=column,
        )
    figure.update_xaxes(title="epoch", type="log", exponentformat="power", dtick=1)
    figure.update_yaxes(autorange="reversed", type="category", dtick=1)
    figure.update_yaxes(title="task: remainder by this prime", col=1)
    return with_title(figure, title, 170 + 17 * max(len(names), 12), False)


def active_frequencies(
    epochs: Sequence[float], norms: Float[Tensor, "epoch freq"], counts: Mapping[str, Sequence[int]]
) -> go.Figure:
    """Draw a heat-map of the norm of every frequency over training, and below it the number of active frequencies.

    Args:
        epochs: epoch of each row of the norms.
        norms: norm of every frequency; column k - 1 belongs to frequency k.
        counts: map from the name of a threshold to the number of frequencies above the threshold at each epoch.
    """
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.65, 0.35])
    shares = norms / norms.amax(dim=1, keepdim=True).clamp(min=1e-12)
    figure.add_heatmap(
        x=list(epochs),
        y=list(range(1, norms.shape[1] + 1)),
        z=array(shares.T),
        colorscale=SEQUENTIAL,
        zmin=0,
        zmax=1,
        colorbar={"title": "norm over<br>largest norm", "thickness": 12, "len": 0.6, "y": 0.7},
        hovertemplate="frequency %{y}<br>epoch %{x:,}<br>%{z:.2f} of the largest norm<extra></extra>",
        row=1,
        col=1,
    )
    for index, (name, active) in enumerate(counts.items()):
        figure.add_scatter(
            x=list(epochs),
            y=list(active),
            mode="lines",
            name=name,
            line_color=CATEGORIES[index],
            hovertemplate="epoch %{x:,}<br>%{y} active frequencies<extra>%{fullData.name}</extra>",
            row=2,
            col=1,
        )
    figure.update_yaxes(title="frequency [cycles per p]", row=1, col=1)
    figure.update_yaxes(title="active frequencies", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(title="epoch", row=2, col=1)
    figure.update_layout(legend={"orientation": "h", "y": 0.36, "yanchor": "bottom", "x": 0})
    first, most, last = (f(next(iter(counts.values()))) for f in (lambda c: c[0], max, lambda c: c[-1]))
    title = f"Active frequencies of the logged neurons: {first} at first, {most} at most, {last} at the end"
    return with_title(figure, title, 560)


def trends(times: Mapping[str, Mapping[int, float]], lengths: Mapping[str, float]) -> go.Figure:
    """Draw the epoch at which each task generalised against its prime, with one line per network; crosses mean never.

    Args:
        times: nested map from the name of a network and a prime to the epoch; NaN or infinite for never.
        lengths: map from the name of a network to the length of its training. [epochs]
    """
    figure = go.Figure()
    for index, (name, by_prime) in enumerate(times.items()):
        finite = {q: t for q, t in by_prime.items() if t < math.inf}
        never = [q for q in by_prime if q not in finite]
        colour = CATEGORIES[index % len(CATEGORIES)]
        if finite:
            figure.add_scatter(
                x=list(finite),
                y=[max(t, 1) for t in finite.values()],
                mode="lines+markers",
                name=name,
                line_color=colour,
                legendgroup=name,
                hovertemplate="remainder by %{x}<br>epoch %{y:.0f}<extra>%{fullData.name}</extra>",
            )
        if never:
            figure.add_scatter(
                x=never,
                y=[1.15 * lengths[name]] * len(never),
                mode="markers",
                name=f"{name}: never generalised",
                marker={"symbol": "x", "color": colour, "size": 7},
                legendgroup=name,
                hovertemplate="remainder by %{x}: never generalised<extra>%{fullData.name}</extra>",
            )
    figure.update_xaxes(title="prime", type="log", tickvals=[2, 3, 5, 7, 11, 19, 31, 47, 71, 109])
    figure.update_yaxes(title="epoch of 99% accuracy on held-out inputs", type="log", exponentformat="power", dtick=1)
    return with_title(figure, "When each task generalises, in networks for smaller p and in the source's network")


def sizes(networks: Sequence[str], rows: Sequence[Mapping[str, float]]) -> go.Figure:
    """Draw quantities of networks with different p and different training shares, with one panel per quantity.

    Args:
        networks: name of each network, such as its p and its share of training inputs.
        rows: for each network, a map from the name of a quantity to its value.
    """
    names, columns = list(rows[0]), 3
    height = math.ceil(len(names) / columns)
    figure = make_subplots(height, columns, subplot_titles=names, vertical_spacing=0.25)
    for index, name in enumerate(names):
        place = {"row": index // columns + 1, "col": index % columns + 1}
        figure.add_scatter(
            x=list(networks),
            y=[row[name] for row in rows],
            mode="markers",
            marker={"color": CATEGORIES[0], "size": 9},
            hovertemplate=f"%{{x}}<br>%{{y:.3f}}<extra>{name}</extra>",
            **place,
        )
        figure.update_xaxes(title="p, share of inputs trained on", type="category", **place)
        figure.update_yaxes(title="value", range=None if "Pearson" in name else [0, 1.05], **place)
    return with_title(figure, "Measurements of networks for several p and shares of inputs trained on", 560, False)
