"""The figures of Syrkis & Søgaard 2024 (MIIII), drawn from runs of ours; the first three from numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import plotly.graph_objects as go
import torch

from modinterp.analyses.embeddings import amplitudes
from modinterp.analyses.generalisation import by_output, never_last
from modinterp.analyses.primality import multiples
from modinterp.claims import Evidence
from modinterp.claims.evidence import MAINLINE
from modinterp.claims.miiii.evidence import BASIS, CODED, CORNER, NANDA, PRINTED, SMALL, DigitsEvidence, digits_evidence
from modinterp.figures import embeddings, grids, neurons, remainders, search, spirals
from modinterp.reproduce.drawings import Draw, Drawings, Runs
from modinterp.runs.search import Search, searches
from modinterp.tasks import PrimeRemainders, addition, primes_below

P, SMALL_P = 113, 11
TURNS = (2 * math.pi, 11.0, 4 * math.pi, 17.0, 6 * math.pi, 23.0)


def _polar() -> go.Figure:
    n = P * P
    sets = {"multiples of 17 or 23": multiples([17, 23], n), "multiples of 11": multiples([11], n),
            "primes": torch.tensor(primes_below(n))}  # fmt: skip
    return spirals.polar(sets, TURNS)


def _inputs() -> go.Figure:
    return remainders.inputs(PrimeRemainders(SMALL_P).numbers().view(SMALL_P, SMALL_P))


def _labels() -> go.Figure:
    task = PrimeRemainders(SMALL_P)
    panels = {f"remainder by {q}": task.labels()[:, i] for i, q in enumerate(task.heads)}
    panels[f"x0 + x1 mod {SMALL_P}"] = addition(SMALL_P).labels()[:, 0]
    return remainders.labels({name: values.view(SMALL_P, SMALL_P) for name, values in panels.items()})


def _of(runs: Runs, *names: str) -> dict[str, DigitsEvidence]:
    """The evidence of those of the runs that are there, under short names."""
    return {name.removeprefix("miiii/"): digits_evidence(runs[name]) for name in names if name in runs}


def _with_weights(found: dict[str, DigitsEvidence]) -> dict[str, DigitsEvidence]:
    """Those whose weights came with them."""
    return {name: one for name, one in found.items() if one.run.has_weights}


def _own(ev: Evidence) -> DigitsEvidence:
    return digits_evidence(ev.run)


def _over_training(ev: Evidence, column: str, value: str, title: str, log: bool) -> go.Figure | None:
    history, task = ev.run.history, ev.task
    if not len(history):
        return None
    shown = {"trained on": "train", "held out": "test"}
    parts = {name: by_output(history, task.output_names, f"{split}_{column}") for name, split in shown.items()}
    return remainders.over_training(history["epoch"].tolist(), parts, [str(q) for q in task.heads], value, title, log)


def _sized(found: DigitsEvidence) -> str:
    """p and the share of the inputs that it is trained on."""
    return f"{found.p}" if found.run.spec is None else f"{found.p}, {found.run.spec.recipe.fraction:.0%}"


def _accuracy(ev: Evidence, runs: Runs) -> go.Figure | None:
    if not len(ev.run.history):
        return None
    last = {split: int((_own(ev).last(f"{split}_accuracy") >= 0.99).sum()) for split in ("train", "test")}
    tasks = f"p = {_sized(_own(ev))} of the inputs: of {len(ev.task.heads)} tasks"
    title = f"{tasks} {last['train']} are memorised (left) and {last['test']} generalised (right) by the end"
    return _over_training(ev, "accuracy", "accuracy", title, False)


def _losses(ev: Evidence, runs: Runs) -> go.Figure | None:
    title = "Cross-entropy of every task, on what is trained on (left) and on what is held out (right)"
    return _over_training(ev, "loss", "nats", title, True)


def _neuron(ev: Evidence, runs: Runs) -> go.Figure:
    own = _own(ev)
    n = own.peak_neuron
    title = f"Neuron {n}: a few frequencies, the largest {float(own.peaks[n]):.0f} times the mean of its transform"
    return neurons.neuron_and_transform(own.post[..., n], CORNER, title)


def _active(ev: Evidence, runs: Runs) -> go.Figure | None:
    if ev.run.spectra is None:
        return None
    own, named = _own(ev), {"above the mean by one deviation": 1, "by two deviations": 2}
    counts = {name: own.active_over_training(deviations) for name, deviations in named.items()}
    return remainders.active_frequencies(own.log.epochs.tolist(), own.logged_norms, counts)


def _positions(ev: Evidence, runs: Runs) -> go.Figure:
    found = _with_weights(_of(runs, *NANDA, *MAINLINE, PRINTED, CODED))
    return embeddings.positions({_titled(name, one): one.run.model.pos_embed.W_pos for name, one in found.items()})


def _titled(name: str, found: DigitsEvidence) -> str:
    return f"{'T_miiii' if len(found.primes) > 1 else 'T_nanda'} ({name})"


def _singular_values(ev: Evidence, runs: Runs) -> go.Figure:
    found = _of(runs, NANDA[0], CODED)
    return embeddings.singular_values({_titled(name, one): one.singular for name, one in found.items()})


def _vectors(ev: Evidence, runs: Runs) -> go.Figure:
    own = _own(ev)
    return embeddings.singular_vectors(own.singular, own.vectors, _titled(ev.run.name.removeprefix("miiii/"), own))


def _spectrum(ev: Evidence, runs: Runs) -> go.Figure:
    own = _own(ev)
    shuffled = isinstance(own.task, PrimeRemainders) and own.task.shuffled
    name = ev.run.name.removeprefix("miiii/")
    return embeddings.spectrum(amplitudes(own.W_E), f"T_basis ({name})" if shuffled else _titled(name, own))


def _attention(ev: Evidence, runs: Runs) -> go.Figure:
    own = _own(ev)
    fields = {f"head {h}": corner for h, corner in enumerate(own.corners)}
    title = f"{_titled(ev.run.name.removeprefix('miiii/'), own)}: attention to the first digit, head by head"
    return grids.maps(fields, "attention", title, 1)


def _primality(ev: Evidence, runs: Runs) -> go.Figure:
    own = _own(ev)
    assert isinstance(own.task, PrimeRemainders)
    numbers, found = own.task.numbers(), own.primality
    asked = numbers >= own.p
    called, prime = (own.predicted != 0).all(dim=1), torch.isin(numbers, torch.tensor(primes_below(own.p**2)))
    groups = {
        "primes found": called & prime, "primes missed": ~called & prime, "others called prime": called & ~prime
    }  # fmt: skip
    title = f"Primes by remainders alone: precision {found.precision:.2%}, recall {found.recall:.2%}"
    return spirals.called({name: numbers[chosen & asked] for name, chosen in groups.items()}, title)


def _trained(runs: Runs) -> dict[str, DigitsEvidence]:
    return {name: found for name, found in _of(runs, *SMALL, PRINTED, CODED).items() if len(found.run.history)}


def _trends(ev: Evidence, runs: Runs) -> go.Figure | None:
    found = _trained(runs)
    times = {
        f"p = {_sized(one)}": dict(zip(one.primes, never_last(one.times.generalised), strict=True))
        for one in found.values()
    }
    lengths = {f"p = {_sized(one)}": float(one.run.history["epoch"].iloc[-1]) for one in found.values()}
    return remainders.trends(times, lengths) if times else None


def _sizes(ev: Evidence, runs: Runs) -> go.Figure | None:
    found = _with_weights(_trained(runs))
    rows = [
        {"share of the tasks solved": one.solved / len(one.primes), "F1 of the primality test": one.primality.f1,
         "Pearson of the positions": one.positions.pearson, "effective rank / p": one.effective_rank / one.p,
         "share of frequencies above a quarter": len(one.significant) / (one.p // 2),
         "Gini coefficient of the spectrum": one.gini}
        for one in found.values()
    ]  # fmt: skip
    return remainders.sizes([_sized(one) for one in found.values()], rows) if rows else None


FIGURES: dict[str, tuple[str, Draw]] = {
    "neuron": ("Figure 4", _neuron),
    "accuracy": ("Figure 5", _accuracy),
    "losses": ("Figure 6", _losses),
    "positions": ("Figure 7", _positions),
    "singular_values": ("Figure 8", _singular_values),
    "vectors_nanda": ("Figure 9", _vectors),
    "vectors_miiii": ("Figure 10", _vectors),
    "spectrum_nanda": ("Figure 11", _spectrum),
    "spectrum_miiii": ("Figure 12", _spectrum),
    "spectrum_basis": ("Figure 13", _spectrum),
    "attention": ("Attention visualization", _attention),
    "active": ("Table 3 of the source's later text", _active),
    "primality": ("The primality test", _primality),
    "accuracy_printed": ("Figure 5 from 30% of the inputs, as the text prints it", _accuracy),
    "accuracy_small": ("Trends over p: figure 5 for the largest smaller p", _accuracy),
    "trends": ("Trends over p: when each task generalises", _trends),
    "sizes": ("Trends over p: numbers", _sizes),
}


def _of_search(draw: Callable[[Search], go.Figure]) -> go.Figure | None:
    found = searches()
    return draw(found[-1]) if found else None


OF_NO_RUN = {
    "polar": ("Figure 1", _polar),
    "inputs": ("Figure 2", _inputs),
    "labels": ("Figure 3", _labels),
    "search": ("Table 1: a search", partial(_of_search, search.parallel_coordinates)),
    "importances": ("Table 1: what mattered in it", partial(_of_search, search.importances)),
}
ANY = (CODED, *NANDA)
LARGEST_SMALL = tuple(reversed(SMALL))
DRAWN_FROM = {
    "positions": ANY, "singular_values": (CODED, NANDA[0]), "vectors_nanda": NANDA, "spectrum_nanda": NANDA,
    "spectrum_basis": BASIS, "attention": (CODED, NANDA[0]), "accuracy_printed": PRINTED,
    "accuracy_small": LARGEST_SMALL, "trends": (CODED, *LARGEST_SMALL), "sizes": (CODED, *LARGEST_SMALL),
}  # fmt: skip
DRAWINGS = Drawings(
    CODED,
    FIGURES,
    drawn_from=DRAWN_FROM,
    of_no_run=OF_NO_RUN,
    companions={"accuracy": ("accuracy_printed", "accuracy_small", "trends", "sizes"), "search": ("importances",)},
    beside={"trends": (*SMALL, PRINTED)},
)
