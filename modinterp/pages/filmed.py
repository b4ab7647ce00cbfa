"""Make the film of a training from the snapshots of its run."""

from __future__ import annotations

from itertools import islice

import plotly.graph_objects as go

from modinterp.activations import activations
from modinterp.figures import film as films
from modinterp.measurements import CyclicMeasurements
from modinterp.models import Network


def film(m: CyclicMeasurements, most: int | None = None) -> go.Figure:
    """Return an animated figure of the network at every snapshot and at the end, with the best neuron of each key
    frequency.

    Args:
        most: largest number of snapshots, chosen evenly; all by default.

    Raises:
        NotRecorded: the run has no snapshots.
    """
    fits, hook = m.neurons, f"{m.last_block}.mlp.hook_post"
    best = {k: max(members, key=lambda n: float(fits.fractions[n])) for k, members in fits.clusters().items()}
    shown = [best[k] for k in m.freqs if k in best][: films.NEURONS]

    def still(epoch: int, network: Network) -> films.Still:
        cache = activations(network, m.task, (hook,), precise=False)
        neurons = cache[hook][..., shown].permute(2, 0, 1)
        return films.Still(epoch, network.W_E[: m.p].detach().double(), neurons, cache["logits"][..., 0])

    step = 1 if most is None else -(-len(m.snapshots) // most)
    stills = [still(epoch, network) for epoch, network in islice(m.networks(), 0, None, max(1, step))]
    if stills[-1].epoch < (last := int(m.history["epoch"].iloc[-1])):
        stills.append(still(last, m.model))
    names = [f"neuron {n}: frequency {int(fits.freqs[n])}" for n in shown]
    return films.film(stills, m.history, m.progress, m.freqs, names, _title(m))


def _title(m: CyclicMeasurements) -> str:
    """Return a title that says in one line what happens in the training."""
    found = m.grokking
    if found.delayed:
        return films.GROKKING
    if found.grokked == found.grokked:  # no NaN
        return f"The network generalises at epoch {found.grokked:,.0f}: its circles and its spectrum while they form"
    if found.memorised == found.memorised:
        right = m.history["test_accuracy"].iloc[-1]
        return (
            f"The network memorises at epoch {found.memorised:,.0f}, and at the end is right on "
            f"{right:.1%} of the inputs not trained on"
        )
    return "Circles, spectrum, neurons and logits of the network during training"
