"""The figures of the blog post on the Clock algorithm, drawn from a run of ours."""

from __future__ import annotations

from functools import partial

import pandas as pd
import plotly.graph_objects as go
import torch

from modinterp.analyses.alignment import gains
from modinterp.analyses.circles import circles_table, plane, plane_angles
from modinterp.analyses.fourier import component_norms, frequency_norms
from modinterp.analyses.petals import mixed, petal_fits_table, pulled_back
from modinterp.analyses.rotation import motions_table
from modinterp.claims import Evidence
from modinterp.claims.clock.clockwork import ATTN_OUT, MAIN, MLP_OUT, Clockwork, clockwork
from modinterp.claims.clock.mlp import BATTERY
from modinterp.claims.clock.setup import LOOKED_AT
from modinterp.claims.evidence import NEURONS, PATTERN
from modinterp.figures import alignment, circles, fourier, linearity, motion, petals
from modinterp.reproduce import pairs
from modinterp.reproduce.drawings import Draw, Drawings, Page, Runs

ASKED = (108, 13)


def _cw(ev: Evidence) -> Clockwork:
    return clockwork(ev.run)


def _embedding(ev: Evidence, runs: Runs) -> go.Figure | None:
    norms = {
        f"W_E at epoch {epoch:,}": component_norms(ev.run.at(epoch).W_E[: ev.p].detach())
        for epoch in LOOKED_AT
        if epoch in ev.run.snapshots
    }
    title = "The longer the training, the fewer frequencies the embedding keeps"
    return fourier.spectra(norms, ev.freqs, title) if norms else None


def _unimportant(freqs: tuple[int, ...]) -> list[int]:
    """The source's examples of other frequencies, or the next ones where it is a key frequency."""
    return [next(k for k in range(start, start + 56) if k not in freqs) for start in (3, 25, 50)]


def _embedding_circles(ev: Evidence, runs: Runs) -> go.Figure:
    W_E = ev.W_E.double()
    panels = {f"key frequency {k}": (k, W_E @ plane(W_E, k)) for k in ev.freqs}
    panels |= {f"frequency {k}, not used": (k, W_E @ plane(W_E, k)) for k in _unimportant(ev.freqs)}
    columns = max(len(ev.freqs), 3)
    return circles.planes(panels, "The embedding lies on a circle at each key frequency", "W_E", columns)


def _read_circles(ev: Evidence, runs: Runs) -> go.Figure:
    W = ev.W_L.T.double()
    panels = {f"key frequency {k}: {_cw(ev).read[k].quality:.1%}": (k, W @ plane(W, k)) for k in ev.freqs}
    return circles.planes(panels, "The columns of W_L lie on circles at the same frequencies", "W_L", len(ev.freqs))


def _attention(ev: Evidence, runs: Runs) -> go.Figure:
    cw = _cw(ev)
    to_a = ev.grid[PATTERN][cw.a, :, :, 0]
    norms = [frequency_norms(component_norms(to_a[:, [head]])) for head in range(cw.n_heads)]
    return petals.swinging(to_a, torch.stack(norms, dim=1), [freq for freq, _ in cw.tuning], cw.a)


def _petals(ev: Evidence, runs: Runs) -> go.Figure:
    cw = _cw(ev)
    measured, predicted, names = {}, {}, {}
    for fit in cw.petals:
        reader, _ = pulled_back(cw.W_V[fit.head], cw.planes[fit.embedding])
        key = fit.head, fit.embedding
        measured[key] = cw.z[:, fit.head] @ reader
        predicted[key] = mixed(cw.alpha[:, fit.head], cw.values[fit.head] @ reader, cw.a)
        names[key] = f"head {fit.head} at {fit.attention}, plane {fit.embedding}"
    title = f"With a = {cw.a}, each head's z traces the petals that are predicted (line): R squared above 0.999"
    return petals.heads_by_planes(measured, predicted, names, title)


def _sums(ev: Evidence, runs: Runs) -> go.Figure:
    cw = _cw(ev)
    heads = {k: [cw.o[:, head] @ image for head in range(cw.n_heads)] for k, image in cw.images.items()}
    together = {k: cw.place(ATTN_OUT)[cw.a] @ image for k, image in cw.images.items()}
    return petals.sums(heads, together, [freq for freq, _ in cw.tuning])


def _planes(ev: Evidence, runs: Runs) -> go.Figure:
    cw = _cw(ev)
    written = {k: plane(cw.place(ATTN_OUT)[cw.a], k) for k in cw.freqs}
    angles = {(i, j): plane_angles(cw.planes[i], written[j]) for i in cw.freqs for j in cw.freqs}
    return circles.dihedral_angles(angles, cw.freqs)


def _biases(ev: Evidence, runs: Runs) -> go.Figure:
    cw, mlp = _cw(ev), ev.model.blocks[0].mlp
    W_in = mlp.W_in.detach().double()
    lengths = {k: (W_in.T @ plane(cw.place(ATTN_OUT)[cw.a], k)).norm(dim=1) for k in cw.freqs}
    return circles.sorted_biases(mlp.b_in.detach(), lengths, cw.freqs)


def _linearity(ev: Evidence, runs: Runs) -> go.Figure:
    return linearity.battery({name: clockwork(runs[name]).linearity for name in BATTERY if name in runs})


def _moving(ev: Evidence, hook: str, pairs: tuple[int, ...], title: str) -> go.Figure:
    cw, panels, axes = _cw(ev), {}, []
    for pair in pairs:
        for k in cw.freqs:
            panels[f"frequency {k}, directions {2 * pair + 1} and {2 * pair + 2}"] = (
                k,
                cw.place(hook) @ cw.collected(hook, k).pair(pair),
            )
            axes.append((2 * pair + 1, 2 * pair + 2))
    return motion.moving(panels, title, axes, len(cw.freqs))


def _motion(ev: Evidence, runs: Runs) -> go.Figure:
    title = "What attention writes, a running: above circles revolve; below they turn, where a head has the frequency"
    return _moving(ev, ATTN_OUT, (0, 1), title)


def _mlp_out(ev: Evidence, runs: Runs) -> go.Figure:
    return _moving(ev, MLP_OUT, (0,), "What the MLP writes, a running: the circles stay where they are and turn")


def _neurons_3d(ev: Evidence, runs: Runs) -> go.Figure:
    cw = _cw(ev)
    k = (cw.attended or cw.freqs)[0]
    points = cw.place(NEURONS) @ cw.collected(NEURONS, k).directions[:, :3]
    return motion.in_three_dimensions(points, k, f"Among the neurons the circle of frequency {k} revolves and turns")


def _singular(ev: Evidence, runs: Runs) -> go.Figure:
    cw, W_out = _cw(ev), ev.model.blocks[0].mlp.W_out.detach()
    factors = {k: gains(W_out, cw.collected(NEURONS, k).directions[:, :4]) for k in cw.freqs}
    return alignment.singular(cw.singular, factors, cw.freqs)


def _readout(ev: Evidence, runs: Runs) -> go.Figure:
    cw = _cw(ev)
    pairs = {k: cw.collected(MLP_OUT, k).pair(0) for k in cw.freqs}
    points = {k: cw.place(MLP_OUT)[cw.a] @ pair for k, pair in pairs.items()}
    directions = {k: ev.model.W_U.detach().double()[:, : cw.p].T @ pair for k, pair in pairs.items()}
    return alignment.answers(points, directions, {b % cw.p: (cw.a + b) % cw.p for b in ASKED}, cw.a)


def _motions(ev: Evidence, runs: Runs) -> pd.DataFrame:
    cw = _cw(ev)
    places = {"attention": ATTN_OUT, "neurons": NEURONS, "MLP": MLP_OUT}
    return motions_table(
        {
            f"{name}, directions {2 * pair + 1} and {2 * pair + 2}, frequency {k}": cw.motion(hook, k, pair)
            for name, hook in places.items()
            for pair in (0, 1)
            for k in cw.freqs
        }
    )


FIGURES: dict[str, tuple[str, Draw]] = {
    "curves": ("Section 4", partial(pairs.curves, pattern="clock/no-pos*")),
    "embedding": ("Section 5", _embedding),
    "embedding_circles": ("Section 5.1", _embedding_circles),
    "read_circles": ("Section 5.2", _read_circles),
    "attention": ("Section 6", _attention),
    "explorer": ("Section 6.1", lambda ev, _: petals.family()),
    "petals": ("Section 6.2", _petals),
    "sums": ("Sections 7 and 7.1", _sums),
    "planes": ("Section 8, planes", _planes),
    "biases": ("Section 8, biases", _biases),
    "linearity": ("Section 8, does the MLP do more than an affine map?", _linearity),
    "without_relu": (
        "Section 8, without ReLU",
        partial(pairs.curves, pattern="clock/no-relu-*", title="Without ReLU: some networks grok, late"),
    ),
    "motion": ("Sections 9.2 and 9.3", _motion),
    "neurons_3d": ("Section 9.4", _neurons_3d),
    "mlp_out": ("Section 9.5, the MLP's output", _mlp_out),
    "singular": ("Sections 9.5 and 9.6", _singular),
    "readout": ("Section 10", _readout),
}

TABLES = {
    "embedding_circles": ("Circles of W_E", lambda ev, _: circles_table(_cw(ev).embedded)),
    "read_circles": ("Circles of W_L", lambda ev, _: circles_table(_cw(ev).read)),
    "petals": ("Every head in every plane", lambda ev, _: petal_fits_table(_cw(ev).petals)),
    "linearity": ("The whole battery", lambda ev, _: _cw(ev).linearity.table()),
    "motion": ("Revolution and rotation", _motions),
    "singular": ("Singular vectors of W_out", lambda ev, _: _cw(ev).singular.table()),
}

PAGES = (Page("linearity", "Does the MLP do more than an affine map?", ("linearity", "without_relu", "biases")),)
DRAWINGS = Drawings(MAIN, FIGURES, TABLES, PAGES, {"explorer": "petals.html"})
