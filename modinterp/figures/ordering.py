"""Draw results for networks that find the largest number: attention by size, copying, and proven accuracy.

Source: "Circuit engineering", figures of the max and median transformers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import torch
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.order.bounds import AccuracyBound
from modinterp.analyses.order.copying import Copying, Tolerance
from modinterp.analyses.statistics.lines import Lines
from modinterp.figures.theme import CATEGORIES, INK, MUTED, array, colour_of, heatmap, with_title


def learning(histories: Mapping[str, pd.DataFrame]) -> go.Figure:
    """Draw the loss of every run over training: thin lines for the training set, bold lines for the test set.

    Args:
        histories: map from the name of a run to its history.
    """
    figure = go.Figure()
    for index, (name, history) in enumerate(histories.items()):
        rows, colour = history[history["epoch"] > 0], CATEGORIES[index % len(CATEGORIES)]
        for split, width in (("train", 1), ("test", 2.5)):
            figure.add_scatter(
                x=array(rows["epoch"]),
                y=array(rows[f"{split}_loss"]),
                name=f"{name}, {split}",
                legendgroup=name,
                showlegend=split == "test",
                line={"color": colour, "width": width},
                opacity=0.5 if width == 1 else 1,
            )
    figure.update_xaxes(title="optimiser steps", type="log")
    figure.update_yaxes(title="cross-entropy [nats]", type="log", exponentformat="power")
    return with_title(
        figure, "The network learns to order numbers without a delay: test loss (bold) falls with train loss (thin)"
    )


def accuracies(by_run: Mapping[str, Mapping[str, float]]) -> go.Figure:
    """Draw bars of the accuracy of several runs on several test sets.

    Args:
        by_run: nested map from the name of a run and the name of a test set to the accuracy, in [0, 1].
    """
    figure = go.Figure()
    for index, (name, values) in enumerate(by_run.items()):
        figure.add_bar(
            x=list(values),
            y=list(values.values()),
            name=name,
            marker_color=CATEGORIES[index],
            text=[f"{v:.1%}" for v in values.values()],
            textposition="outside",
        )
    figure.update_xaxes(title="test set")
    figure.update_yaxes(title="accuracy", range=[0, 1.12])
    return with_title(figure, "Small numbers in the training set raise accuracy only on inputs with small numbers", 380)


def cosine_maps(maps: Mapping[str, Float[Tensor, "input input"]], axis: str, title: str, span: float = 1) -> go.Figure:
    """Draw heat-maps of the cosines between vectors, with one panel per set of vectors.

    Args:
        maps: map from the name of a panel to its matrix of cosines.
        axis: title of both axes, which names the vectors.
        title: title of the figure, which says what to see.
        span: the colour scale goes from -span to span; if `span` is 0, it goes from the smallest cosine to 1.
    """
    figure = make_subplots(1, len(maps), subplot_titles=list(maps), horizontal_spacing=0.1)
    for column, (name, matrix) in enumerate(maps.items(), start=1):
        trace = heatmap(
            matrix, axis, axis, "cosine", span > 0, colorbar=column == len(maps), zmax=span or None, name=name
        )
        if not span:
            trace.update(zmin=float(min(m.min() for m in maps.values())), zmax=1)
        figure.add_trace(trace, row=1, col=column)
        figure.update_yaxes(scaleanchor=f"x{column}" if column > 1 else "x", col=column)
    figure.update_xaxes(title=axis, constrain="domain")
    figure.update_yaxes(title=axis, col=1)
    figure.update_yaxes(autorange="reversed", constrain="domain")
    return with_title(figure, title, 430, False)


def by_gap(attention: Mapping[str, pd.DataFrame], accuracy: Mapping[str, pd.DataFrame], title: str) -> go.Figure:
    """Draw attention to the largest number, and accuracy, by the gap between the largest and the next number.

    Args:
        attention, accuracy: map from the name of a line to its table, from
            `modinterp.analyses.order.largest_number.gap_means`.
        title: title of the figure, which says what to see.
    """
    panels = ("attention to the largest number", "accuracy")
    figure = make_subplots(1, 2, subplot_titles=panels, horizontal_spacing=0.1)
    for column, tables in enumerate((attention, accuracy), start=1):
        for index, (name, table) in enumerate(tables.items()):
            known = table[table["inputs"] > 0]
            figure.add_scatter(
                x=array(known["gap"]),
                y=array(known["mean"]),
                name=name,
                mode="lines+markers",
                row=1,
                col=column,
                line_color=CATEGORIES[(index + (4 if column == 2 else 0)) % len(CATEGORIES)],
            )
    figure.update_xaxes(title="largest number minus second-largest, at least")
    figure.update_yaxes(title="mean attention to the largest number", range=[0, 1.05], col=1)
    figure.update_yaxes(title="accuracy", range=[0, 1.05], col=2)
    return with_title(figure, title)


def scores(by_number: Float[Tensor, "token head"], fit: Lines) -> go.Figure:
    """Draw the attention score of CLS with every number, by head, and a straight line fitted to each head's scores.

    Args:
        by_number: attention score of every number, by head. [nats]
        fit: the fitted line of each head, from `modinterp.analyses.statistics.lines.lines`.
    """
    heads, x = range(by_number.shape[1]), list(range(len(by_number)))
    line = fit.at(len(by_number))
    figure = go.Figure()
    for head in heads:
        colour = colour_of(head, list(heads))
        name = f"head {head}: {float(fit.slope[head]):.2f} (x - {float(fit.centre[head]):.1f})"
        y = array(by_number[:, head])
        figure.add_scatter(x=x, y=y, name=name, mode="markers", marker={"color": colour, "size": 5})
        figure.add_scatter(
            x=x[fit.first :],
            y=array(line[fit.first :, head]),
            line_color=colour,
            showlegend=False,
            name=f"line of head {head}",
        )
    figure.update_xaxes(title="number")
    figure.update_yaxes(title="attention score with CLS [nats]")
    lowest = float(fit.explained.min())
    return with_title(
        figure, f"CLS scores numbers by size: linear in the number from {fit.first} on, R² of {lowest:.2f} or more"
    )


def dimensions(keys: Float[Tensor, "token d_head"], queries: Float[Tensor, "token d_head"], head: int) -> go.Figure:
    """Draw every dimension of one head's keys and queries against the number, with one line per dimension.

    Args:
        head: index of the head.
    """
    panels = ("keys of numbers", "queries of numbers (not used by any answer)")
    figure = make_subplots(1, 2, subplot_titles=panels, horizontal_spacing=0.1)
    for column, table in enumerate((keys, queries), start=1):
        for dim in range(table.shape[1]):
            figure.add_scatter(
                x=list(range(len(table))),
                y=array(table[:, dim]),
                name=f"dimension {dim}",
                showlegend=False,
                row=1,
                col=column,
                line={"color": CATEGORIES[0 if table[-1, dim] > table[0, dim] else 1], "width": 1},
            )
    figure.update_xaxes(title="number")
    figure.update_yaxes(title="dimension of the key", col=1)
    figure.update_yaxes(title="dimension of the query", col=2)
    return with_title(
        figure,
        f"Head {head}: every dimension of keys and queries is nearly linear in the number, rising (blue) "
        "or falling (red)",
        legend=False,
    )


def tables(scores: Float[Tensor, "head query key"], title: str) -> go.Figure:
    """Draw heat-maps of the attention scores of every query number with every key number, with one panel per head.

    Args:
        scores: attention scores. [nats]
        title: title of the figure, which says what to see.
    """
    names = [f"head {head}" for head in range(len(scores))]
    figure = make_subplots(1, len(scores), subplot_titles=names, horizontal_spacing=0.04, shared_yaxes=True)
    top = float(scores.abs().max())
    for column, (name, table) in enumerate(zip(names, scores, strict=True), start=1):
        trace = heatmap(
            table, "key", "query", "attention score [nats]", True, colorbar=column == len(scores), zmax=top, name=name
        )
        figure.add_trace(trace, row=1, col=column)
    figure.update_xaxes(title="key number")
    figure.update_yaxes(title="query number", autorange="reversed", col=1)
    return with_title(figure, title, 380, False)


def copy_margins(result: Copying, first: int) -> go.Figure:
    """Draw bars of the answer's logit margin when all heads attend to one number, by number.

    Args:
        first: smallest number that counts for the share in the title.
    """
    figure, x = go.Figure(), list(range(len(result.margin)))
    for is_copied, name, colour in (
        (True, "the network answers the attended number", CATEGORIES[2]),
        (False, "the network answers another number", CATEGORIES[1]),
    ):
        own = [i for i in x if bool(result.right[i]) is is_copied]
        if len(own) > 1:
            figure.add_bar(x=own, y=array(result.margin[own]), name=name, marker_color=colour)
    figure.add_vline(x=first - 0.5, line_dash="dash", line_color=MUTED)
    figure.update_xaxes(title="number that all heads attend to")
    figure.update_yaxes(title="logit of this number minus the next [nats]")
    share = float(result.right[first:].double().mean())
    return with_title(
        figure,
        f"The network answers the number that its heads attend to, for {share:.0%} of the numbers from {first} on",
    )


def robustness(results: Mapping[str, Tolerance]) -> go.Figure:
    """Draw the accuracy of copying a number against the share of another number mixed in, with one line per network.

    Args:
        results: map from the name of a network to its accuracies, from `modinterp.analyses.order.copying.tolerance`.
    """
    figure = go.Figure()
    for index, (name, result) in enumerate(results.items()):
        figure.add_scatter(x=array(result.share), y=array(result.accuracy), name=name, line_color=CATEGORIES[index])
    figure.add_vrect(x0=0.2, x1=0.3, fillcolor=MUTED, opacity=0.2, line_width=0)
    figure.update_xaxes(title="share of the other number in the attention output")
    figure.update_yaxes(title="accuracy of copying", range=[0, 1.05])
    return with_title(
        figure,
        "Copying still works with a part of another number (grey: the part at which copying begins to fail "
        "in the source)",
    )


def proven_shares(bound: AccuracyBound, measured: float) -> go.Figure:
    """Draw bars of the share of inputs on which the weights prove the answer, by the largest number.

    Args:
        measured: accuracy on fresh inputs, in [0, 1].
    """
    figure = go.Figure(
        go.Bar(
            x=list(range(len(bound.by_largest))), y=list(bound.by_largest), marker_color=CATEGORIES[0], name="proven"
        )
    )
    figure.add_hline(y=measured, line_dash="dash", line_color=INK)
    figure.add_annotation(x=0, y=measured, text="accuracy on fresh inputs", showarrow=False, yshift=10, xanchor="left")
    figure.update_xaxes(title="largest number of the input")
    figure.update_yaxes(title="share of inputs with a proof", range=[0, 1.08])
    title = (
        f"The weights prove {bound.accuracy:.1%} of all {bound.inputs:.0e} answers right, in {bound.boxes:,} cases; "
        f"the measured accuracy is {measured:.2%}"
    )
    return with_title(figure, title, 380, False)


def widths(by_task: Mapping[str, Mapping[int, Sequence[float]]]) -> go.Figure:
    """Draw the final test loss against the width of the residual stream, by task, with a marker per seed.

    Args:
        by_task: nested map from the name of a task and a width to the final test losses of all seeds. [nats]
    """
    figure = go.Figure()
    for index, (name, losses) in enumerate(by_task.items()):
        ordered = sorted(losses)
        points = [(d, loss) for d in ordered for loss in losses[d]]
        colour = CATEGORIES[index]
        figure.add_scatter(
            x=[d for d, _ in points],
            y=[y for _, y in points],
            mode="markers",
            marker_color=colour,
            showlegend=False,
            name=name,
        )
        means = [float(torch.tensor(losses[d]).mean()) for d in ordered]
        figure.add_scatter(x=ordered, y=means, name=name, line_color=colour)
    ticks = sorted({d for losses in by_task.values() for d in losses})
    figure.update_xaxes(title="width d_model", type="log", tickvals=ticks)
    figure.update_yaxes(title="final test loss [nats]", type="log", exponentformat="power")
    return with_title(figure, "Final loss by width of the network")
