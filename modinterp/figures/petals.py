"""Draw petals, the curves that heads trace: in theory, in every head, and summed (blog post on the Clock, 6 and 7)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import torch
from jaxtyping import Float, Int
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.circles.circle import wave_angles
from modinterp.analyses.circles.petals import Petal
from modinterp.figures.animation import with_slider
from modinterp.figures.circles import ring, square_axes
from modinterp.figures.theme import INK, MUTED, TEST, array, colour_of, with_title

FREQUENCIES = (1, 2, 3, 5)  # of the petals in theory, both embedding's and attention's


def heads_by_planes(
    measured: Mapping[tuple[int, int], Float[Tensor, "b 2"]],
    predicted: Mapping[tuple[int, int], Float[Tensor, "b 2"]],
    names: Mapping[tuple[int, int], str],
    title: str,
) -> go.Figure:
    """Draw the points of each head (rows) in each plane (columns), and the predicted petal as a line.

    Args:
        measured, predicted: map from a head and the frequency of a plane [cycles per p] to the points of every b.
        names: map from a head and the frequency of a plane to the name of the panel.
        title: title of the figure, which says what to see.
    """
    heads, freqs = (sorted({key[i] for key in measured}) for i in (0, 1))
    figure = make_subplots(
        len(heads),
        len(freqs),
        subplot_titles=[names[h, k] for h in heads for k in freqs],
        horizontal_spacing=0.06,
        vertical_spacing=0.26 / len(heads),
    )
    for (head, freq), points in measured.items():
        row, col = heads.index(head) + 1, freqs.index(freq) + 1
        line = predicted[head, freq][smoothest_order(predicted[head, freq])]
        figure.add_scatter(
            x=array(line[:, 0]),
            y=array(line[:, 1]),
            mode="lines",
            line={"color": MUTED, "width": 1},
            hoverinfo="skip",
            showlegend=False,
            row=row,
            col=col,
        )
        figure.add_trace(ring(points, freq, names[head, freq], 4), row=row, col=col)
    figure.update_xaxes(title="z along the cosine", row=len(heads))
    figure.update_yaxes(title="z along the sine", col=1)
    return with_title(square_axes(figure), title, 270 * len(heads) + 90, False)


def smoothest_order(points: Float[Tensor, "b 2"]) -> Int[Tensor, " step"]:
    """Return the order of the residues, as multiples of one residue, that gives the shortest closed curve.

    If points are joined from b to b + 1, a curve of high frequency looks tangled. In the returned order, the joined
    points show the shape of the curve.
    """
    p = len(points)
    orders = torch.outer(torch.arange(1, p // 2 + 1), torch.arange(p + 1)) % p
    through_all = [order for order in orders if len(order.unique()) == p]
    return min(through_all, key=lambda order: float(points[order.to(points.device)].diff(dim=0).norm(dim=1).sum()))


def sums(
    heads: Mapping[int, Sequence[Float[Tensor, "b 2"]]],
    together: Mapping[int, Float[Tensor, "b 2"]],
    freqs_of_heads: Sequence[int],
) -> go.Figure:
    """Draw the curves of all heads, and their sum, in several planes, with one panel per plane.

    Args:
        heads: map from the frequency of a plane [cycles per p] to every head's curve.
        together: map from the frequency of a plane to the sum of all heads' curves.
        freqs_of_heads: frequency of each head's attention. [cycles per p]
    """
    figure = make_subplots(
        1, len(heads), subplot_titles=[f"plane of frequency {k}" for k in heads], horizontal_spacing=0.06
    )
    for column, (freq, curves) in enumerate(heads.items(), start=1):
        numbers = range(len(curves))
        for head in numbers:
            order = smoothest_order(curves[head])
            figure.add_scatter(
                x=array(curves[head][order, 0]),
                y=array(curves[head][order, 1]),
                mode="lines",
                line={"color": colour_of(head, list(numbers)), "width": 1.2},
                opacity=0.8,
                name=f"head {head}, attention at frequency {freqs_of_heads[head]}",
                legendgroup=f"{head}",
                showlegend=column == 1,
                row=1,
                col=column,
            )
        order = smoothest_order(together[freq])
        figure.add_scatter(
            x=array(together[freq][order, 0]),
            y=array(together[freq][order, 1]),
            mode="lines+markers",
            line={"color": INK, "width": 2.5},
            marker_size=4,
            name="sum of the heads",
            legendgroup="sum",
            showlegend=column == 1,
            row=1,
            col=column,
        )
    figure.update_xaxes(title="attention output along cosine")
    figure.update_yaxes(title="attention output along sine", col=1)
    return with_title(
        square_axes(figure), "Every head writes petals (closed curves); the sum of the heads' petals is a circle", 470
    )


def attention_swing(
    attention: Float[Tensor, "b head"], norms: Float[Tensor, "freq head"], freqs: Sequence[int], a: int
) -> go.Figure:
    """Draw each head's attention to a fixed a, against the angle of b at its frequency, and the attention's spectrum.

    Args:
        attention: attention to a for every b, by head.
        norms: norm of each head's attention at each frequency; row k - 1 belongs to frequency k.
        a: the operand that stays fixed.
        freqs: each head's dominant frequency. [cycles per p]
    """
    heads = range(attention.shape[1])
    figure = make_subplots(
        2,
        len(heads),
        subplot_titles=[f"head {h}: frequency {freqs[h]}" for h in heads],
        horizontal_spacing=0.05,
        vertical_spacing=0.2,
    )
    for head in heads:
        colour = colour_of(head, list(heads))
        figure.add_scatter(
            x=array(wave_angles(len(attention), freqs[head])),
            y=array(attention[:, head]),
            mode="markers",
            marker={"size": 4, "color": colour},
            text=[f"b = {b}" for b in range(len(attention))],
            hovertemplate="%{text}<br>attention %{y:.3f}<extra></extra>",
            row=1,
            col=head + 1,
            showlegend=False,
        )
        figure.add_bar(
            x=list(range(1, len(norms) + 1)),
            y=array(norms[:, head]),
            marker_color=colour,
            row=2,
            col=head + 1,
            showlegend=False,
        )
    figure.update_xaxes(title="angle of b, w b [rad]", row=1)
    figure.update_yaxes(range=[0, 1], row=1)
    figure.update_xaxes(title="frequency [cycles per p]", row=2)
    figure.update_yaxes(title=f"attention to a = {a}", row=1, col=1)
    figure.update_yaxes(title="norm of the attention", row=2, col=1)
    return with_title(
        figure, f"With a = {a} fixed, the attention of each head oscillates with b at one frequency", 520, False
    )


def family(points: int = 240) -> go.Figure:
    """Draw theoretical petals by frequency of the embedding (rows) and of the attention (columns), with a slider for
    the phase.

    Args:
        points: number of points of each curve.
    """
    phases = list(range(0, 360, 15))
    pairs = [(embedding, attention) for embedding in FREQUENCIES for attention in FREQUENCIES]
    names = [f"embedding {e}, attention {f}" for e, f in pairs]
    figure = make_subplots(
        len(FREQUENCIES), len(FREQUENCIES), subplot_titles=names, horizontal_spacing=0.04, vertical_spacing=0.06
    )
    b = torch.linspace(0, 1, points + 1)

    def curves(degrees: int) -> list[go.Scatter]:
        traces = []
        for embedding, attention in pairs:
            z = Petal(1, embedding, attention, math.radians(degrees)).curve(b)
            traces.append(
                go.Scatter(
                    x=array(z.real), y=array(z.imag), mode="lines", line={"color": TEST, "width": 1.6}, showlegend=False
                )
            )
        return traces

    circle = torch.polar(torch.ones_like(b), 2 * torch.pi * b)
    for number, trace in enumerate(curves(0)):
        row, col = divmod(number, len(FREQUENCIES))
        figure.add_trace(trace, row=row + 1, col=col + 1)
        figure.add_scatter(
            x=array(circle.real),
            y=array(circle.imag),
            mode="lines",
            line={"color": MUTED, "width": 0.6},
            hoverinfo="skip",
            showlegend=False,
            row=row + 1,
            col=col + 1,
        )
    square_axes(figure)
    figure.update_xaxes(range=[-1.1, 1.1], showticklabels=False)
    figure.update_yaxes(range=[-1.1, 1.1], showticklabels=False)
    figure.update_xaxes(title="cosine", row=len(FREQUENCIES))
    figure.update_yaxes(title="sine", col=1)
    with_title(
        figure,
        "Petals: weighted means of a fixed and a moving point of a circle; titles give the frequencies of "
        "circle and attention",
        880,
        False,
    )
    return with_slider(figure, phases, curves, [2 * i for i in range(len(pairs))], "phase of the attention [degrees]")
