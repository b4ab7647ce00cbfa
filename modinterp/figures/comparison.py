"""Draw spectra and losses of several networks, frequency by frequency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from modinterp.figures.theme import CATEGORIES, LOSS_AXIS, array, with_title


def spectra(norms: Mapping[str, Sequence[float]]) -> go.Figure:
    """Draw the share of each network's read-out matrix at every frequency, as grouped bars.

    Args:
        norms: map from the name of a network to the norms of its read-out matrix at the frequencies 1, 2, ...
    """
    figure = go.Figure()
    for place, (name, values) in enumerate(norms.items()):
        energies = array(values) ** 2
        figure.add_bar(
            x=list(range(1, len(values) + 1)),
            y=energies / (energies.sum() or 1),
            name=name,
            marker_color=CATEGORIES[place % len(CATEGORIES)],
            hovertemplate="frequency %{x}: %{y:.1%} of the energy<extra>" + name + "</extra>",
        )
    figure.update_layout(barmode="group")
    figure.update_xaxes(title="frequency [cycles per p]")
    figure.update_yaxes(title="share of the read-out matrix's energy", tickformat=".0%")
    return with_title(figure, "Energy of each network's read-out matrix at every frequency")


def losses_without(losses: Mapping[str, Sequence[float]], own: Mapping[str, float]) -> go.Figure:
    """Draw the loss of each network after removing one frequency from its logits; dotted lines show unchanged networks.

    Args:
        losses: map from the name of a network to its losses without one of the frequencies 1, 2, ... [nats]
        own: map from the name of a network to the loss of the unchanged network. [nats]
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
            hovertemplate="unchanged network: %{y:.3g} nats<extra>" + name + "</extra>",
        )
    figure.update_xaxes(title="frequency removed from the logits [cycles per p]")
    figure.update_yaxes(LOSS_AXIS)
    return with_title(
        figure, "Loss of each network with one frequency removed from its logits (dotted: unchanged network)"
    )
