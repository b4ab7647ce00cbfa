"""Remainders by many primes: what is asked, and how accuracy and loss of every task go over training.

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

from modinterp.figures.theme import CATEGORIES, SEQUENTIAL, array, framed

COLUMNS = 240  # of a map over the logarithm of the epoch


def inputs(numbers: Int[Tensor, "a b"]) -> go.Figure:
    """The number that every pair of digits writes."""
    trace = go.Heatmap(
        z=array(numbers.float()), text=numbers.tolist(), texttemplate="%{text}", colorscale=SEQUENTIAL, opacity=0.75,
        showscale=False, hovertemplate="x0 = %{y}<br>x1 = %{x}<br>n = %{z}<extra></extra>",
    )  # fmt: skip
    figure = go.Figure(trace)
    figure.update_xaxes(title="x1", dtick=1, constrain="domain")
    figure.update_yaxes(title="x0", dtick=1, autorange="reversed", scaleanchor="x", constrain="domain")
    p = len(numbers)
    return framed(figure, f"All {p * p} numbers of two digits in base {p}: n = x0 + {p} x1", 520, False)


def labels(panels: Mapping[str, Int[Tensor, "a b"]]) -> go.Figure:
    """One panel a task, a square at every pair of digits, the larger the larger the answer."""
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
    return framed(figure, "What is asked: remainders repeat along the numbers, a sum along the diagonals", 360, False)


def _on_log_axis(epochs: Sequence[float], values: Float[Tensor, "epoch output"]) -> tuple[list[float], Tensor]:
    """The rows nearest to epochs evenly spaced by their logarithm, without epoch 0; fewer where rows are few."""
    later = [i for i, epoch in enumerate(epochs) if epoch > 0] or [0]
    known = torch.tensor([max(epochs[i], 1) for i in later], dtype=torch.float64)
    wanted = torch.linspace(math.log(float(known[0])), math.log(float(known[-1])), COLUMNS, dtype=torch.float64)
    nearest = (wanted[:, None] - known.log()).abs().argmin(dim=1).unique()
    return known[nearest].tolist(), values[torch.tensor(later)[nearest]]


def over_training(
    epochs: Sequence[float],
    parts: Mapping[str, Float[Tensor, "epoch output"]],
    names: Sequence[str],
    value: str,
    title: str,
    log: bool = False,
) -> go.Figure:
    """A map of tasks by the logarithm of the epoch, one panel for each part of the data.

    Args:
        epochs: of the rows.
        parts: name such as `train` to the measure of every task.
        names: of the tasks, first to last from the top.
        value: name of the measure, with its unit.
        log: whether its logarithm is coloured.
    """
    figure = make_subplots(1, len(parts), subplot_titles=list(parts), horizontal_spacing=0.04, shared_yaxes=True)
    for column, (part, values) in enumerate(parts.items(), start=1):
        x, rows = _on_log_axis(epochs, values)
        shown = rows.clamp(min=1e-8).log10() if log else rows
        span = {"zmin": -4, "zmax": 1} if log else {"zmin": 0, "zmax": 1}
        figure.add_heatmap(
            x=x, y=list(names), z=array(shown.T), customdata=array(rows.T), colorscale=SEQUENTIAL, **span,
            showscale=column == len(parts), reversescale=log,
            colorbar={"title": f"log10 of<br>{value}" if log else value, "thickness": 12, "len": 0.9},
            hovertemplate=f"%{{y}}<br>epoch %{{x:.0f}}<br>{value} = %{{customdata:.4g}}<extra>{part}</extra>",
            row=1, col=column,
        )  # fmt: skip
    figure.update_xaxes(title="epoch", type="log", exponentformat="power", dtick=1)
    figure.update_yaxes(autorange="reversed", type="category", dtick=1)
    figure.update_yaxes(title="task: remainder by", col=1)
    return framed(figure, title, 170 + 17 * max(len(names), 12), False)


def active_frequencies(
    epochs: Sequence[float], norms: Float[Tensor, "epoch freq"], counts: Mapping[str, Sequence[int]]
) -> go.Figure:
    """How strong every frequency is by epoch, over the number of those that count as active.

    Args:
        norms: of every frequency, from 1 on.
        counts: name of the threshold to how many lie above it.
    """
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.65, 0.35])
    shares = norms / norms.amax(dim=1, keepdim=True).clamp(min=1e-12)
    figure.add_heatmap(
        x=list(epochs), y=list(range(1, norms.shape[1] + 1)), z=array(shares.T), colorscale=SEQUENTIAL, zmin=0, zmax=1,
        colorbar={"title": "norm over<br>the largest", "thickness": 12, "len": 0.6, "y": 0.7},
        hovertemplate="frequency %{y}<br>epoch %{x:,}<br>%{z:.2f} of the largest<extra></extra>", row=1, col=1,
    )  # fmt: skip
    for index, (name, active) in enumerate(counts.items()):
        figure.add_scatter(
            x=list(epochs), y=list(active), mode="lines", name=name, line_color=CATEGORIES[index],
            hovertemplate="epoch %{x:,}<br>%{y} active<extra>%{fullData.name}</extra>", row=2, col=1,
        )  # fmt: skip
    figure.update_yaxes(title="frequency", row=1, col=1)
    figure.update_yaxes(title="active", rangemode="tozero", row=2, col=1)
    figure.update_xaxes(title="epoch", row=2, col=1)
    figure.update_layout(legend={"orientation": "h", "y": 0.36, "yanchor": "bottom", "x": 0})
    first, most, last = (f(next(iter(counts.values()))) for f in (lambda c: c[0], max, lambda c: c[-1]))
    title = f"Active frequencies of the logged neurons: {first} at first, {most} at most, {last} at the end"
    return framed(figure, title, 560)


def trends(times: Mapping[str, Mapping[int, float]], lengths: Mapping[str, float]) -> go.Figure:
    """Epoch at which each task generalised against its prime, a line a network; what never did at the upper edge.

    Args:
        times: name of the network to prime to epoch, NaN or infinite for never.
        lengths: name of the network to how long it was trained. [epochs]
    """
    figure = go.Figure()
    for index, (name, of) in enumerate(times.items()):
        learned = {q: t for q, t in of.items() if t < math.inf}
        never = [q for q in of if q not in learned]
        colour = CATEGORIES[index % len(CATEGORIES)]
        if learned:
            figure.add_scatter(
                x=list(learned), y=[max(t, 1) for t in learned.values()], mode="lines+markers", name=name,
                line_color=colour, legendgroup=name,
                hovertemplate="remainder by %{x}<br>epoch %{y:.0f}<extra>%{fullData.name}</extra>",
            )  # fmt: skip
        if never:
            figure.add_scatter(
                x=never, y=[1.15 * lengths[name]] * len(never), mode="markers", name=f"{name}: not by the end",
                marker={"symbol": "x", "color": colour, "size": 7}, legendgroup=name,
                hovertemplate="remainder by %{x}: never<extra>%{fullData.name}</extra>",
            )  # fmt: skip
    figure.update_xaxes(title="prime", type="log", tickvals=[2, 3, 5, 7, 11, 19, 31, 47, 71, 109])
    figure.update_yaxes(title="epoch of 99% on inputs held out", type="log", exponentformat="power", dtick=1)
    return framed(figure, "Trends over p: when each task generalises, networks for smaller p beside that of the source")


def sizes(networks: Sequence[str], rows: Sequence[Mapping[str, float]]) -> go.Figure:
    """Numbers of networks for several p and shares of the inputs, one panel a number.

    Args:
        networks: what each is called, such as its p and the share of the inputs that it was trained on.
        rows: name of a number to its value, a row a network.
    """
    names, columns = list(rows[0]), 3
    height = math.ceil(len(names) / columns)
    figure = make_subplots(height, columns, subplot_titles=names, vertical_spacing=0.25)
    for index, name in enumerate(names):
        place = {"row": index // columns + 1, "col": index % columns + 1}
        figure.add_scatter(
            x=list(networks), y=[row[name] for row in rows], mode="markers", marker={"color": CATEGORIES[0], "size": 9},
            hovertemplate=f"%{{x}}<br>%{{y:.3f}}<extra>{name}</extra>", **place,
        )  # fmt: skip
        figure.update_xaxes(title="p, share trained on", type="category", **place)
        figure.update_yaxes(title="value", range=None if "Pearson" in name else [0, 1.05], **place)
    return framed(figure, "The same numbers of networks for several p and shares of the inputs", 560, False)
