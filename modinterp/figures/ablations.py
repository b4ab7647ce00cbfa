"""Draw losses under ablations of frequencies and components (Nanda et al. 2023, figure 6, table 4, 4.4 and A.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.attention.components import Ablations
from modinterp.figures.theme import CATEGORIES, COS, EXCLUDED, INK, MUTED, RESTRICTED, TEST, array, with_title


def per_frequency(
    losses: Float[Tensor, " freq"], original: float, restricted: float, freqs: Sequence[int]
) -> go.Figure:
    """Draw bars of the loss over all pairs after removing one frequency from the logits, with original and restricted
    loss.

    Args:
        losses: loss after removing one frequency; entry k - 1 belongs to frequency k. [nats]
        original, restricted: loss of the unchanged network, and loss of its logits restricted to the key frequencies.
            [nats]
        freqs: key frequencies. [cycles per p]
    """
    numbers = list(range(1, len(losses) + 1))
    figure = go.Figure(
        go.Bar(
            x=numbers,
            y=array(losses),
            marker_color=[COS if k in freqs else MUTED for k in numbers],
            name="loss without one frequency",
            hovertemplate="without frequency %{x}<br>loss = %{y:.3g} nats<extra></extra>",
        )
    )
    for value, name, colour in (
        (original, "loss of the unchanged network", INK),
        (restricted, "loss with the key frequencies alone", RESTRICTED),
    ):
        figure.add_scatter(
            x=[0.5, len(losses) + 0.5],
            y=[value, value],
            mode="lines",
            name=f"{name}: {value:.2g} nats",
            line={"color": colour, "dash": "dash"},
        )
    figure.update_xaxes(title="frequency removed from the logits [cycles per p]")
    low = float(np.log10(min(restricted, original))) - 0.5
    figure.update_yaxes(title="loss over all pairs [nats]", type="log", exponentformat="power", range=[low, 1.2])
    return with_title(
        figure, f"Removing one of the {len(freqs)} key frequencies raises the loss; removing another frequency does not"
    )


def interventions(ablations: Ablations) -> go.Figure:
    """Draw bars of the loss over all pairs under every intervention on a component or the neurons."""
    table = ablations.table()
    figure = go.Figure(
        go.Bar(
            y=table["intervention"],
            x=array(table["loss"]),
            orientation="h",
            marker_color=[INK, *[CATEGORIES[0]] * (len(table) - 1)],
            customdata=np.stack([table["accuracy"], table["loss_ratio"]], axis=1),
            hovertemplate="%{y}<br>loss = %{x:.3g} nats, %{customdata[1]:.3g} times the original"
            "<br>accuracy = %{customdata[0]:.4f}<extra></extra>",
        )
    )
    original = float(table["loss"].iloc[0])
    figure.add_vline(x=original, line_dash="dash")
    figure.update_xaxes(
        title="loss over all pairs [nats]", type="log", exponentformat="power", range=[np.log10(original) - 1, 2]
    )
    figure.update_yaxes(autorange="reversed", automargin=True)
    return with_title(
        figure, "Loss with each part changed: near the dashed line, the network does not need the part", 460, False
    )


def keys_and_others(losses: Mapping[str, Sequence[float]], reported: Mapping[str, Sequence[float]]) -> go.Figure:
    """Draw test losses of networks: unchanged, without key frequencies, without other frequencies, and as the paper
    reports.

    Args:
        losses: map from the name of a network to its three measured losses. [nats]
        reported: map from the name of a network to the three losses that the paper reports. [nats]
    Source: Nanda et al. 2023, table 4.
    """
    figure = go.Figure()
    kinds = {
        "whole network": TEST,
        "without its key frequencies": EXCLUDED,
        "with its key frequencies alone": RESTRICTED,
    }
    for place, (kind, colour) in enumerate(kinds.items()):
        for whose, by_network, symbol, size in (
            ("our network", losses, "circle", 8),
            ("the paper's network", reported, "diamond-open", 15),
        ):
            figure.add_scatter(
                x=list(by_network),
                y=[values[place] for values in by_network.values()],
                mode="markers",
                name=f"{kind}, {whose}",
                marker={"color": colour, "symbol": symbol, "size": size, "line": {"width": 2, "color": colour}},
                hovertemplate=f"%{{x}}, {kind}<br>test loss = %{{y:.3g}} nats<extra>{whose}</extra>",
            )
    figure.update_xaxes(title="network", type="category")
    figure.update_yaxes(title="test loss [nats]", type="log", exponentformat="power")
    title = "Without its key frequencies, a network is worse than guessing; with only these frequencies, its loss falls"
    return with_title(figure, title, 460)
