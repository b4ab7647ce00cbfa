"""The figures of "Circuit engineering", drawn from runs of ours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import torch
import torch.nn.functional as F
from torch import Tensor

from modinterp.analyses.lines import lines
from modinterp.analyses.ordering import by_gap, mass_on, perfect_copy
from modinterp.claims import Evidence
from modinterp.claims.circuits.data import BALANCED, MAX
from modinterp.claims.circuits.evidence import OrderingEvidence, ordering_evidence
from modinterp.claims.circuits.median import MEDIAN
from modinterp.claims.circuits.sorting import SORT, swaps
from modinterp.figures import ordering, sorting
from modinterp.reproduce import pairs
from modinterp.reproduce.drawings import Draw, Drawings, Make, Runs
from modinterp.tasks import Ordering

EDGES = (0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50)
SMALL_SORT = "circuits/sort-small-0"


def _some(runs: Runs, *names: str) -> dict[str, OrderingEvidence]:
    """The evidence of those of the runs that are there, under short names."""
    return {name.removeprefix("circuits/"): ordering_evidence(runs[name]) for name in names if name in runs}


def _learning(ev: Evidence, runs: Runs) -> go.Figure:
    shown = (MAX[0], BALANCED[0], MEDIAN[0], SORT[0], SMALL_SORT)
    return ordering.learning({key: found.run.history for key, found in _some(runs, *shown).items()})


def _accuracies(ev: Evidence, runs: Runs) -> go.Figure:
    return ordering.accuracies(
        {
            key: {"uniform numbers": found.accuracy, f"all below {found.first}": found.small_accuracy}
            for key, found in _some(runs, MAX[0], BALANCED[0]).items()
        }
    )


def _positions(ev: Evidence, runs: Runs) -> go.Figure:
    found = ordering_evidence(ev.run)
    n, similar = found.n, found.positions
    among, across = (similar[:n, :n].sum() - n) / (n * (n - 1)), similar[:n, n:].mean()
    title = f"Positions: a mean cosine of {among:.2f} among the {n} inputs, of {across:.2f} with CLS and behind"
    return ordering.cosine_maps({ev.run.name: similar}, "position", title)


def _orders(ev: Evidence, runs: Runs) -> go.Figure:
    unit = F.normalize(ordering_evidence(ev.run).pre_in_all_orders[0], dim=1)
    similar = unit @ unit.T
    mixed = torch.randperm(len(similar), generator=torch.Generator().manual_seed(0))
    title = f"Neurons at CLS in all orders of one input: cosines from {float(similar.min()):.3f} on"
    maps = {"orders in sequence": similar, "the same at random": similar[mixed][:, mixed]}
    return ordering.cosine_maps(maps, "order", title, 0)


def _edges(found: OrderingEvidence) -> tuple[int, ...]:
    return tuple(edge for edge in EDGES if edge < found.limit)


def _gaps(ev: Evidence, runs: Runs) -> go.Figure:
    found = ordering_evidence(ev.run)
    mass = mass_on(found.pattern, found.numbers == found.numbers.amax(dim=1, keepdim=True))
    heads = {f"head {h}": by_gap(mass[:, h], found.gap, _edges(found)) for h in range(mass.shape[1])}
    right = {"network": by_gap(found.right(found.logits[:, 0]), found.gap, _edges(found))}
    title = "A clear largest number takes nearly all attention; a close one shares it, and is named all the same"
    return ordering.by_gap(heads, right, title)


def _idealised(ev: Evidence, runs: Runs) -> go.Figure:
    found = ordering_evidence(ev.run)
    patterns: dict[str, Tensor] = {
        "own scores": found.pattern,
        "scores on lines": found.by_lines.pattern(found.uniform.inputs),
    }
    largest = found.numbers == found.numbers.amax(dim=1, keepdim=True)
    mass = {name: by_gap(mass_on(p, largest).mean(dim=1), found.gap, _edges(found)) for name, p in patterns.items()}
    answers = {"network": found.right(found.logits[:, 0])}
    answers |= {
        f"{name}, perfect copy": found.right(perfect_copy(p, found.numbers, found.limit))
        for name, p in patterns.items()
    }
    right = {name: by_gap(own, found.gap, _edges(found)) for name, own in answers.items()}
    return ordering.by_gap(
        mass, right, "Lines and a perfect copy make the algorithm, except where two numbers are close"
    )


def _table(ev: Evidence, runs: Runs) -> go.Figure:
    found = ordering_evidence(ev.run)
    table = found.lookups.number_scores[:, : found.limit, : found.limit]
    return ordering.tables(
        table, "Scores of numbers with numbers, on which no answer depends: nearly a product of lines"
    )


def _sort_table(ev: Evidence, runs: Runs) -> go.Figure:
    title = "Sort, last output: numbers just above the one said before score highest, means of rows and columns aside"
    return ordering.tables(ordering_evidence(ev.run).mutual_scores, title)


def _dimensions(ev: Evidence, runs: Runs) -> go.Figure:
    found = ordering_evidence(ev.run)
    keys, queries = (
        table[: found.n, : found.limit].mean(dim=0)[:, 0] for table in (found.lookups.keys, found.lookups.queries)
    )
    return ordering.dimensions(keys, queries, 0)


def _scores(ev: Evidence, runs: Runs) -> go.Figure:
    found = ordering_evidence(ev.run)
    return ordering.scores(found.scores, found.score_lines)


def _copied(ev: Evidence, runs: Runs) -> go.Figure:
    found = ordering_evidence(ev.run)
    return ordering.copied(found.copying, found.first)


def _robustness(ev: Evidence, runs: Runs) -> go.Figure:
    found = _some(runs, BALANCED[0], MEDIAN[0], SORT[0])
    return ordering.robustness({key: own.tolerance for key, own in found.items()})


def _proven(ev: Evidence, runs: Runs) -> go.Figure:
    found = ordering_evidence(ev.run)
    return ordering.proven(found.bound, found.accuracy)


def _ranks(ev: Evidence, runs: Runs) -> go.Figure:
    title = "Mean attention of each output to the number of each rank: the diagonal would be one rank an output"
    return sorting.ranks(ordering_evidence(ev.run).ranks, title)


def _median_ranks(ev: Evidence, runs: Runs) -> go.Figure:
    title = "Median: mean attention of CLS to the number of each rank; no head looks for the middle alone"
    return sorting.ranks(ordering_evidence(ev.run).ranks, title)


def _swaps(ev: Evidence, runs: Runs) -> go.Figure:
    return sorting.swaps(swaps(ordering_evidence(ev.run)))


def _sort_scores(ev: Evidence, runs: Runs) -> go.Figure:
    found = ordering_evidence(ev.run)
    tokens = [found.limit] + [found.limit // 2] * (found.task.n_read - 1)
    readings = [found.lookups.reading(found.n + output, token) for output, token in enumerate(tokens)]
    return sorting.scores(torch.stack([r.scores[: found.n, : found.limit].mean(dim=0) for r in readings]))


def _widths(ev: Evidence, runs: Runs) -> go.Figure:
    of: dict[str, dict[int, list[float]]] = {"addition": defaultdict(list), "median": defaultdict(list)}
    for name, run in runs.items():
        if "-width-" in name and len(run.history):
            task = "median" if isinstance(run.task, Ordering) else "addition"
            of[task][run.model.cfg.d_model].append(float(run.history["test_loss"].iloc[-1]))
    return ordering.widths({task: losses for task, losses in of.items() if losses})


FIGURES: dict[str, tuple[str, Draw]] = {
    "curves": ("Training", _learning),
    "accuracy": ("Distribution of the data", _accuracies),
    "positions": ("Max: positions", _positions),
    "orders": ("Max: permutations", _orders),
    "gaps": ("Max: attention of CLS", _gaps),
    "table": ("Max: scores of numbers with numbers", _table),
    "dimensions": ("Max: key and query dimensions", _dimensions),
    "scores": ("Max: scores with CLS", _scores),
    "copying": ("Max: OV circuit", _copied),
    "robustness": ("Robustness of copying", _robustness),
    "idealised": ("Max: final algorithm", _idealised),
    "proven": ("Max: proof, not in the source", _proven),
    "median_ranks": ("Median: attention", _median_ranks),
    "sort_positions": ("Sort: positions", _positions),
    "sort_orders": ("Sort: permutations", _orders),
    "ranks": ("Sort: attention", _ranks),
    "swaps": ("Sort: effect of the current number", _swaps),
    "sort_scores": ("Sort: scores", _sort_scores),
    "sort_table": ("Sort: scores by query and key", _sort_table),
    "widths": ("Loss by width", _widths),
    "add_curves": ("Addition: training", partial(pairs.curves, pattern="circuits/add-[0-9]*")),
    "add_attention": (
        "Addition: attention",
        partial(pairs.heads, title="Attention to a is a half on average, and periodic about it"),
    ),
    "add_neurons": ("Addition: neurons", pairs.cluster),
    "add_spectra": ("Addition: W_E in the Fourier basis", pairs.spectra),
}


def _of(table: Callable[[OrderingEvidence], pd.DataFrame]) -> Make:
    return lambda ev, _: table(ordering_evidence(ev.run))


def _lines_by_position(found: OrderingEvidence) -> pd.DataFrame:
    return lines(found.reading.scores[: found.n, : found.limit].transpose(0, 1), found.first).table()


def _proof_table(found: OrderingEvidence) -> pd.DataFrame:
    shares = found.bound.by_largest
    return pd.DataFrame({"largest number": range(len(shares)), "share proven": shares})


TABLES = {
    "scores": ("Lines through the scores, by head", _of(lambda found: found.score_lines.table())),
    "dimensions": ("Lines through the scores, by position and head", _of(_lines_by_position)),
    "copying": ("Copying, by number", _of(lambda found: found.copying.table())),
    "robustness": ("Robustness of the max transformer", _of(lambda found: found.tolerance.table())),
    "proven": ("Proof, by largest number", _of(_proof_table)),
    "ranks": ("Attention of the outputs, by head", _of(lambda found: found.ranks.table())),
}
_SORT_KEYS = ("sort_positions", "sort_orders", "ranks", "swaps", "sort_scores", "sort_table")
_ADD_KEYS = ("add_curves", "add_attention", "add_neurons", "add_spectra")
_FROM = {
    "median_ranks": MEDIAN[0],
    "widths": "circuits/median-width-128-0",
    **dict.fromkeys(_SORT_KEYS, SORT[0]),
    **dict.fromkeys(_ADD_KEYS, "circuits/add-0"),
}
DRAWINGS = Drawings(BALANCED[0], FIGURES, TABLES, drawn_from=_FROM)
