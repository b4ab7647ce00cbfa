"""The figures of Kissane's notebook, drawn from a run of ours."""

from __future__ import annotations

import plotly.graph_objects as go

from modinterp.analyses.fourier import component_norms, transform_2d
from modinterp.claims import Evidence
from modinterp.figures import fourier, grids, history, neurons, readout
from modinterp.reproduce.drawings import Draw, Drawings, Runs


def _curves(ev: Evidence, runs: Runs) -> go.Figure:
    return history.curves({name: run.history for name, run in runs.items()})


def _spectra(ev: Evidence, runs: Runs) -> go.Figure:
    into_neurons = ev.W_E @ ev.model.blocks[0].mlp.W_in.detach()
    return fourier.spectra({"W_E W_in": component_norms(into_neurons), "W_U": component_norms(ev.W_L.T)}, ev.freqs)


def _neurons(ev: Evidence, runs: Runs) -> go.Figure:
    fields = {
        f"neuron {n}: frequency {int(ev.neurons.freqs[n])}, {float(ev.neurons.fractions[n]):.0%}": ev.post[..., n]
        for n in range(4)
    }
    return grids.maps(fields, "activation", "Neurons are periodic in a and b, each at its own frequency")


def _norm_maps(ev: Evidence, runs: Runs) -> go.Figure:
    fields = {"neurons before the ReLU": ev.pre, "neurons after it": ev.post, "logits": ev.logits}
    maps = {}
    for name, field in fields.items():
        norms = transform_2d(field).norm(dim=-1)
        norms[0, 0] = 0
        maps[name] = norms
    title = "Waves alone go into the ReLU, waves and products come out, and the logits are products of equal waves"
    return fourier.norm_maps(maps, title)


def _cluster(ev: Evidence, runs: Runs) -> go.Figure:
    sizes = {freq: len(members) for freq, members in ev.neurons.clusters().items()}
    return neurons.histogram_and_cluster(ev.neurons, ev.W_L, max(sizes, key=lambda k: sizes[k], default=ev.freqs[0]))


FIGURES: dict[str, tuple[str, Draw]] = {
    "curves": ("Training", _curves),
    "neurons": ("Neuron activations", _neurons),
    "cluster": ("Neurons in the Fourier basis", _cluster),
    "norm_maps": ("Norms of the 2D components", _norm_maps),
    "spectra": ("W_E W_in and W_U in the Fourier basis", _spectra),
    "readoff": ("Cell 81", lambda ev, _: readout.readoff(ev.readoff)),
}

TABLES = {"readoff": ("Cell 81, measured on this run", lambda ev, _: ev.readoff.table())}
DRAWINGS = Drawings("mlp/kissane-0", FIGURES, TABLES)
