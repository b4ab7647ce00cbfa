"""Petals: in theory, in every head, and how they add up to circles (the blog post on the Clock algorithm, 6 and 7)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
import torch
from jaxtyping import Float, Int
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.circles import turns
from modinterp.analyses.petals import Petal
from modinterp.figures.animation import animated
from modinterp.figures.circles import ring, square_axes
from modinterp.figures.theme import INK, MUTED, TEST, array, colour_of, framed

THEORY = (1, 2, 3, 5)


def heads_by_planes(
    measured: Mapping[tuple[int, int], Float[Tensor, "b 2"]],
    predicted: Mapping[tuple[int, int], Float[Tensor, "b 2"]],
    names: Mapping[tuple[int, int], str],
    title: str,
) -> go.Figure:
    """One row a head, one column a plane: measured points over the predicted line, joined as shortly as can be.

    Args:
        measured, predicted: by head and frequency of the plane.
        names: of the panels, by the same.
    """
    heads, freqs = (sorted({key[i] for key in measured}) for i in (0, 1))
    figure = make_subplots(
        len(heads), len(freqs), subplot_titles=[names[h, k] for h in heads for k in freqs],
        horizontal_spacing=0.06, vertical_spacing=0.26 / len(heads),
    )  # fmt: skip
    for (head, freq), points in measured.items():
        row, col = heads.index(head) + 1, freqs.index(freq) + 1
        line = predicted[head, freq][smoothest_order(predicted[head, freq])]
        figure.add_scatter(
            x=array(line[:, 0]), y=array(line[:, 1]), mode="lines", line={"color": MUTED, "width": 1},
            hoverinfo="skip", showlegend=False, row=row, col=col,
        )  # fmt: skip
        figure.add_trace(ring(points, freq, names[head, freq], 4), row=row, col=col)
    figure.update_xaxes(title="along the cosine", row=len(heads))
    figure.update_yaxes(title="along the sine", col=1)
    return framed(square_axes(figure), title, 270 * len(heads) + 90, False)


def smoothest_order(points: Float[Tensor, "b 2"]) -> Int[Tensor, " step"]:
    """The residues as multiples of that one by which the curve through them is shortest, closed.

    A curve of high frequency, followed from b to b + 1, is a tangle; renamed residues show it as it is.
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
    """One panel a plane: each head's petals, and their sum.

    Args:
        heads: frequency of the plane to every head's curve.
        together: frequency of the plane to the curve of the sum.
        freqs_of_heads: at which each head's attention swings. [cycles per p]
    """
    figure = make_subplots(
        1, len(heads), subplot_titles=[f"plane of frequency {k}" for k in heads], horizontal_spacing=0.06
    )
    for column, (freq, curves) in enumerate(heads.items(), start=1):
        numbers = range(len(curves))
        for head in numbers:
            order = smoothest_order(curves[head])
            figure.add_scatter(
                x=array(curves[head][order, 0]), y=array(curves[head][order, 1]), mode="lines",
                line={"color": colour_of(head, list(numbers)), "width": 1.2}, opacity=0.8,
                name=f"head {head}, attention at {freqs_of_heads[head]}", legendgroup=f"{head}", showlegend=column == 1,
                row=1, col=column,
            )  # fmt: skip
        order = smoothest_order(together[freq])
        figure.add_scatter(
            x=array(together[freq][order, 0]), y=array(together[freq][order, 1]), mode="lines+markers",
            line={"color": INK, "width": 2.5}, marker_size=4, name="sum", legendgroup="sum", showlegend=column == 1,
            row=1, col=column,
        )  # fmt: skip
    figure.update_xaxes(title="along the cosine")
    figure.update_yaxes(title="along the sine", col=1)
    return framed(square_axes(figure), "Every head writes petals; together they are circles", 470)


def swinging(
    attention: Float[Tensor, "b head"], norms: Float[Tensor, "freq head"], freqs: Sequence[int], a: int
) -> go.Figure:
    """Attention to a with a fixed, against the angle by which its own frequency has turned, and its spectrum.

    Args:
        norms: of each head's attention at each frequency.
        freqs: each head's dominant frequency. [cycles per p]
    """
    heads = range(attention.shape[1])
    figure = make_subplots(
        2, len(heads), subplot_titles=[f"head {h}: frequency {freqs[h]}" for h in heads],
        horizontal_spacing=0.05, vertical_spacing=0.2,
    )  # fmt: skip
    for head in heads:
        colour = colour_of(head, list(heads))
        figure.add_scatter(
            x=array(turns(len(attention), freqs[head])),
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
    figure.update_xaxes(title="w b [rad]", row=1)
    figure.update_yaxes(range=[0, 1], row=1)
    figure.update_xaxes(title="frequency [cycles per p]", row=2)
    figure.update_yaxes(title=f"attention to a = {a}", row=1, col=1)
    figure.update_yaxes(title="norm", row=2, col=1)
    return framed(figure, f"With a = {a} fixed, each head's attention swings with b at one frequency", 520, False)


def family(points: int = 240) -> go.Figure:
    """Petals in theory for embedding frequencies (rows) and attention frequencies (columns), a slider for the phase.

    Args:
        points: on a curve.
    """
    phases = list(range(0, 360, 15))
    pairs = [(embedding, attention) for embedding in THEORY for attention in THEORY]
    names = [f"embedding {e}, attention {f}" for e, f in pairs]
    figure = make_subplots(
        len(THEORY), len(THEORY), subplot_titles=names, horizontal_spacing=0.04, vertical_spacing=0.06
    )
    b = torch.linspace(0, 1, points + 1)

    def curves(degrees: int) -> list[go.Scatter]:
        found = []
        for embedding, attention in pairs:
            z = Petal(1, embedding, attention, math.radians(degrees)).curve(b)
            found.append(
                go.Scatter(
                    x=array(z.real), y=array(z.imag), mode="lines", line={"color": TEST, "width": 1.6}, showlegend=False
                )
            )
        return found

    circle = torch.polar(torch.ones_like(b), 2 * torch.pi * b)
    for number, trace in enumerate(curves(0)):
        row, col = divmod(number, len(THEORY))
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
    figure.update_xaxes(title="cosine", row=len(THEORY))
    figure.update_yaxes(title="sine", col=1)
    framed(
        figure,
        "The family of petals: a fixed point of the circle and a running one, mixed in a swinging proportion",
        880,
        False,
    )
    return animated(figure, phases, curves, [2 * i for i in range(len(pairs))], "phase of the attention [degrees]")
