"""Draw the figures of an explanation."""

from __future__ import annotations

from collections.abc import Iterator

import plotly.graph_objects as go

from modinterp.analyses.circles.symmetry import correct_logits
from modinterp.analyses.fourier.transforms import component_norms
from modinterp.explain.criteria import is_explained
from modinterp.explain.position_tables import figures as figures_of_positions
from modinterp.figures import (
    ablations,
    dose_response,
    fourier,
    grids,
    neurons,
    nulls,
    readout,
    representations,
    symmetry,
)
from modinterp.figures.theme import titled
from modinterp.measurements import CyclicMeasurements, GroupMeasurements, NetworkMeasurements, PositionMeasurements
from modinterp.runs import NotRecorded

# the figures that the page begins with: what interventions do, what it uses, needs, and answers
FIRST = ("dial", "dose_response", "spectra", "single", "symmetry", "by_kind", "attention")


def figures(m: NetworkMeasurements) -> Iterator[tuple[str, go.Figure]]:
    """Yield the key of each figure of an explanation, and the figure; yield nothing if only behaviour was measured."""
    if isinstance(m, PositionMeasurements):
        yield from figures_of_positions(m)
    if isinstance(m, GroupMeasurements):
        yield from _figures_of_groups(m)
    if not isinstance(m, CyclicMeasurements) or not is_explained(m):
        return
    yield from _figures_of_interventions(m)
    freqs, readout_name = m.freqs, m.readout_name
    norms = {"W_E": component_norms(m.W_E).cpu()} if m.has_embedding else {}
    norms |= {readout_name: component_norms(m.readout_matrix.T).cpu()}
    title = f"Fourier components over the residues; the key frequencies are {', '.join(map(str, freqs))}"
    yield "spectra", titled(fourier.spectra(norms, freqs), title)
    title = f"The spectrum of {readout_name} compared with random draws without structure"
    yield "nulls", nulls.among_draws(m.spectrum_nulls.rows, title)
    losses = ablations.per_frequency(m.loss_without_each_block, m.own_score.loss, m.score_of_keys_alone.loss, freqs)
    yield "single", titled(losses, "Loss with one frequency removed from the logits; bars of key frequencies are blue")
    title = f"Share of {m.features_name} along each direction of {readout_name} that one wave explains"
    yield "readoff", titled(readout.readoff(m.readoff), title)
    if m.has_neurons and not m.is_output_only:
        sizes = {k: len(members) for k, members in m.neurons.clusters().items()}
        largest = max(sizes, key=lambda k: sizes[k], default=freqs[0] if freqs else 1)
        histogram = neurons.histogram_and_cluster(m.neurons, m.readout_matrix, largest)
        title = "Share of each neuron that its best frequency explains, and the output of one cluster"
        yield "neurons", titled(histogram, title)
    if m.has_attention:
        to_first = m.activation(f"{m.last_block}.attn.hook_pattern")[..., 0]
        fields = {f"head {head}": to_first[:, :, head] for head in range(min(4, to_first.shape[-1]))}
        yield (
            "heads",
            grids.maps(fields, "attention", "Attention to the first number in the last layer, for each pair", zmax=1),
        )
    spectrum = m.spectrum_energy.sqrt().cpu()
    spectrum[0, 0] = 0
    title = "Norm of the logits' 2D Fourier components over both numbers"
    yield "logits", fourier.norm_maps({"logits, constant left out": spectrum}, title)
    correct, distance = correct_logits(m.logits, m.sign).cpu(), "a - b" if m.sign > 0 else "a + b"
    title = f"The correct logit, one row for each {distance}: a pizza's rows differ, a clock's rows are equal"
    yield "symmetry", symmetry.correct_logits(correct, distance, title)


def _figures_of_interventions(m: CyclicMeasurements) -> Iterator[tuple[str, go.Figure]]:
    """Yield figures of rotated and scaled circles, if the embedding is accessible and at most half of all frequencies
    are key.
    """
    try:
        freqs = m.causal.half_turn.freqs
    except NotRecorded:
        return
    yield (
        "dial",
        dose_response.dial(
            m.causal.dial, "Logits after circles of the embedding are rotated, and the formula's prediction"
        ),
    )
    title = "Effect of scaling and of rotating circles of the embedding; controls are grey"
    yield "dose_response", dose_response.dose_response(m.causal.dose_response, m.causal.turn_response, title)
    title = "Phase change of each wave of the logits when one circle of the embedding is rotated by 45 degrees"
    yield "cross_effects", dose_response.cross_effects(m.causal.cross_effects, freqs, title)


def _figures_of_groups(m: GroupMeasurements) -> Iterator[tuple[str, go.Figure]]:
    names = [rho.name for rho in m.irreps]
    title = "Similarity between the logits and the character of each representation"
    yield "similarities", representations.similarities(m.similarities, names, m.least_similarity, title)
    layers = {name: list(m.shares(x).values()) for name, x in m.embeddings.items()} if m.has_embedding else {}
    layers |= {m.readout_name: list(m.shares(m.readout_matrix.T).values())}
    if m.has_neurons:
        layers |= {"neurons": m.pair_shares.total().tolist()}
    yield "shares", representations.shares(layers, names, "Share of each layer's energy in each representation")
    title = "Loss with one representation removed from the logits, and with only this representation left"
    yield "single", representations.losses(m.loss_with_each, m.own_score.loss, title)
    title = f"The representations of {m.readout_name} compared with random draws without structure"
    yield "nulls", nulls.among_draws(m.spectrum_nulls.rows, title)
