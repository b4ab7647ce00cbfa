"""The figures of Kissane's notebook, drawn from a run of ours."""

from __future__ import annotations

from functools import partial

import plotly.graph_objects as go

from modinterp.analyses.fourier import component_norms, transform_2d
from modinterp.claims import Evidence
from modinterp.figures import fourier, readout
from modinterp.reproduce import pairs
from modinterp.reproduce.drawings import Draw, Drawings, Runs


def _spectra(ev: Evidence, runs: Runs) -> go.Figure:
    into_neurons = ev.W_E @ ev.model.blocks[0].mlp.W_in.detach()
    return fourier.spectra({"W_E W_in": component_norms(into_neurons), "W_U": component_norms(ev.W_L.T)}, ev.freqs)


def _norm_maps(ev: Evidence, runs: Runs) -> go.Figure:
    fields = {"neurons before the ReLU": ev.pre, "neurons after it": ev.post, "logits": ev.logits}
    maps = {}
    for name, field in fields.items():
        norms = transform_2d(field).norm(dim=-1)
        norms[0, 0] = 0
        maps[name] = norms
    title = "Waves alone go into the ReLU, waves and products come out, and the logits are products of equal waves"
    return fourier.norm_maps(maps, title)


FIGURES: dict[str, tuple[str, Draw]] = {
    "curves": ("Training", partial(pairs.curves, pattern="*")),
    "neurons": ("Neuron activations", partial(pairs.neurons, shown=range(4))),
    "cluster": ("Neurons in the Fourier basis", pairs.cluster),
    "norm_maps": ("Norms of the 2D components", _norm_maps),
    "spectra": ("W_E W_in and W_U in the Fourier basis", _spectra),
    "readoff": ("Cell 81", lambda ev, _: readout.readoff(ev.readoff)),
}

TABLES = {"readoff": ("Cell 81, measured on this run", lambda ev, _: ev.readoff.table())}
DRAWINGS = Drawings("mlp/kissane-0", FIGURES, TABLES)
