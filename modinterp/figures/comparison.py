"""Several networks side by side, frequency by frequency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from modinterp.figures.theme import CATEGORIES, LOSS_AXIS, array, with_title


def spectra(norms: Mapping[str, Sequence[float]]) -> go.Figure:
    """The share of each network's read-out matrix at every frequency, as bars in groups.

    Args:
        norms: name of each network to the norms at frequencies 1, 2, ...
    """
    figure = go.Figure()
    for place, (name, values) in enumerate(norms.items()):
        energies = array(values) ** 2
        figure.add_bar(
            x=list(range(1, len(values) + 1)),
            y=energies / (energies.sum() or 1),
            name=name,
            marker_color=CATEGORIES[place % len(CATEGORIES)],
            hovertemplate="frequency %{x}: %{y:.1%}<extra>" + name + "</extra>",
        )
    figure.update_layout(barmode="group")
    figure.update_xaxes(title="frequency [cycles per p]")
    figure.update_yaxes(title="share of the read-out's energy", tickformat=".0%")
    return with_title(figure, "Which frequencies each network reads its answers from")


def losses_without(losses: Mapping[str, Sequence[float]], own: Mapping[str, float]) -> go.Figure:
    """Loss of each network without one frequency of the answer in its logits; a dotted line shows the unchanged
    network.

    Args:
        losses: name of each network to its losses without frequencies 1, 2, ... [nats]
        own: name of each network to its loss. [nats]
    """
    figure = go.Figure()
    for place, (name, values) in enumerate(losses.items()):
        colour, freqs = CATEGORIES[place % len(CATEGORIES)], list(range(1, len(values) + 1))
        figure.add_scatter(
            x=freqs,
            y=array(values),
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 1},
            hovertemplate="without frequency %{x}: %{y:.3g} nats<extra>" + name + "</extra>",
        )
        figure.add_scatter(
            x=[freqs[0], freqs[-1]],
            y=array([own[name]] * 2),
            mode="lines",
            line={"color": colour, "width": 1, "dash": "dot"},
            showlegend=False,
            hovertemplate="nothing taken out: %{y:.3g} nats<extra>" + name + "</extra>",
        )
    figure.update_xaxes(title="frequency taken out of the logits [cycles per p]")
    figure.update_yaxes(LOSS_AXIS)
    return with_title(figure, "Loss of each network with one frequency removed from its logits")
