"""Draw the figures of "Circuit engineering" from measurements of trained networks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from modinterp.analyses.order.largest_number import gap_means, mass_on, perfect_copy
from modinterp.analyses.statistics.lines import lines
from modinterp.figures import ordering, sorting
from modinterp.measurements import NetworkMeasurements, OrderMeasurements
from modinterp.sources import pair_drawings as pairs
from modinterp.sources.circuits.claims.sorting import swaps
from modinterp.sources.circuits.runs import ADD, BALANCED, MAX, MEDIAN, SMALL_SORT, SORT
from modinterp.sources.drawing import Drawing, Table
from modinterp.tasks import Ordering

EDGES = (0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50)  # of the bins of gaps between the largest and the next number
LEARNING = (MAX[0], BALANCED[0], MEDIAN[0], SORT[0], SMALL_SORT)
ROBUST = (BALANCED[0], MEDIAN[0], SORT[0])
Measured = Mapping[str, OrderMeasurements]


def _short_names(measured: Measured, names: tuple[str, ...]) -> dict[str, OrderMeasurements]:
    """Return the measurements of the available runs, in the order of the names, under names without the source's name."""
    return {name.removeprefix("circuits/"): measured[name] for name in names if name in measured}


def _learning(measured: Measured) -> go.Figure | None:
    histories = {name: m.history for name, m in _short_names(measured, LEARNING).items() if len(m.history)}
    return ordering.learning(histories) if histories else None


def _accuracies(measured: Measured) -> go.Figure | None:
    accuracies = {
        name: {"uniform numbers": m.accuracy, f"numbers below {m.smallest_number}": m.small_accuracy}
        for name, m in _short_names(measured, (MAX[0], BALANCED[0])).items()
    }
    return ordering.accuracies(accuracies) if accuracies else None


def _positions(m: OrderMeasurements) -> go.Figure:
    n, cosines = m.n, m.positions
    among, across = (cosines[:n, :n].sum() - n) / (n * (n - 1)), cosines[:n, n:].mean()
    title = (
        f"Position embeddings: mean cosine {among:.2f} among the {n} inputs, {across:.2f} with CLS and later positions"
    )
    return ordering.cosine_maps({m.name: cosines}, "position", title)


def _orders(m: OrderMeasurements) -> go.Figure:
    unit = F.normalize(m.pre_in_all_orders[0], dim=1)
    cosines = unit @ unit.T
    shuffled = torch.randperm(len(cosines), generator=torch.Generator().manual_seed(0))
    title = f"Neurons at CLS in all orders of one input: the smallest cosine is {float(cosines.min()):.3f}"
    maps = {"orders in sequence": cosines, "orders at random": cosines[shuffled][:, shuffled]}
    return ordering.cosine_maps(maps, "order of the input", title, 0)


def _by_gap(m: OrderMeasurements, values: Float[Tensor, " input"] | Bool[Tensor, " input"]) -> pd.DataFrame:
    """Return the means of a number of each uniform input, by the gap between its largest and its next number."""
    return gap_means(values, m.gap, tuple(edge for edge in EDGES if edge < m.limit))


def _mass_on_largest(m: OrderMeasurements, pattern: Float[Tensor, "input head pos"]) -> Float[Tensor, "input head"]:
    """Attention to the largest number of each uniform input."""
    return mass_on(pattern, m.numbers == m.numbers.amax(dim=1, keepdim=True))


def _gaps(m: OrderMeasurements) -> go.Figure:
    mass = _mass_on_largest(m, m.pattern)
    heads = {f"head {head}": _by_gap(m, mass[:, head]) for head in range(mass.shape[1])}
    accuracy = {"network": _by_gap(m, m.correct_first(m.logits[:, 0]))}
    title = (
        "A number that is clearly the largest gets nearly all attention; numbers close to each other share "
        "attention, and the network still answers the larger number"
    )
    return ordering.by_gap(heads, accuracy, title)


def _idealised(m: OrderMeasurements) -> go.Figure:
    patterns = {"network's scores": m.pattern, "linear scores": m.cls_by_lines.pattern(m.uniform.inputs)}
    mass = {name: _by_gap(m, _mass_on_largest(m, pattern).mean(dim=1)) for name, pattern in patterns.items()}
    accuracy = {"network": _by_gap(m, m.correct_first(m.logits[:, 0]))}
    for name, pattern in patterns.items():
        logits = perfect_copy(pattern, m.numbers, m.limit)
        accuracy[f"{name}, perfect copy"] = _by_gap(m, m.correct_first(logits))
    title = "Linear attention scores and a perfect copy give the right answer, except where two numbers are close"
    return ordering.by_gap(mass, accuracy, title)


def _number_scores(m: OrderMeasurements) -> go.Figure:
    title = "Attention scores between numbers are nearly a product of two lines; no answer depends on these scores"
    return ordering.tables(m.lookups.number_scores[:, : m.limit, : m.limit], title)


def _mutual_scores(m: OrderMeasurements) -> go.Figure:
    title = (
        "Sort, last output: numbers just above the previous answer have the highest attention scores (row and "
        "column means removed)"
    )
    return ordering.tables(m.mutual_scores, title)


def _dimensions(m: OrderMeasurements) -> go.Figure:
    keys, queries = (vectors[: m.n, : m.limit].mean(dim=0)[:, 0] for vectors in (m.lookups.keys, m.lookups.queries))
    return ordering.dimensions(keys, queries, 0)


def _robustness(measured: Measured) -> go.Figure | None:
    tolerances = {name: m.tolerance for name, m in _short_names(measured, ROBUST).items()}
    return ordering.robustness(tolerances) if tolerances else None


def _proof_table(m: OrderMeasurements) -> pd.DataFrame:
    shares = m.bound.by_largest
    return pd.DataFrame({"largest number": range(len(shares)), "share proven": shares})


def _ranks(m: OrderMeasurements) -> go.Figure:
    title = "Mean attention of each output to each rank: on the diagonal, each output would attend to one rank"
    return sorting.ranks(m.ranks, title)


def _median_ranks(m: OrderMeasurements) -> go.Figure:
    title = "Median: mean attention of CLS to each rank; no head attends to the middle number alone"
    return sorting.ranks(m.ranks, title)


def _sort_scores(m: OrderMeasurements) -> go.Figure:
    tokens = [m.limit] + [m.limit // 2] * (m.task.n_read - 1)
    queries = [m.lookups.query_position(m.n + output, token) for output, token in enumerate(tokens)]
    return sorting.scores(torch.stack([query.scores[: m.n, : m.limit].mean(dim=0) for query in queries]))


def _widths(measured: Mapping[str, NetworkMeasurements]) -> go.Figure | None:
    losses: dict[str, dict[int, list[float]]] = {"addition": defaultdict(list), "median": defaultdict(list)}
    for m in measured.values():
        if m.spec is not None and len(m.history):
            task = "median" if isinstance(m.task, Ordering) else "addition"
            losses[task][m.spec.model.d_model].append(float(m.history["test_loss"].iloc[-1]))
    known = {task: by_width for task, by_width in losses.items() if by_width}
    return ordering.widths(known) if known else None


FIGURES = {
    "curves": Drawing(number="Training", draw=_learning, all_of=LEARNING),
    "accuracy": Drawing(number="Distribution of the data", draw=_accuracies, all_of=(MAX[0], BALANCED[0])),
    "positions": Drawing(number="Max: positions", draw=_positions),
    "orders": Drawing(number="Max: permutations", draw=_orders),
    "gaps": Drawing(number="Max: attention of CLS", draw=_gaps),
    "table": Drawing(number="Max: attention scores between numbers", draw=_number_scores),
    "dimensions": Drawing(
        number="Max: key and query dimensions",
        draw=_dimensions,
        table=Table(
            title="Lines fitted to the attention scores, by position and head",
            make=lambda m: lines(m.cls.scores[: m.n, : m.limit].transpose(0, 1), m.smallest_number).table(),
        ),
    ),
    "scores": Drawing(
        number="Max: scores with CLS",
        draw=lambda m: ordering.scores(m.scores, m.score_lines),
        table=Table(title="Lines fitted to the attention scores, by head", make=lambda m: m.score_lines.table()),
    ),
    "copying": Drawing(
        number="Max: OV circuit",
        draw=lambda m: ordering.copy_margins(m.copying, m.smallest_number),
        table=Table(title="Copying, by number", make=lambda m: m.copying.table()),
    ),
    "robustness": Drawing(
        number="Robustness of copying",
        draw=_robustness,
        all_of=ROBUST,
        table=Table(
            title="How much of another number copying tolerates in the network for the maximum",
            make=lambda measured: measured[BALANCED[0]].tolerance.table() if BALANCED[0] in measured else None,
        ),
    ),
    "idealised": Drawing(number="Max: final algorithm", draw=_idealised),
    "proven": Drawing(
        number="Max: proof, not in the source",
        draw=lambda m: ordering.proven_shares(m.bound, m.accuracy),
        table=Table(title="Share of inputs proved right, by largest number", make=_proof_table),
    ),
    "median_ranks": Drawing(number="Median: attention", draw=_median_ranks, first_of=(MEDIAN[0],)),
    "sort_positions": Drawing(number="Sort: positions", draw=_positions, first_of=(SORT[0],)),
    "sort_orders": Drawing(number="Sort: permutations", draw=_orders, first_of=(SORT[0],)),
    "ranks": Drawing(
        number="Sort: attention",
        draw=_ranks,
        first_of=(SORT[0],),
        table=Table(title="Attention of the outputs, by head", make=lambda m: m.ranks.table()),
    ),
    "swaps": Drawing(
        number="Sort: effect of the current number", draw=lambda m: sorting.swaps(swaps(m)), first_of=(SORT[0],)
    ),
    "sort_scores": Drawing(number="Sort: scores", draw=_sort_scores, first_of=(SORT[0],)),
    "sort_table": Drawing(number="Sort: scores by query and key", draw=_mutual_scores, first_of=(SORT[0],)),
    "widths": Drawing(number="Loss by width", draw=_widths, all_of=("circuits/*-width-*",)),
    "add_curves": Drawing(number="Addition: training", draw=pairs.curves, all_of=ADD),
    "add_attention": Drawing(
        number="Addition: attention",
        draw=partial(
            pairs.heads, title=("Attention to the first number is one half on average, and periodic about this mean")
        ),
        first_of=(ADD[0],),
    ),
    "add_neurons": Drawing(number="Addition: neurons", draw=pairs.cluster, first_of=(ADD[0],)),
    "add_spectra": Drawing(number="Addition: W_E in the Fourier basis", draw=pairs.spectra, first_of=(ADD[0],)),
}
