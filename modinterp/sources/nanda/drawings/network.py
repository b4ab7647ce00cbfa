"""Draw figures of the main network: the paper's main text and appendices B and C.1."""

from __future__ import annotations

from functools import partial

import plotly.graph_objects as go
import torch

from modinterp.analyses.fourier.ablations import restricted_loss
from modinterp.analyses.fourier.transforms import component_norms, transform
from modinterp.figures import ablations, algorithm, attention, grids, progress, readout
from modinterp.measurements import CyclicMeasurements
from modinterp.pages.filmed import film
from modinterp.sources import pair_drawings as pairs
from modinterp.sources.drawing import Drawing, Table
from modinterp.sources.nanda.runs import SEEDS


def _periodic(m: CyclicMeasurements) -> go.Figure:
    norms = m.spectrum_energy.sqrt()
    norms[0, 0] = 0
    names = (
        f"attention of head 0 to a: frequency {m.heads.heads[0].freq}",
        f"neuron 0: frequency {int(m.neurons.freqs[0])}",
        "logits: norm over outputs, constant left out",
    )
    return grids.periodic(m.pattern[:, :, 0, 0], m.post[..., 0], norms, names)


def _per_frequency(m: CyclicMeasurements) -> go.Figure:
    restricted = restricted_loss(m.logits, m.labels, m.freqs, "products")
    return ablations.per_frequency(m.loss_without_each["products"], m.ablated("original").loss, restricted, m.freqs)


def _ov(m: CyclicMeasurements) -> go.Figure:
    norms = torch.stack([component_norms(ov) for ov in m.ov], dim=1)
    return attention.ov_spectrum(norms, m.roles.ov_freqs)


FIGURES = {
    "algorithm": Drawing(number="Figure 1", draw=lambda m: algorithm.diagram(m.freqs, m.logit_fit.alphas, m.p)),
    "curves": Drawing(number="Figure 2", draw=pairs.curves, all_of=SEEDS),
    "spectra": Drawing(number="Figure 3", draw=pairs.spectra),
    "periodic": Drawing(number="Figure 4", draw=_periodic),
    "readoff": Drawing(
        number="Table 1",
        draw=lambda m: readout.readoff(m.readoff),
        table=Table(
            title="Waves along the directions of W_L (table 1), measured on this run", make=lambda m: m.readoff.table()
        ),
    ),
    "neurons": Drawing(number="Figure 5", draw=partial(pairs.cluster, chosen=min)),
    "ablations": Drawing(number="Figure 6", draw=_per_frequency),
    "progress": Drawing(number="Figure 7", draw=lambda m: progress.measures(m.progress, m.phases)),
    "film": Drawing(number="Film", draw=film, beside="progress", own_page="A film of grokking"),
    "margins": Drawing(number="Figure 8", draw=lambda m: readout.margins(m.p, m.freqs)),
    "heads": Drawing(
        number="Figure 9",
        draw=partial(pairs.heads, title="Attention from = to a is periodic in a and b in every head"),
        table=Table(
            title="Waves in each head's attention (table 2), measured on this run", make=lambda m: m.heads.table()
        ),
    ),
    "tables": Drawing(number="Figure 10", draw=lambda m: attention.lookup_spectrum(transform(m.tables), m.roles.freqs)),
    "ov": Drawing(number="Figure 11", draw=_ov),
    "neurons_1_to_4": Drawing(number="Figure 12", draw=partial(pairs.neurons, shown=range(1, 5))),
    "restricted_accuracy": Drawing(number="Figure 13", draw=lambda m: progress.restricted_accuracy(m.progress)),
    "coefficients": Drawing(number="Figure 14", draw=lambda m: progress.coefficients(m.progress, m.freqs)),
    "single_exclusion": Drawing(number="Figure 15", draw=lambda m: progress.single_exclusion(m.progress, m.freqs)),
    "largest_exclusion": Drawing(
        number="Footnote 3", draw=lambda m: progress.largest_exclusion(m.progress, m.largest_exclusion)
    ),
    "interventions": Drawing(
        number="Sections 4.4 and A.1",
        draw=lambda m: ablations.interventions(m.ablations),
        table=Table(title="Interventions", make=lambda m: m.ablations.table()),
    ),
}
