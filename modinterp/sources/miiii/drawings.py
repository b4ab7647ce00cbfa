"""Draw the figures of Syrkis & Søgaard 2024 (MIIII) from measurements of trained networks, or from numbers
alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import plotly.graph_objects as go
import torch

from modinterp.analyses.embeddings.primality import multiples
from modinterp.analyses.embeddings.singular_vectors import amplitudes
from modinterp.analyses.training.generalisation import infinite_if_never
from modinterp.analyses.training.phases import LEARNED
from modinterp.figures import embeddings, grids, neurons, remainders, searches, spirals
from modinterp.measurements import PairMeasurements
from modinterp.runs.search import searches as searches_in
from modinterp.sources.drawing import Drawing
from modinterp.sources.miiii.claims.neurons import CORNER, attention_corner
from modinterp.sources.miiii.claims.task import SMALL_P, N
from modinterp.sources.miiii.runs import BASIS, CODED, NANDA, PRINTED, SMALL
from modinterp.sources.miiii.search import SPACE
from modinterp.sources.nanda.runs import SEEDS as MAINLINE
from modinterp.tasks import PrimeRemainders, addition, primes_below

TURNS = (2 * math.pi, 11.0, 4 * math.pi, 17.0, 6 * math.pi, 23.0)  # how many numbers make a full turn of the spiral
LARGEST_SMALL = tuple(reversed(SMALL))
OVER_P = (*SMALL, PRINTED, CODED)
Measured = Mapping[str, PairMeasurements]


def _polar() -> go.Figure:
    sets = {
        "multiples of 17 or 23": multiples([17, 23], N),
        "multiples of 11": multiples([11], N),
        "primes": torch.tensor(primes_below(N)),
    }
    return spirals.polar(sets, TURNS)


def _labels() -> go.Figure:
    task = PrimeRemainders(SMALL_P)
    panels = {f"remainder by {q}": task.labels()[:, i] for i, q in enumerate(task.output_sizes)}
    panels[f"x0 + x1 mod {SMALL_P}"] = addition(SMALL_P).labels()[:, 0]
    return remainders.labels({name: values.view(SMALL_P, SMALL_P) for name, values in panels.items()})


def _short_names(measured: Measured, names: tuple[str, ...]) -> dict[str, PairMeasurements]:
    """Return the measurements of the available runs, in the order of the names, under names without the source's name."""
    return {name.removeprefix("miiii/"): measured[name] for name in names if name in measured}


def _title(m: PairMeasurements, name: str = "") -> str:
    """Task and run as titles have them, such as `T_miiii (p113-half-0)`.

    Args:
        name: of the run; its own by default.
    """
    shuffled = isinstance(m.task, PrimeRemainders) and m.task.shuffled
    task = "T_basis" if shuffled else "T_miiii" if len(m.task.output_sizes) > 1 else "T_nanda"
    return f"{task} ({(name or m.name).removeprefix('miiii/')})"


def _size(m: PairMeasurements) -> str:
    """p, and the share of the inputs that is trained on where it is known."""
    return f"{m.p}" if m.spec is None else f"{m.p}, {m.recipe.fraction:.0%}"


def _over_training(m: PairMeasurements, column: str, value: str, title: str, log: bool) -> go.Figure:
    parts = {"trained on": m.questions.curve(f"train_{column}"), "held out": m.questions.curve(f"test_{column}")}
    primes = [str(q) for q in m.task.output_sizes]
    return remainders.over_training(m.history["epoch"].tolist(), parts, primes, value, title, log)


def _accuracy(m: PairMeasurements) -> go.Figure | None:
    if not len(m.history):
        return None
    memorised, generalised = (
        int((m.questions.final(f"{split}_accuracy") >= LEARNED).sum()) for split in ("train", "test")
    )
    tasks = f"p = {_size(m)} of the inputs: {memorised} of {len(m.task.output_sizes)} tasks"
    title = f"{tasks} are memorised (left) and {generalised} tasks generalise (right)"
    return _over_training(m, "accuracy", "accuracy", title, False)


def _losses(m: PairMeasurements) -> go.Figure | None:
    if not len(m.history):
        return None
    title = "Cross-entropy of every task on training inputs (left) and on held-out inputs (right)"
    return _over_training(m, "loss", "nats", title, True)


def _neuron(m: PairMeasurements) -> go.Figure:
    n = m.peak_neuron
    title = (
        f"Neuron {n} has few frequencies; the largest is {float(m.neuron_peaks[n]):.0f} times the mean of its transform"
    )
    return neurons.neuron_and_transform(m.post[..., n], CORNER, title)


def _active(m: PairMeasurements) -> go.Figure | None:
    if m.run.spectra is None:
        return None
    counts = {
        "one standard deviation above the mean": m.questions.active_over_training(1),
        "two standard deviations above the mean": m.questions.active_over_training(2),
    }
    return remainders.active_frequencies(m.questions.logged_spectra.epochs.tolist(), m.questions.logged_norms, counts)


def _positions(measured: Measured) -> go.Figure | None:
    shown = _short_names(measured, (*NANDA, *MAINLINE, PRINTED, CODED))
    W_pos = {_title(m, name): m.W_pos for name, m in shown.items() if m.has_weights}
    return embeddings.positions(W_pos) if W_pos else None


def _singular_values(measured: Measured) -> go.Figure | None:
    shown = _short_names(measured, (NANDA[0], CODED))
    svds = {_title(m, name): m.embedding_svd for name, m in shown.items()}
    return embeddings.singular_values(svds) if svds else None


def _vectors(m: PairMeasurements) -> go.Figure:
    return embeddings.singular_vectors(m.embedding_svd, m.singular_vectors, _title(m))


def _spectrum(m: PairMeasurements) -> go.Figure:
    return embeddings.spectrum(amplitudes(m.W_E), _title(m))


def _attention(m: PairMeasurements) -> go.Figure:
    fields = {f"head {head}": corner for head, corner in enumerate(attention_corner(m))}
    return grids.maps(fields, "attention", f"{_title(m)}: attention of each head to the first digit", 1)


def _primality(m: PairMeasurements) -> go.Figure:
    numbers, test = m.questions.remainders.numbers(), m.questions.primality
    counted = numbers >= m.p
    called, prime = (m.predicted != 0).all(dim=1), torch.isin(numbers, torch.tensor(primes_below(m.p**2)))
    groups = {
        "primes found": called & prime,
        "primes missed": ~called & prime,
        "other numbers called prime": called & ~prime,
    }
    title = f"Primes found from the remainders alone: precision {test.precision:.2%}, recall {test.recall:.2%}"
    return spirals.primality_calls({name: numbers[group & counted] for name, group in groups.items()}, title)


def _with_history(measured: Measured) -> list[PairMeasurements]:
    """Measurements of the runs of several p whose history is there, the smallest p first."""
    return [m for m in _short_names(measured, OVER_P).values() if len(m.history)]


def _trends(measured: Measured) -> go.Figure | None:
    times, lengths = {}, {}
    for m in _with_history(measured):
        epochs = infinite_if_never(m.questions.learning_times.generalised)
        times[f"p = {_size(m)}"] = dict(zip(m.task.output_sizes, epochs, strict=True))
        lengths[f"p = {_size(m)}"] = float(m.history["epoch"].iloc[-1])
    return remainders.trends(times, lengths) if times else None


def _sizes(measured: Measured) -> go.Figure | None:
    shown = [m for m in _with_history(measured) if m.has_weights]
    rows = [
        {
            "share of the tasks solved": m.questions.n_generalised / len(m.task.output_sizes),
            "F1 of the primality test": m.questions.primality.f1,
            "Pearson correlation of positions": m.position_likeness.pearson,
            "effective rank of the embedding / p": m.effective_rank / m.p,
            "share of strong frequencies": len(m.significant_frequencies) / (m.p // 2),
            "Gini coefficient of the spectrum": m.embedding_gini,
        }
        for m in shown
    ]
    return remainders.sizes([_size(m) for m in shown], rows) if rows else None


def _search() -> go.Figure | None:
    results = searches_in(SPACE)
    return searches.parallel_coordinates(results[-1]) if results else None


def _importances() -> go.Figure | None:
    results = searches_in(SPACE)
    return searches.importances(results[-1]) if results else None


FIGURES = {
    "polar": Drawing(number="Figure 1", draw=_polar, needs_no_run=True),
    "inputs": Drawing(
        number="Figure 2",
        draw=lambda: remainders.inputs(PrimeRemainders(SMALL_P).numbers().view(SMALL_P, SMALL_P)),
        needs_no_run=True,
    ),
    "labels": Drawing(number="Figure 3", draw=_labels, needs_no_run=True),
    "search": Drawing(number="Table 1: search for hyper-parameters", draw=_search, needs_no_run=True),
    "importances": Drawing(
        number="Table 1: which hyper-parameters mattered", draw=_importances, needs_no_run=True, beside="search"
    ),
    "neuron": Drawing(number="Figure 4", draw=_neuron),
    "accuracy": Drawing(number="Figure 5", draw=_accuracy),
    "losses": Drawing(number="Figure 6", draw=_losses),
    "positions": Drawing(number="Figure 7", draw=_positions, all_of=(*NANDA, *MAINLINE, PRINTED, CODED)),
    "singular_values": Drawing(number="Figure 8", draw=_singular_values, all_of=(NANDA[0], CODED)),
    "vectors_nanda": Drawing(number="Figure 9", draw=_vectors, first_of=NANDA),
    "vectors_miiii": Drawing(number="Figure 10", draw=_vectors),
    "spectrum_nanda": Drawing(number="Figure 11", draw=_spectrum, first_of=NANDA),
    "spectrum_miiii": Drawing(number="Figure 12", draw=_spectrum),
    "spectrum_basis": Drawing(number="Figure 13", draw=_spectrum, first_of=(BASIS,)),
    "attention": Drawing(number="Attention visualization", draw=_attention, first_of=(CODED, NANDA[0])),
    "active": Drawing(number="Table 3 of the source's later text", draw=_active),
    "primality": Drawing(number="The primality test", draw=_primality),
    "accuracy_printed": Drawing(
        number="Figure 5 for a network trained on 30% of the inputs, as the text states",
        draw=_accuracy,
        first_of=(PRINTED,),
        beside="accuracy",
    ),
    "accuracy_small": Drawing(
        number="Trends over p: figure 5 for the largest smaller p",
        draw=_accuracy,
        first_of=LARGEST_SMALL,
        beside="accuracy",
    ),
    "trends": Drawing(
        number="Trends over p: when each task generalises", draw=_trends, all_of=OVER_P, beside="accuracy"
    ),
    "sizes": Drawing(number="Trends over p: numbers", draw=_sizes, all_of=OVER_P, beside="accuracy"),
}
