"""Draw the figures of the blog post on the Clock algorithm from runs that were trained as it says."""

from __future__ import annotations

from functools import partial

import pandas as pd
import plotly.graph_objects as go
import torch

from modinterp.analyses.circles.alignment import gains
from modinterp.analyses.circles.circle import circles_table, plane, plane_angles
from modinterp.analyses.circles.petals import mixture, petal_fits_table, pullback
from modinterp.analyses.circles.rotation import motions_table
from modinterp.analyses.fourier.transforms import component_norms, frequency_norms
from modinterp.figures import alignment, circles, fourier, linearity, motion, petals
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.circles import ATTN_OUT, MLP_OUT
from modinterp.measurements.network import NEURONS
from modinterp.sources import pair_drawings as pairs
from modinterp.sources.clock.claims.frequencies import EPOCHS
from modinterp.sources.clock.claims.mlp import BATTERY
from modinterp.sources.clock.runs import MAIN
from modinterp.sources.drawing import Drawing, Table

SECOND_NUMBERS = (108, 13)  # each is added to 70 in the source


def _embedding(m: CyclicMeasurements) -> go.Figure | None:
    norms = {
        f"W_E at epoch {epoch:,}": component_norms(m.at(epoch).W_E[: m.p].detach())
        for epoch in EPOCHS
        if epoch in m.snapshots
    }
    title = "The longer the training, the fewer frequencies the embedding keeps"
    return fourier.spectra(norms, m.freqs, title) if norms else None


def _other_frequencies(freqs: tuple[int, ...]) -> list[int]:
    """Return the source's examples of frequencies that are not used, or the next one where it is a key frequency."""
    return [next(k for k in range(start, start + 56) if k not in freqs) for start in (3, 25, 50)]


def _embedding_circles(m: CyclicMeasurements) -> go.Figure:
    W_E = m.W_E.double()
    panels = {f"key frequency {k}": (k, W_E @ plane(W_E, k)) for k in m.freqs}
    panels |= {f"frequency {k}, not a key frequency": (k, W_E @ plane(W_E, k)) for k in _other_frequencies(m.freqs)}
    columns = max(len(m.freqs), 3)
    return circles.planes(panels, "The embedding lies on a circle at each key frequency", "W_E", columns)


def _circles_of_W_L(m: CyclicMeasurements) -> go.Figure:
    W = m.W_L.T.double()
    panels = {
        f"frequency {k}: {m.circles.circles_of_W_L[k].quality:.1%} circular": (k, W @ plane(W, k)) for k in m.freqs
    }
    return circles.planes(panels, "The columns of W_L lie on circles at the same frequencies", "W_L", len(m.freqs))


def _attention(m: CyclicMeasurements) -> go.Figure:
    to_a = m.pattern[m.circles.fixed_a, :, :, 0]
    norms = [frequency_norms(component_norms(to_a[:, [head]])) for head in range(m.n_heads)]
    return petals.attention_swing(
        to_a, torch.stack(norms, dim=1), [freq for freq, _ in m.circles.tuning], m.circles.fixed_a
    )


def _petals(m: CyclicMeasurements) -> go.Figure:
    measured, predicted, names = {}, {}, {}
    for fit in m.circles.petals:
        reader, _ = pullback(m.W_V[fit.head], m.circles.planes[fit.embedding])
        key = fit.head, fit.embedding
        measured[key] = m.circles.head_values[:, fit.head] @ reader
        predicted[key] = mixture(
            m.circles.attention_share[:, fit.head], m.circles.token_values[fit.head] @ reader, m.circles.fixed_a
        )
        names[key] = f"head {fit.head}, frequency {fit.attention}; plane {fit.embedding}"
    title = f"With a = {m.circles.fixed_a}, each head's z traces the predicted petals (line): R squared above 0.999"
    return petals.heads_by_planes(measured, predicted, names, title)


def _sums(m: CyclicMeasurements) -> go.Figure:
    heads = {
        k: [m.circles.head_outputs[:, head] @ image for head in range(m.n_heads)]
        for k, image in m.circles.carried_planes.items()
    }
    together = {k: m.activation(ATTN_OUT)[m.circles.fixed_a] @ image for k, image in m.circles.carried_planes.items()}
    return petals.sums(heads, together, [freq for freq, _ in m.circles.tuning])


def _planes(m: CyclicMeasurements) -> go.Figure:
    angles = {
        (i, j): plane_angles(m.circles.planes[i], m.circles.own_plane(ATTN_OUT, j)) for i in m.freqs for j in m.freqs
    }
    return circles.dihedral_angles(angles, m.freqs)


def _biases(m: CyclicMeasurements) -> go.Figure:
    lengths = {k: (m.W_in.double().T @ m.circles.own_plane(ATTN_OUT, k)).norm(dim=1) for k in m.freqs}
    return circles.sorted_biases(m.b_in, lengths, m.freqs)


def _moving_circles(m: CyclicMeasurements, hook: str, directions: tuple[int, ...], title: str) -> go.Figure:
    """Return the circles of every key frequency under a hook, moving as a runs.

    Args:
        m: of the run.
        hook: name of the activations.
        directions: pairs of principal directions, one row of panels each: 0 for 1 and 2, 1 for 3 and 4.
        title: of the figure.
    """
    panels, axes = {}, []
    for pair in directions:
        first, second = 2 * pair + 1, 2 * pair + 2
        for k in m.freqs:
            points = m.activation(hook) @ m.circles.plane_directions(hook, k).pair(pair)
            panels[f"frequency {k}, directions {first} and {second}"] = (k, points)
            axes.append((first, second))
    return motion.circles_in_motion(panels, title, axes, len(m.freqs))


def _motion(m: CyclicMeasurements) -> go.Figure:
    title = (
        "Attention output as a increases: circles revolve around the origin (above), and rotate at "
        "frequencies at which a head attends (below)"
    )
    return _moving_circles(m, ATTN_OUT, (0, 1), title)


def _mlp_out(m: CyclicMeasurements) -> go.Figure:
    title = "MLP output as a increases: the circles rotate about their own centre"
    return _moving_circles(m, MLP_OUT, (0,), title)


def _motions_table(m: CyclicMeasurements) -> pd.DataFrame:
    places = {"attention": ATTN_OUT, "neurons": NEURONS, "MLP": MLP_OUT}
    return motions_table(
        {
            f"{place}, directions {2 * pair + 1} and {2 * pair + 2}, frequency {k}": m.circles.motion(hook, k, pair)
            for place, hook in places.items()
            for pair in (0, 1)
            for k in m.freqs
        }
    )


def _neurons_3d(m: CyclicMeasurements) -> go.Figure:
    k = (m.circles.attended_frequencies or m.freqs)[0]
    points = m.activation(NEURONS) @ m.circles.plane_directions(NEURONS, k).directions[:, :3]
    return motion.in_three_dimensions(
        points,
        k,
        f"In the neurons' activations the circle of frequency {k} revolves around a point and rotates about its centre",
    )


def _singular(m: CyclicMeasurements) -> go.Figure:
    factors = {k: gains(m.W_out, m.circles.plane_directions(NEURONS, k).directions[:, :4]) for k in m.freqs}
    return alignment.singular_values(m.circles.singular_directions, factors, m.freqs)


def _readout(m: CyclicMeasurements) -> go.Figure:
    planes = {k: m.circles.plane_directions(MLP_OUT, k).pair(0) for k in m.freqs}
    points = {k: m.activation(MLP_OUT)[m.circles.fixed_a] @ pair for k, pair in planes.items()}
    directions = {k: m.W_U.T @ pair for k, pair in planes.items()}
    answers = {b % m.p: (m.circles.fixed_a + b) % m.p for b in SECOND_NUMBERS}
    return alignment.answers(points, directions, answers, m.circles.fixed_a)


FIGURES = {
    "curves": Drawing(number="Section 4", draw=pairs.curves, all_of=("clock/no-pos*",)),
    "embedding": Drawing(number="Section 5", draw=_embedding),
    "embedding_circles": Drawing(
        number="Section 5.1",
        draw=_embedding_circles,
        table=Table(title="Circles of W_E", make=lambda m: circles_table(m.circles.circles_of_W_E)),
    ),
    "read_circles": Drawing(
        number="Section 5.2",
        draw=_circles_of_W_L,
        table=Table(title="Circles of W_L", make=lambda m: circles_table(m.circles.circles_of_W_L)),
    ),
    "attention": Drawing(number="Section 6", draw=_attention),
    "explorer": Drawing(number="Section 6.1", draw=petals.family, needs_no_run=True, template="petals.html"),
    "petals": Drawing(
        number="Section 6.2",
        draw=_petals,
        table=Table(
            title="How well each head's output traces a petal in each plane",
            make=lambda m: petal_fits_table(m.circles.petals),
        ),
    ),
    "sums": Drawing(number="Sections 7 and 7.1", draw=_sums),
    "planes": Drawing(number="Section 8, planes", draw=_planes),
    "biases": Drawing(number="Section 8, biases", draw=_biases),
    "linearity": Drawing(
        number="Section 8, does the MLP do more than an affine map?",
        draw=lambda measured: (
            linearity.battery({name: m.circles.mlp_linearity for name, m in measured.items()}) if measured else None
        ),
        all_of=BATTERY,
        table=Table(
            title="All measures of how far the MLP is an affine map",
            make=lambda measured: measured[MAIN].circles.mlp_linearity.table() if MAIN in measured else None,
        ),
    ),
    "without_relu": Drawing(
        number="Section 8, without ReLU",
        draw=partial(pairs.curves, title="Without ReLU, some networks grok late"),
        all_of=("clock/no-relu-*",),
    ),
    "motion": Drawing(
        number="Sections 9.2 and 9.3",
        draw=_motion,
        table=Table(title="Revolution and rotation", make=_motions_table),
    ),
    "neurons_3d": Drawing(
        number="Section 9.4",
        draw=_neurons_3d,
        own_page=("The circle of one frequency in the neurons' activations, in three dimensions"),
    ),
    "mlp_out": Drawing(number="Section 9.5, the MLP's output", draw=_mlp_out),
    "singular": Drawing(
        number="Sections 9.5 and 9.6",
        draw=_singular,
        table=Table(title="Singular vectors of W_out", make=lambda m: m.circles.singular_directions.table()),
    ),
    "readout": Drawing(number="Section 10", draw=_readout),
}
