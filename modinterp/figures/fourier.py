"""Draw Fourier spectra of matrices and of functions of (a, b) (Nanda et al. 2023, figures 3, 4 right, 16 and 17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots
from torch import Tensor

from modinterp.analyses.fourier.transforms import component_names
from modinterp.figures.theme import COS, SIN, array, heatmap, panels, with_panel_title, with_title


def _add_spectrum(
    figure: go.Figure, name: str, norms: Float[Tensor, " component"], freqs: Sequence[int], row: int, col: int
) -> None:
    """Add the bars of one spectrum, cosines and sines, to a panel; only the first panel adds a legend."""
    for offset, (wave, colour) in enumerate((("cosine", COS), ("sine", SIN)), start=1):
        own = norms[offset::2]
        figure.add_bar(
            x=list(range(1, len(own) + 1)),
            y=array(own),
            name=wave,
            legendgroup=wave,
            showlegend=row == col == 1,
            marker_color=colour,
            row=row,
            col=col,
            hovertemplate=f"{wave} of frequency %{{x}}<br>norm = %{{y:.4g}}<extra>{name}</extra>",
        )
    for k in freqs:
        top = float(norms[2 * k - 1 : 2 * k + 1].max())
        figure.add_annotation(x=k, y=top, text=f"<b>{k}</b>", showarrow=False, yshift=10, row=row, col=col)
    figure.update_xaxes(title="frequency [cycles per p]", range=[0, len(norms) // 2 + 1], row=row, col=col)
    figure.update_yaxes(title="norm of the component", row=row, col=col)


def spectra(norms: Mapping[str, Float[Tensor, " component"]], freqs: Sequence[int], title: str = "") -> go.Figure:
    """Draw the norm of each cosine and sine in several matrices, with one panel per matrix and key frequencies marked.

    Args:
        norms: map from the name of a matrix to the norms of its Fourier components, from `component_norms`.
        freqs: key frequencies, which the figure marks. [cycles per p]
        title: title of the figure; by default it says that the last matrix is sparse.
    """
    figure = make_subplots(len(norms), 1, subplot_titles=list(norms), vertical_spacing=0.16)
    for row, (name, values) in enumerate(norms.items(), start=1):
        _add_spectrum(figure, name, values, freqs, row, 1)
    figure.update_layout(barmode="group", bargap=0.2)
    last, keys = list(norms)[-1].partition(",")[0], ", ".join(map(str, freqs))
    title = title or f"{last} is sparse in the Fourier basis, with {len(freqs)} key frequencies: {keys}"
    figure = with_title(figure, title, 300 * len(norms))
    figure.update_layout(legend_y=-0.2 / len(norms))
    return figure


def spectra_of_runs(
    norms: Mapping[str, Float[Tensor, " component"]], freqs: Mapping[str, Sequence[int]], title: str
) -> go.Figure:
    """Draw the spectrum of one matrix in several networks, with one panel per network and its key frequencies marked.

    Args:
        norms: map from the name of a run to the norms of the matrix's Fourier components, from `component_norms`.
        freqs: map from the name of a run to its key frequencies. [cycles per p]
        title: title of the figure, which says what to see.
    Source: Nanda et al. 2023, figures 16 and 17.
    """
    figure, places = panels(norms)
    for name, (row, col) in places.items():
        _add_spectrum(figure, name, norms[name], freqs[name], row, col)
    figure.update_layout(barmode="group", bargap=0.2)
    return with_panel_title(figure, title, places)


def spectrum_2d(norms: Float[Tensor, "component_a component_b"], title: str) -> go.Heatmap:
    """Return a heat-map trace of a 2D Fourier transform, with the names of the components on both axes."""
    names = component_names(len(norms))
    return heatmap(norms, "component of b", "component of a", title, labels=names, colorbar=False)


def norm_maps(maps: Mapping[str, Float[Tensor, "component_a component_b"]], title: str) -> go.Figure:
    """Draw heat-maps of component norms of several 2D Fourier transforms, side by side.

    Args:
        maps: map from the name of a panel to the norms of the components.
        title: title of the figure, which says what to see.
    """
    figure = make_subplots(1, len(maps), subplot_titles=list(maps), horizontal_spacing=0.08)
    for column, norms in enumerate(maps.values(), start=1):
        figure.add_trace(spectrum_2d(norms, "norm"), row=1, col=column)
    figure.update_xaxes(title="component of b", nticks=6, tickangle=0)
    figure.update_yaxes(title="component of a", nticks=8)
    return with_title(figure, title, 440, False)
