"""Draw the figures of Kissane's notebook from runs that were trained as the notebook says."""

from __future__ import annotations

from functools import partial

import plotly.graph_objects as go

from modinterp.analyses.fourier.transforms import component_norms, transform_2d
from modinterp.figures import fourier, readout
from modinterp.measurements import CyclicMeasurements
from modinterp.sources import pair_drawings as pairs
from modinterp.sources.drawing import Drawing, Table
from modinterp.sources.mlp.runs import SEEDS


def _spectra(m: CyclicMeasurements) -> go.Figure:
    norms = {"W_E W_in": component_norms(m.W_E @ m.W_in), "W_U": component_norms(m.W_L.T)}
    return fourier.spectra(norms, m.freqs)


def _norm_maps(m: CyclicMeasurements) -> go.Figure:
    fields = {"neurons before the ReLU": m.pre, "neurons after the ReLU": m.post, "logits": m.logits}
    maps = {}
    for name, field in fields.items():
        norms = transform_2d(field).norm(dim=-1)
        norms[0, 0] = 0
        maps[name] = norms
    title = (
        "Only waves enter the ReLU; waves and products leave the ReLU; the logits are products of waves of one "
        "frequency"
    )
    return fourier.norm_maps(maps, title)


FIGURES = {
    "curves": Drawing(number="Training", draw=pairs.curves, all_of=SEEDS),
    "neurons": Drawing(number="Neuron activations", draw=partial(pairs.neurons, shown=range(4))),
    "cluster": Drawing(number="Neurons in the Fourier basis", draw=pairs.cluster),
    "norm_maps": Drawing(number="Norms of the 2D components", draw=_norm_maps),
    "spectra": Drawing(number="W_E W_in and W_U in the Fourier basis", draw=_spectra),
    "readoff": Drawing(
        number="Cell 81",
        draw=lambda m: readout.readoff(m.readoff),
        table=Table(title="Cell 81, measured on this run", make=lambda m: m.readoff.table()),
    ),
}
