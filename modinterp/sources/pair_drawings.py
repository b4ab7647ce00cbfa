"""Drawings of networks on pairs of numbers that several sources have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import plotly.graph_objects as go

from modinterp.analyses.fourier.transforms import component_norms
from modinterp.figures import fourier, grids, history
from modinterp.figures import neurons as neuron_figures
from modinterp.measurements import CyclicMeasurements, NetworkMeasurements


def curves(measured: Mapping[str, NetworkMeasurements], title: str = history.GROKKED) -> go.Figure | None:
    """Accuracy and loss of several runs over training; None if there are no runs, or only somebody's file."""
    histories = {name: m.history for name, m in measured.items() if len(m.history)}
    return history.curves(histories, title) if histories else None


def spectra(m: CyclicMeasurements) -> go.Figure:
    """Norms of W_E and W_L at every component of the Fourier basis."""
    return fourier.spectra({"W_E": component_norms(m.W_E), "W_L": component_norms(m.W_L.T)}, m.freqs)


def heads(m: CyclicMeasurements, title: str) -> go.Figure:
    """Attention of every head from the last position to a, over all pairs."""
    fields = {f"head {h.head}: frequency {h.freq}": m.pattern[:, :, h.head, 0] for h in m.heads.heads}
    return grids.maps(fields, "attention to a", title, zmax=1)


def neurons(m: CyclicMeasurements, shown: Iterable[int]) -> go.Figure:
    """Activations of some neurons over all pairs, each with its best frequency and the variance that it explains."""
    freqs, fractions = m.neurons.freqs, m.neurons.fractions
    fields = {f"neuron {n}: frequency {int(freqs[n])}, {float(fractions[n]):.0%}": m.post[..., n] for n in shown}
    return grids.maps(fields, "activation", "Neurons are periodic in a and b, each at its own frequency")


def cluster(m: CyclicMeasurements, chosen: Callable[..., int] = max) -> go.Figure:
    """Share of each neuron that one frequency explains, and the contribution of one cluster of neurons to the logits.

    Args:
        m: of the run.
        chosen: `max` for the largest cluster, `min` for the smallest.
    """
    sizes = {freq: len(members) for freq, members in m.neurons.clusters().items()}
    freq = chosen(sizes, key=lambda k: sizes[k], default=m.freqs[0])
    return neuron_figures.histogram_and_cluster(m.neurons, m.W_L, freq)
