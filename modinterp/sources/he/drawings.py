"""Draw the figures of He, Wang, Chen and Yang 2026, and figures of our additional findings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import plotly.graph_objects as go
import torch
from torch import Tensor

from modinterp.figures.theme import CATEGORIES, MUTED, TEST, TRAIN, array, panels, with_panel_title
from modinterp.interventions.effects import answers_moved
from modinterp.measurements import CyclicMeasurements
from modinterp.models import ACTIVATIONS
from modinterp.runs import NotRecorded
from modinterp.sources.drawing import Drawing
from modinterp.sources.he.claims.grokking import kinds_of, logits_at, right_probability
from modinterp.sources.he.flow import euler, times_to_dominate
from modinterp.sources.he.idealised import accuracy, evenly_spread, own_logits, pair_logits, sigma_of
from modinterp.sources.he.logit_shape import centred
from modinterp.sources.he.neuron_waves import angles, waves_at, waves_of, wrapped
from modinterp.sources.he.runs import P


class Line(NamedTuple):
    """A line or a set of points in one panel of a figure.

    Attributes:
        x, y: coordinates of the points.
        name: text in the legend.
        colour: colour of the line or the points.
        mode: plotly's drawing mode, `lines` or `markers`.
    """

    x: Sequence[float] | Tensor
    y: Sequence[float] | Tensor
    name: str
    colour: str = CATEGORIES[0]
    mode: str = "lines"


def _drawn(lines: Mapping[str, Sequence[Line]], axes: Mapping[str, tuple[str, str]], title: str) -> go.Figure:
    """Draw panels of lines.

    Args:
        lines: name of a panel to its lines.
        axes: name of a panel to the names of its axes.
        title: what to see.
    """
    figure, places = panels(lines)
    named: set[str] = set()
    for name, (row, column) in places.items():
        for line in lines[name]:
            trace = go.Scatter(
                x=array(line.x), y=array(line.y), name=line.name, mode=line.mode, legendgroup=line.name,
                showlegend=line.name not in named, line={"color": line.colour}, marker={"color": line.colour, "size": 4},
            )  # fmt: skip
            figure.add_trace(trace, row=row, col=column)
            named.add(line.name)
        x_name, y_name = axes[name]
        figure.update_xaxes(title=x_name, row=row, col=column)
        figure.update_yaxes(title=y_name, row=row, col=column)
    return with_panel_title(figure, title, places)


def _phases(m: CyclicMeasurements) -> go.Figure:
    last, first = waves_of(m), waves_at(m, 0)
    lines, axes = {}, {}
    for name, waves in (("before training", first), ("after training", last)):
        twice, psi = wrapped(2 * waves.phi), wrapped(waves.at_winner(waves.written.angle()))
        lines[name] = [Line(twice, psi, "neurons", mode="markers")]
        axes[name] = ("2 phi, twice the phase read [rad]", "psi, phase written [rad]")
    return _drawn(lines, axes, "Every neuron learns an output phase of twice its input phase")


def _waves(m: CyclicMeasurements) -> go.Figure:
    waves, lines, axes = waves_of(m), {}, {}
    order = waves.share_read.argsort()
    for place in (len(order) // 2, len(order) - 1):
        n, residues = int(order[place]), torch.arange(waves.p)
        cosine = waves.alpha[n] * (angles(waves.p)[waves.winner[n]] + waves.phi[n]).cos()
        name = f"neuron {n}, frequency {int(waves.winner[n]) + 1}: {float(waves.share_read[n]):.0%} of the energy"
        by_angle = (int(waves.winner[n] + 1) * residues % waves.p).argsort()
        lines[name] = [
            Line(torch.arange(waves.p), waves.theta[n][by_angle], "input weights of the neuron", mode="lines+markers"),
            Line(torch.arange(waves.p), cosine[by_angle], "best-fitting cosine", MUTED),
        ]
        axes[name] = ("residue, ordered by its angle", "weight theta")
    return _drawn(lines, axes, "The input weights of neurons with ReLU are closer to square waves than a cosine is")


def _profile(logits: Tensor) -> Tensor:
    """Return the mean centred logit where j = x + s(y - x), over s in units of (y - x), for all x != y: [s = -4 .. 5]
    by halves.
    """
    p = len(logits)
    x, y = torch.meshgrid(torch.arange(p), torch.arange(p), indexing="ij")
    off = x != y
    rows = centred(logits)[off]
    at = [(2 * x + s * (y - x))[off] % p for s in range(-4, 7)]  # s = 0: 2x, 1: x + y, 2: 2y, -1: 3x - y, 3: 3y - x
    return torch.stack([rows.gather(1, j.unsqueeze(1)).mean() for j in at])


_STEPS = list(range(-4, 7))


def _scaled(profile: Tensor) -> Tensor:
    return profile / profile[_STEPS.index(1)]


def _ideal_profiles() -> dict[str, Tensor]:
    read, written = evenly_spread(P, 64, start=2 * math.pi * 0.31 / 64)
    ideal = {
        "squares of cosines": (read, ACTIVATIONS["square"]),
        "ReLU of cosines": (read, ACTIVATIONS["relu"]),
        "ReLU of square waves": (read.sign(), ACTIVATIONS["relu"]),
    }
    return {name: _scaled(_profile(pair_logits(theta, written, sigma))) for name, (theta, sigma) in ideal.items()}


_OF_PROFILE = ("s, for the answer 2x + s(y - x); s = 1 is right", "mean logit over mean logit of x + y")


def _ideal_logits() -> go.Figure:
    lines = [Line(_STEPS, y, name, CATEGORIES[i]) for i, (name, y) in enumerate(_ideal_profiles().items())]
    title = (
        "Ghosts (side peaks) at 2x and 2y are half of the main peak for squares, a third for ReLU, and absent for "
        "square waves"
    )
    return _drawn({"ideal networks": lines}, {"ideal networks": _OF_PROFILE}, title)


def _ghosts(measured: Mapping[str, CyclicMeasurements]) -> go.Figure | None:
    networks = {name: m for name, m in measured.items() if m.has_weights}
    lines = [
        Line(_STEPS, _scaled(_profile(own_logits(waves_of(m)))), name, CATEGORIES[i])
        for i, (name, m) in enumerate(networks.items())
    ]
    ideal = [Line(_STEPS, y, name, CATEGORIES[5 + i]) for i, (name, y) in enumerate(_ideal_profiles().items())]
    names = ("trained networks", "ideal networks")
    title = (
        "Trained networks have smaller ghosts (side peaks) than squared cosines, whose ghosts are half as high "
        "as the peak"
    )
    return (
        _drawn(dict(zip(names, (lines, ideal), strict=True)), dict.fromkeys(names, _OF_PROFILE), title)
        if lines
        else None
    )


def _vote(m: CyclicMeasurements) -> go.Figure:
    waves, generator = waves_of(m), torch.Generator().manual_seed(0)
    sigma, n = sigma_of(waves), len(waves.theta)
    sizes = [2**i for i in range(int(math.log2(n)) + 1)]

    def of(size: int) -> float:
        draws = [torch.randperm(n, generator=generator)[:size] for _ in range(3)]
        return sum(accuracy(pair_logits(waves.theta[rows], waves.xi[rows], sigma)) for rows in draws) / len(draws)

    groups = [accuracy(pair_logits(waves.theta[waves.winner == k], waves.xi[waves.winner == k], sigma))
              for k in waves.winner.unique()]  # fmt: skip
    panel, by_frequency = "random neurons", "all neurons of one frequency"
    lines = {
        panel: [Line(sizes, [of(size) for size in sizes], "accuracy", mode="lines+markers")],
        by_frequency: [Line(list(range(1, len(groups) + 1)), groups, "accuracy", mode="markers")],
    }
    axes = {
        panel: ("number of neurons", "accuracy, mean of 3 draws"),
        by_frequency: ("number of the frequency", "accuracy of these neurons alone"),
    }
    figure = _drawn(
        lines, axes, "One neuron alone is no better than guessing; a few hundred neurons together answer every pair"
    )
    figure.update_xaxes(type="log", row=1, col=1)
    return figure.update_yaxes(range=[0, 1.05])


def _lottery(m: CyclicMeasurements) -> go.Figure:
    first, last = waves_at(m, 0), waves_of(m)
    times = times_to_dominate(first.read.abs(), first.written.abs(), first.misalignments, m.p)
    won = torch.zeros_like(times, dtype=torch.bool).scatter_(1, last.winner.unsqueeze(1), True)
    D, sizes = first.misalignments.abs(), first.read.abs()
    shown = torch.randperm(int((~won).sum()), generator=torch.Generator().manual_seed(0))[:1000]
    rank = times.argsort(dim=1).argsort(dim=1)[won]
    shares = rank.bincount(minlength=times.shape[1]).double() / len(rank)
    start, by_rank = "frequencies of every neuron at the start", "rank of the winner by time to dominate"
    lines = {
        start: [
            Line(D[~won][shown], sizes[~won][shown], "frequency that lost", MUTED, "markers"),
            Line(D[won], sizes[won], "frequency that won", TEST, "markers"),
        ],
        by_rank: [Line(list(range(1, len(shares) + 1)), shares, "share of the neurons", TRAIN, "lines+markers")],
    }
    axes = {start: ("initial misalignment |D| [rad]", "initial amplitude alpha"),
            by_rank: ("rank; 1 is the shortest time", "share of the neurons")}  # fmt: skip
    return _drawn(
        lines,
        axes,
        "In each neuron, a frequency with large and aligned initial weights wins; the gradient flow "
        "predicts which frequency",
    )


def _attractor() -> go.Figure:
    lines: dict[str, list[Line]] = {"misalignment": [], "size": []}
    for i, (phi, psi) in enumerate(((1.5, 0.18), (-0.72, -2.91), (0.25, 0.0))):
        z, w = (torch.polar(torch.tensor([0.02]).double(), torch.tensor([a]).double()) for a in (phi, psi))
        D, alpha = [], []
        for _ in range(140):
            z, w = euler(z, w, P, torch.full((10,), 1.0))
            D.append(float(wrapped(2 * z.angle() - w.angle()).abs()))
            alpha.append(float(z.abs()))
        steps, name = list(range(10, 1410, 10)), f"D(0) = {float(wrapped(torch.tensor(2 * phi - psi))):.2f}"
        known = [step for step, size in zip(steps, alpha, strict=True) if size < 1]
        lines["misalignment"].append(Line(known, D[: len(known)], name, CATEGORIES[i]))
        lines["size"].append(Line(known, alpha[: len(known)], name, CATEGORIES[i]))
    axes = {"misalignment": ("steps", "misalignment |D| [rad]"), "size": ("steps", "amplitude alpha")}
    return _drawn(lines, axes, "In the gradient flow, phases align first, and amplitudes grow afterwards")


def _alignment_first(m: CyclicMeasurements) -> go.Figure:
    epochs = [e for e in sorted(m.snapshots) if e % 200 == 0]
    if len(epochs) < 3:
        raise NotRecorded(f"no snapshots of {m.name} are available")
    waves = [waves_at(m, epoch) for epoch in epochs]
    lines = {
        "misalignment": [Line(epochs, [float(w.D.abs().median()) for w in waves], "median |D|", mode="lines+markers")],
        "size": [Line(epochs, [float(w.alpha.mean()) for w in waves], "mean alpha", TEST, "lines+markers")],
    }
    axes = {"misalignment": ("epoch", "median misalignment |D| [rad]"), "size": ("epoch", "mean amplitude alpha")}
    return _drawn(lines, axes, "In a trained network, phases align first, and amplitudes grow afterwards")


def _stages(measured: Mapping[str, CyclicMeasurements]) -> go.Figure | None:
    lines: dict[str, list[Line]] = {name: [] for name in ("train accuracy", "test accuracy", "norm of the weights")}
    for i, (name, m) in enumerate(measured.items()):
        h = m.history
        if len(h):
            columns = (h["train_accuracy"], h["test_accuracy"], h["sum_of_squared_weights"] ** 0.5)
            for panel, y in zip(lines, columns, strict=True):
                lines[panel].append(Line(h["epoch"], y, name, CATEGORIES[i]))  # type: ignore[arg-type]
    axes = {name: ("epoch", name) for name in lines}
    title = "Accuracy with and without weight decay: memorisation, a plateau, and slow generalisation"
    return _drawn(lines, axes, title) if lines["train accuracy"] else None


def _kinds_of_pairs(m: CyclicMeasurements) -> go.Figure:
    kinds, epochs = kinds_of(m), sorted(e for e in m.snapshots if e)
    if not epochs:
        raise NotRecorded(f"no snapshots of {m.name} are available")
    logits = {epoch: logits_at(m, epoch) for epoch in epochs}
    right = {epoch: answers_moved(x) for epoch, x in logits.items()}
    sure = {epoch: right_probability(x) for epoch, x in logits.items()}
    lines: dict[str, list[Line]] = {"accuracy": [], "probability of the right answer": []}
    for i, (name, where) in enumerate(vars(kinds).items()):
        if where.any():
            for panel, found in zip(lines, (right, sure), strict=True):
                y = [float(found[epoch][where].double().mean()) for epoch in epochs]
                lines[panel].append(Line(epochs, y, name, CATEGORIES[i], "lines+markers"))
    axes = {panel: ("epoch", panel) for panel in lines}
    figure = _drawn(
        lines,
        axes,
        "The network learns common pairs first, then rare and mirrored pairs, then unseen pairs, but never unseen "
        "pairs x = y",
    )
    return figure.update_xaxes(type="log")


FIGURES = {
    "phases": Drawing(number="Figures 5 and 6", draw=_phases),
    "waves": Drawing(number="Figure 4", draw=_waves),
    "vote": Drawing(number="Section 3.2", draw=_vote),
    "ghosts": Drawing(
        number="Figure 8", draw=_ghosts, all_of=("he/std-42", "he/sgd-42", "he/quad-42", "he/quad1-42", "he/grok-42")
    ),
    "ideal_logits": Drawing(number="Proposition 1", draw=_ideal_logits, needs_no_run=True),
    "attractor": Drawing(number="Figure 9", draw=_attractor, needs_no_run=True),
    "alignment_first": Drawing(
        number="Sections 4.3 and 4.4", draw=_alignment_first, first_of=("he/quad1-42", "he/quad1-*")
    ),
    "lottery": Drawing(number="Figure 11", draw=_lottery, first_of=("he/quad-42", "he/quad-*")),
    "stages": Drawing(number="Figure 14", draw=_stages, all_of=("he/grok-42", "he/grok-wd0-42")),
    "kinds_of_pairs": Drawing(number="Figures 15 and 16", draw=_kinds_of_pairs, first_of=("he/grok-42", "he/grok-*")),
}
