"""Drawings of networks on pairs of numbers that several sources have."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

import plotly.graph_objects as go

from modinterp.analyses.fourier import component_norms
from modinterp.claims import Evidence
from modinterp.claims.evidence import PATTERN
from modinterp.figures import fourier, grids, history
from modinterp.figures import neurons as neuron_figures
from modinterp.reproduce.drawings import Runs


def curves(ev: Evidence, runs: Runs, pattern: str, title: str = history.GROKKED) -> go.Figure | None:
    """Training of those of the runs that are there whose name fits."""
    found = {name: run.history for name, run in runs.items() if fnmatchcase(name, pattern)}
    return history.curves(found, title) if found else None


def spectra(ev: Evidence, runs: Runs) -> go.Figure:
    """W_E and W_L in the Fourier basis."""
    return fourier.spectra({"W_E": component_norms(ev.W_E), "W_L": component_norms(ev.W_L.T)}, ev.freqs)


def heads(ev: Evidence, runs: Runs, title: str) -> go.Figure:
    """Attention of every head to a."""
    fields = {f"head {h.head}: frequency {h.freq}": ev.grid[PATTERN][:, :, h.head, 0] for h in ev.heads.heads}
    return grids.maps(fields, "attention to a", title, zmax=1)


def neurons(ev: Evidence, runs: Runs, shown: range) -> go.Figure:
    """Some neurons over all pairs."""
    fields = {
        f"neuron {n}: frequency {int(ev.neurons.freqs[n])}, {float(ev.neurons.fractions[n]):.0%}": ev.post[..., n]
        for n in shown
    }
    return grids.maps(fields, "activation", "Neurons are periodic in a and b, each at its own frequency")


def cluster(ev: Evidence, runs: Runs, chosen: Callable[..., int] = max) -> go.Figure:
    """How much one frequency explains of each neuron, and what the largest cluster writes, or the smallest."""
    sizes = {freq: len(members) for freq, members in ev.neurons.clusters().items()}
    freq = chosen(sizes, key=lambda k: sizes[k], default=ev.freqs[0])
    return neuron_figures.histogram_and_cluster(ev.neurons, ev.W_L, freq)
