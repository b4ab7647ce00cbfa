"""Compare an MLP with an affine map (contradiction X-A1)."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from modinterp.analyses.circles.linearity import Linearity
from modinterp.figures.theme import CATEGORIES, with_title


def battery(results: Mapping[str, Linearity]) -> go.Figure:
    """Draw the accuracy with an affine map in place of the neurons, and where linear probes decode products of waves.

    Args:
        results: map from the name of a network to its measures of linearity.
    """
    names = (
        "accuracy with the MLP replaced",
        "products of waves in each activation",
        ("waves of a + b before the MLP"),
    )
    figure = make_subplots(1, 3, subplot_titles=names, horizontal_spacing=0.08)
    for colour, (name, one) in zip(CATEGORIES, results.items(), strict=False):
        same = {"name": name, "legendgroup": name, "marker_color": colour}
        figure.add_bar(
            x=["affine map for the neurons", "no nonlinearity"],
            y=[one.affine_accuracy, one.identity_accuracy],
            row=1,
            col=1,
            **same,
        )
        figure.add_scatter(
            x=["resid_mid", "pre", "post", "logits"],
            y=list(one.products.values()),
            mode="lines+markers",
            showlegend=False,
            row=1,
            col=2,
            **same,
        )
        figure.add_scatter(
            x=[str(k) for k in one.decodability],
            y=list(one.decodability.values()),
            mode="markers",
            marker_size=10,
            showlegend=False,
            row=1,
            col=3,
            **same,
        )
    figure.update_yaxes(range=[0, 1.03])
    figure.update_yaxes(title="accuracy over all pairs", col=1)
    figure.update_yaxes(title="share of the variance in products", col=2)
    figure.update_yaxes(title="R squared of the best affine map", col=3)
    figure.update_xaxes(title="what replaces the neurons", col=1)
    figure.update_xaxes(title="activation", col=2)
    figure.update_xaxes(
        title="key frequency [cycles per p]",
        type="category",
        categoryorder="array",
        categoryarray=sorted({str(k) for one in results.values() for k in one.decodability}, key=int),
        col=3,
    )
    return with_title(
        figure,
        "The MLP is not an affine map: with the best affine map in place of the MLP, most answers are wrong",
        460,
    )
