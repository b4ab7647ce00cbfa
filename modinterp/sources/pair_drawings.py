"""Draw figures of networks on pairs of numbers that several sources share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import plotly.graph_objects as go

from modinterp.analyses.fourier.transforms import component_norms
from modinterp.figures import fourier, grids, history
from modinterp.figures import neurons as neuron_figures
from modinterp.measurements import CyclicMeasurements, NetworkMeasurements


def curves(measured: Mapping[str, NetworkMeasurements], title: str = history.GROKKED) -> go.Figure | None:
    """Draw accuracy and loss of several runs during training; None if no run has a known training."""
    histories = {name: m.history for name, m in measured.items() if len(m.history)}
    return history.curves(histories, title) if histories else None


def spectra(m: CyclicMeasurements) -> go.Figure:
    """Draw the norms of W_E and W_L at every component of the Fourier basis."""
    return fourier.spectra({"W_E": component_norms(m.W_E), "W_L": component_norms(m.W_L.T)}, m.freqs)


def heads(m: CyclicMeasurements, title: str) -> go.Figure:
    """Draw the attention of every head from the last position to a, over all pairs."""
    fields = {f"head {h.head}: frequency {h.freq}": m.pattern[:, :, h.head, 0] for h in m.heads.heads}
    return grids.maps(fields, "attention to a", title, zmax=1)


def neurons(m: CyclicMeasurements, shown: Iterable[int]) -> go.Figure:
    """Draw the activations of some neurons over all pairs, each with its best frequency and its explained variance."""
    freqs, fractions = m.neurons.freqs, m.neurons.fractions
    fields = {f"neuron {n}: frequency {int(freqs[n])}, {float(fractions[n]):.0%}": m.post[..., n] for n in shown}
    return grids.maps(fields, "activation", "Neurons are periodic in a and b, each at its own frequency")


def cluster(m: CyclicMeasurements, chosen: Callable[..., int] = max) -> go.Figure:
    """Draw how much of each neuron one frequency explains, and the contribution of one group of neurons to the logits.

    Args:
        m: measurements of the run.
        chosen: `max` for the largest group of neurons with one frequency, `min` for the smallest group.
    """
    sizes = {freq: len(members) for freq, members in m.neurons.clusters().items()}
    freq = chosen(sizes, key=lambda k: sizes[k], default=m.freqs[0])
    return neuron_figures.histogram_and_cluster(m.neurons, m.W_L, freq)
