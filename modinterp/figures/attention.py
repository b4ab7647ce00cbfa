"""Draw Fourier spectra of the heads' lookup tables and OV circuits (Nanda et al. 2023, figures 10 and 11)."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.fourier.transforms import component_names
from modinterp.figures.theme import array, colour_of, with_title


def _lines(values: Float[Tensor, "component head"], freqs: Sequence[int], y: str) -> go.Figure:
    names, heads = component_names(len(values)), range(values.shape[1])
    figure = go.Figure()
    for head in heads:
        figure.add_scatter(
            x=names,
            y=array(values[:, head]),
            name=f"head {head}, frequency {freqs[head]}",
            line_color=colour_of(head, list(heads)),
            hovertemplate="%{x}<br>%{y:.4g}<extra>%{fullData.name}</extra>",
        )
    figure.update_xaxes(title="Fourier component of the token", nticks=8, tickangle=0)
    figure.update_yaxes(title=y)
    return figure


def lookup_spectrum(coefficients: Float[Tensor, "component head"], freqs: Sequence[int]) -> go.Figure:
    """Draw the Fourier coefficients of each head's lookup table C_j, with one line per head.

    Args:
        coefficients: Fourier coefficients of the tables, from `modinterp.analyses.fourier.transforms.transform`. [nats]
        freqs: each head's dominant frequency. [cycles per p]
    """
    figure = _lines(coefficients, freqs, "coefficient of the lookup table [nats]")
    return with_title(figure, "Attention scores: each head's lookup table lies almost entirely at one frequency")


def ov_spectrum(norms: Float[Tensor, "component head"], freqs: Sequence[int]) -> go.Figure:
    """Draw the norm of each Fourier component of each head's OV circuit, with one line per head.

    Args:
        freqs: each head's strongest frequency in the OV circuit. [cycles per p]
    """
    figure = _lines(norms, freqs, "norm of the component of the OV circuit")
    return with_title(figure, "Size of each head's output, by Fourier component of the attended token")
