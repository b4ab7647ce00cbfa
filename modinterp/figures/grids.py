"""Draw heat-maps of quantities over all inputs (a, b) (Nanda et al. 2023, figures 4, 9 and 12)."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.figures.fourier import spectrum_2d
from modinterp.figures.theme import heatmap, with_title


def periodic(
    attention: Float[Tensor, "a b"],
    neuron: Float[Tensor, "a b"],
    logits: Float[Tensor, "component_a component_b"],
    names: tuple[str, str, str],
) -> go.Figure:
    """Draw heat-maps of a head's attention, a neuron's activation and the 2D spectrum of the logits, side by side.

    Args:
        attention: attention of the head from the last position to a, for every pair.
        neuron: activation of the neuron for every pair.
        logits: norm of each component of the logits' 2D transform, taken over the outputs; the constant component is 0.
        names: titles of the panels.
    """
    figure = make_subplots(1, 3, subplot_titles=names, horizontal_spacing=0.08)
    figure.add_trace(heatmap(attention, "b", "a", "attention", colorbar=False, name=names[0]), row=1, col=1)
    figure.add_trace(heatmap(neuron, "b", "a", "activation", colorbar=False, name=names[1]), row=1, col=2)
    figure.add_trace(spectrum_2d(logits, "norm"), row=1, col=3)
    figure.update_xaxes(title="b", constrain="domain")
    figure.update_yaxes(title="a", autorange="reversed")
    figure.update_xaxes(title="component of b", nticks=6, tickangle=0, col=3)
    figure.update_yaxes(title="component of a", nticks=8, col=3)
    return with_title(
        figure,
        "Attention and a neuron are periodic in a and b; the logits are products of waves of one frequency",
        440,
        False,
    )


def maps(fields: Mapping[str, Float[Tensor, "a b"]], value: str, title: str, zmax: float | None = None) -> go.Figure:
    """Draw heat-maps of several functions of (a, b), with one panel per function.

    Args:
        fields: map from the name of a panel to its values for every pair.
        value: name of the quantity, with its unit.
        title: title of the figure, which says what to see.
        zmax: upper end of a colour scale that all panels share; by default each panel has its own scale.
    """
    figure = make_subplots(1, len(fields), subplot_titles=list(fields), horizontal_spacing=0.05, shared_yaxes=True)
    for column, (name, field) in enumerate(fields.items(), start=1):
        last = column == len(fields) and zmax is not None
        figure.add_trace(heatmap(field, "b", "a", value, zmax=zmax, colorbar=last, name=name), row=1, col=column)
    figure.update_xaxes(title="b")
    figure.update_yaxes(autorange="reversed")
    figure.update_yaxes(title="a", col=1)
    return with_title(figure, title, 390, False)
