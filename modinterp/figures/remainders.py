"""Remainders of two-digit numbers by many primes: inputs, labels, and accuracy and loss of every task over training.

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
    """Heat-map of the two-digit number that each pair of digits stands for.

    Args:
        numbers: `PrimeRemainders.numbers()`, folded to the grid of digits.
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
    figure.update_xaxes(title="x1", dtick=1, constrain="domain")
    figure.update_yaxes(title="x0", dtick=1, autorange="reversed", scaleanchor="x", constrain="domain")
    p = len(numbers)
    return with_title(figure, f"All {p * p} numbers of two digits in base {p}: n = x0 + {p} x1", 520, False)


def labels(panels: Mapping[str, Int[Tensor, "a b"]]) -> go.Figure:
    """Squares at every pair of digits, the larger the larger the answer, one panel for each task.

    Args:
        panels: name of the task to its answers.
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
    figure.update_xaxes(title="x1", constrain="domain", zeroline=False)
    figure.update_yaxes(autorange="reversed", constrain="domain", zeroline=False)
    figure.update_yaxes(title="x0", col=1)
    return with_title(
        figure, "The right answers: remainders repeat along the numbers, a sum along the diagonals", 360, False
    )


def _on_log_axis(epochs: Sequence[float], values: Float[Tensor, "epoch output"]) -> tuple[list[float], Tensor]:
    """Epochs and rows nearest to epochs that are evenly spaced by their logarithm, epoch 0 and repetitions left out."""
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
    """Heat-maps of a measure of every task over training (logarithmic), one panel for each part of the data.

    Args:
        epochs: epoch of each row of the values.
        parts: name of the part of the data, such as `train`, to the values of every task.
        names: names of the tasks, from the top.
        value: name of the measure, with its unit.
        title: what to see.
        log: whether the logarithm of the measure is coloured.
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
    figure.update_yaxes(title="task: remainder by", col=1)
    return with_title(figure, title, 170 + 17 * max(len(names), 12), False)


def active_frequencies(
    epochs: Sequence[float], norms: Float[Tensor, "epoch freq"], counts: Mapping[str, Sequence[int]]
) -> go.Figure:
    """Heat-map of the norm of every frequency over training, above the number of active frequencies.

    Args:
        epochs: epoch of each row of the norms.
        norms: norm of every frequency; column k - 1 belongs to frequency k.
        counts: name of the threshold to the number of frequencies above it at each epoch.
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
        colorbar={"title": "norm over<br>the largest", "thickness": 12, "len": 0.6, "y": 0.7},
        hovertemplate="frequency %{y}<br>epoch %{x:,}<br>%{z:.2f} of the largest<extra></extra>",
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
            hovertemplate="epoch %{x:,}<br>%{y} active<extra>%{fullData.name}</extra>",
            row=2,
            col=1,
        )
    figure.update_yaxes(title="frequency", row=1, col=1)
    figure.update_yaxes(title="active", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(title="epoch", row=2, col=1)
    figure.update_layout(legend={"orientation": "h", "y": 0.36, "yanchor": "bottom", "x": 0})
    first, most, last = (f(next(iter(counts.values()))) for f in (lambda c: c[0], max, lambda c: c[-1]))
    title = f"Active frequencies of the logged neurons: {first} at first, {most} at most, {last} at the end"
    return with_title(figure, title, 560)


def trends(times: Mapping[str, Mapping[int, float]], lengths: Mapping[str, float]) -> go.Figure:
    """Epoch at which each task generalised against its prime, a line for each network; crosses stand for never.

    Args:
        times: name of the network to prime to epoch, NaN or infinite for never.
        lengths: name of the network to how long it was trained. [epochs]
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
                name=f"{name}: not by the end",
                marker={"symbol": "x", "color": colour, "size": 7},
                legendgroup=name,
                hovertemplate="remainder by %{x}: never<extra>%{fullData.name}</extra>",
            )
    figure.update_xaxes(title="prime", type="log", tickvals=[2, 3, 5, 7, 11, 19, 31, 47, 71, 109])
    figure.update_yaxes(title="epoch of 99% on inputs held out", type="log", exponentformat="power", dtick=1)
    return with_title(
        figure, "Trends over p: when each task generalises, networks for smaller p beside that of the source"
    )


def sizes(networks: Sequence[str], rows: Sequence[Mapping[str, float]]) -> go.Figure:
    """Quantities of networks for several p and shares of the inputs, one panel for each quantity.

    Args:
        networks: name of each network, such as its p and the share of the inputs that it was trained on.
        rows: name of a quantity to its value, for each network.
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
        figure.update_xaxes(title="p, share trained on", type="category", **place)
        figure.update_yaxes(title="value", range=None if "Pearson" in name else [0, 1.05], **place)
    return with_title(figure, "The same numbers of networks for several p and shares of the inputs", 560, False)
