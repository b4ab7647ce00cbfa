"""Animate a training: embedding circles, spectrum, neurons, logits and losses at every snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import pandas as pd
import plotly.graph_objects as go
import torch
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.circles.circle import plane
from modinterp.analyses.fourier.transforms import component_norms
from modinterp.figures.animation import with_slider
from modinterp.figures.circles import ring
from modinterp.figures.theme import (
    CATEGORIES,
    EXCLUDED,
    LOSS_AXIS,
    MUTED,
    RESTRICTED,
    TEST,
    TRAIN,
    array,
    heatmap,
    with_title,
)

COLUMNS, NEURONS, ROWS = 5, 4, 500  # of panels, of neurons that are shown, of the losses' history that are drawn
GROKKING = "Grokking: circles and a sparse spectrum form while the test loss is constant"
_SMALLEST = 1e-12  # value that has a colour of its own
_LOSSES = {
    "train_loss": ("train loss", TRAIN),
    "test_loss": ("test loss", TEST),
    "restricted_loss_all": ("restricted loss", RESTRICTED),
    "excluded_loss_train": ("excluded loss", EXCLUDED),
}


@dataclass(frozen=True)
class Still:
    """One network at one epoch of its training, as a frame of a film.

    Attributes:
        W_E: embedding of the residues.
        neurons: activations of some neurons over all pairs.
        logits: logit of one answer over all pairs.
    """

    epoch: int
    W_E: Float[Tensor, "a d_model"]
    neurons: Float[Tensor, "neuron a b"]
    logits: Float[Tensor, "a b"]


def film(
    stills: Sequence[Still],
    history: pd.DataFrame,
    progress: pd.DataFrame,
    freqs: Sequence[int],
    neurons: Sequence[str],
    title: str = GROKKING,
) -> go.Figure:
    """Return an animated figure with a slider over the epochs of the stills.

    Args:
        stills: the network at each epoch, sorted by epoch.
        history: losses of the training by epoch. [nats]
        progress: restricted and excluded losses by epoch; see `modinterp.analyses.training.progress`. [nats]
        freqs: key frequencies; each of the first five has a panel. [cycles per p]
        neurons: names of the neurons.
        title: title of the figure; by default it says that a network groks.
    """
    circles, last_row = list(freqs)[:COLUMNS], [*neurons, "logit of the answer 0"]
    titles = [f"W_E at frequency {k}" for k in circles] + [""] * (COLUMNS - len(circles))
    specs = [[{}] * COLUMNS, [{"colspan": 2}, None, {"colspan": 3}, None, None], [{}] * COLUMNS]
    figure = make_subplots(
        3, COLUMNS, specs=specs, horizontal_spacing=0.045, vertical_spacing=0.13,
        subplot_titles=[*titles, "losses", "spectrum of W_E: cosines blue, sines red", *last_row],
    )  # fmt: skip
    kept = history.iloc[:: max(1, len(history) // ROWS)]
    for (column, (name, colour)), table in product(_LOSSES.items(), (kept, progress)):
        if column in table and not (table is progress and column in kept):
            figure.add_scatter(x=array(table["epoch"]), y=array(table[column]), name=name, line_color=colour,
                               hovertemplate="epoch %{x}<br>%{y:.3g}<extra></extra>", row=2, col=1)  # fmt: skip
    still_traces = len(figure.data)
    span = [float(kept[["train_loss", "test_loss"]].min().min()), float(kept[["train_loss", "test_loss"]].max().max())]

    def traces(epoch: int) -> list:
        still = next(still for still in stills if still.epoch == epoch)
        return [*_moving(still, circles, last_row), _cursor(epoch, span)]

    places = [(1, col) for col in range(1, len(circles) + 1)] + [(2, 3), (2, 3)]
    places += [(3, col) for col in range(1, len(last_row) + 1)] + [(2, 1)]
    for trace, (row, col) in zip(traces(stills[0].epoch), places, strict=True):
        figure.add_trace(trace, row=row, col=col)
    _axes(figure, stills, circles)
    with_title(figure, title, 860)
    figure.update_layout(legend_y=-0.09, barmode="group", bargap=0.1)
    moving = range(still_traces, len(figure.data))
    return with_slider(figure, [still.epoch for still in stills], traces, moving, "epoch")


def _moving(still: Still, circles: Sequence[int], names: Sequence[str]) -> list:
    """Return the traces that move: circles, spectrum and heat-maps."""
    rings = [ring(still.W_E @ plane(still.W_E, k), k, f"frequency {k}", size=4) for k in circles]
    norms = component_norms(still.W_E)
    bars = [
        go.Bar(x=list(range(1, len(norms) // 2 + 1)), y=array(norms[first::2]), marker_color=colour, name=wave,
               showlegend=False, hovertemplate=wave + " of frequency %{x}<br>norm = %{y:.3g}<extra></extra>")
        for wave, first, colour in (("cosine", 1, CATEGORIES[0]), ("sine", 2, CATEGORIES[1]))
    ]  # fmt: skip
    maps = [  # from 0, so that a neuron that is silent everywhere is dark
        heatmap(_coarse(neuron), "b", "a", "value", colorbar=False, zmax=max(float(neuron.max()), _SMALLEST), name=name)
        for neuron, name in zip(still.neurons, names, strict=False)
    ]
    logits = _coarse(still.logits - still.logits.mean())
    return [*rings, *bars, *maps, heatmap(logits, "b", "a", "value", diverging=True, colorbar=False, name=names[-1])]


def _coarse(field: Tensor) -> Tensor:
    """Round values to a hundredth of the largest value, so that many stills make a small page."""
    step = field.abs().max().clamp_min(_SMALLEST) / 100
    return (field / step).round() * step


def _cursor(epoch: int, span: Sequence[float]) -> go.Scatter:
    line = {"color": MUTED, "width": 2, "dash": "dot"}
    return go.Scatter(x=[epoch, epoch], y=list(span), mode="lines", line=line, hoverinfo="skip", showlegend=False)


def _axes(figure: go.Figure, stills: Sequence[Still], circles: Sequence[int]) -> None:
    """Fix the ranges of all axes, so that growth is visible over the epochs."""
    points = [still.W_E @ plane(still.W_E, k) for still in stills for k in circles]
    reach = 1.05 * float(torch.stack(points).abs().max())
    highest = 1.05 * max(float(component_norms(still.W_E)[1:].max()) for still in stills)
    for col in range(1, len(circles) + 1):
        figure.update_xaxes(title="cosine", range=[-reach, reach], row=1, col=col)
        figure.update_yaxes(range=[-reach, reach], title="sine" if col == 1 else "", row=1, col=col)
    figure.update_xaxes(title="epoch", row=2, col=1)
    figure.update_yaxes(**LOSS_AXIS, row=2, col=1)
    figure.update_xaxes(title="frequency [cycles per p]", row=2, col=3)
    figure.update_yaxes(title="norm", range=[0, highest], row=2, col=3)
    figure.update_xaxes(title="b", row=3)
    figure.update_yaxes(title="a", row=3, col=1)
