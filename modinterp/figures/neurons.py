"""Draw neurons by frequency: clusters (Nanda et al. 2023, figure 5), and single neurons with their transforms."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.fourier.neuron_spectra import magnitudes, signed_spectrum
from modinterp.analyses.fourier.neurons import THRESHOLD, NeuronFits
from modinterp.analyses.fourier.transforms import component_names, transform
from modinterp.figures.theme import array, colour_of, heatmap, with_title


def histogram_and_cluster(fits: NeuronFits, W_L: Float[Tensor, "neuron output"], freq: int) -> go.Figure:
    """Draw a histogram of the fraction of each neuron that one frequency explains, and W_L of one cluster of neurons.

    Args:
        fits: fits of the neurons, from `modinterp.analyses.fourier.neurons.neuron_fits`.
        freq: frequency of the cluster; its W_L is shown in the Fourier basis. [cycles per p]
    """
    clusters = fits.clusters()
    members = clusters.get(freq, [])
    panels = (
        "variance explained by a neuron's best frequency",
        f"W_L of the {len(members)} neurons of frequency {freq}",
    )
    figure = make_subplots(1, 2, subplot_titles=panels, horizontal_spacing=0.12, column_widths=[0.45, 0.55])
    bins, fractions, best = np.linspace(0, 1, 21), array(fits.fractions.nan_to_num(0)), fits.freqs.cpu().numpy()
    for k in [*clusters, -1]:
        own = fractions[best == k] if k > 0 else fractions[~np.isin(best, list(clusters))]
        counts, _ = np.histogram(own, bins)
        figure.add_bar(
            x=(bins[:-1] + bins[1:]) / 2,
            y=counts,
            width=0.05,
            name=f"frequency {k}" if k > 0 else "other frequencies",
            marker_color=colour_of(k, list(clusters)),
            hovertemplate="fraction %{x:.2f}<br>%{y} neurons<extra>%{fullData.name}</extra>",
            row=1,
            col=1,
        )
    figure.add_vline(x=THRESHOLD, line_dash="dash", row=1, col=1)
    if members:
        waves, names = transform(W_L.T)[:, members], component_names(W_L.shape[1])
        trace = heatmap(waves, "neuron of the cluster", "component of c", "coefficient of W_L", diverging=True)
        trace.y = names
        figure.add_trace(trace, row=1, col=2)
    figure.update_layout(barmode="stack")
    figure.update_xaxes(title="fraction of the neuron's variance", range=[0, 1], col=1)
    figure.update_yaxes(title="number of neurons", col=1)
    figure.update_xaxes(title="neuron of the cluster", col=2)
    figure.update_yaxes(title="Fourier component of c", nticks=12, autorange="reversed", col=2)
    share = float(fits.explained.double().mean())
    return with_title(
        figure,
        f"{share:.0%} of the neurons have over {THRESHOLD:.0%} of their variance at one frequency, and "
        "write only this frequency",
    )


def neuron_and_transform(field: Float[Tensor, "a b"], corner: int, title: str) -> go.Figure:
    """Draw heat-maps of one neuron over a corner of the grid of pairs, and of its 2D transform's magnitudes.

    Args:
        field: activation of the neuron for every pair (a, b); the transform uses the whole grid.
        corner: number of rows and columns of the grid in the first heat-map.
        title: title of the figure, which says what to see.
    Source: Syrkis & Søgaard 2024, figure 4.
    """
    values, freqs = signed_spectrum(magnitudes(field.unsqueeze(-1))[..., 0])
    count = min(corner, len(field))
    names = (f"activation, first {count} by {count} pairs", "magnitude of the 2D transform")
    figure = make_subplots(1, 2, subplot_titles=names, horizontal_spacing=0.12)
    figure.add_trace(heatmap(field[:corner, :corner], "x1", "x0", "activation", colorbar=False), row=1, col=1)
    spectrum = heatmap(values, "frequency of x1", "frequency of x0", "magnitude", colorbar=False)
    spectrum.y = freqs
    figure.add_trace(spectrum, row=1, col=2)
    figure.update_xaxes(title="second number x1", constrain="domain", col=1)
    figure.update_yaxes(title="first number x0", autorange="reversed", scaleanchor="x", constrain="domain", col=1)
    figure.update_xaxes(title="frequency of x1 [cycles per p]", col=2)
    figure.update_yaxes(title="frequency of x0 [cycles per p]", col=2)
    return with_title(figure, title, 440, False)
