"""Draw the figures of ARENA's monthly problems from measurements of trained networks."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pandas as pd
import plotly.graph_objects as go
import torch

from modinterp.activations import without_neurons
from modinterp.analyses.sequences.circuits import score_tables
from modinterp.figures import measured, ordering
from modinterp.measurements import SequenceMeasurements
from modinterp.sources.arena.claims.cumsum import means_so_far, projections, u
from modinterp.sources.arena.claims.lists import attention_from, triples
from modinterp.sources.arena.claims.palindrome import differences, errors_by_pair
from modinterp.sources.arena.claims.sort import copied, owner_of, tables
from modinterp.sources.arena.claims.sort_lists import GAPS, right_behind_jumps
from modinterp.sources.arena.claims.subject import judged
from modinterp.sources.arena.runs import CUMSUM, PALINDROME, SORT
from modinterp.sources.arena.sum_drawings import FIGURES as OF_SUMS_AND_LETTERS
from modinterp.sources.drawing import Drawing, Table

Measured = Mapping[str, SequenceMeasurements]


def _short(name: str) -> str:
    return name.removeprefix("arena/")


def _sureness(m: SequenceMeasurements) -> go.Figure:
    table = judged(m).answered.table()
    names = ("accuracy", "mean probability of the right answer", "smallest")
    shown = (*names[:2], "smallest probability of the right answer")
    lines = {
        label: (table["position"].tolist(), table[name].tolist()) for label, name in zip(shown, names, strict=True)
    }
    title = "The network predicts every sign correctly, but is uncertain where the sum is near zero"
    return measured.curves(lines, ("position in the list", "accuracy or probability"), title)


def _attention(m: SequenceMeasurements) -> go.Figure:
    pattern = judged(m).patterns[0].mean(dim=(0, 1))
    places = range(pattern.shape[0])
    lines = {
        f"query position {place}": (list(places)[: place + 1], pattern[place, : place + 1]) for place in (4, 9, 14, 19)
    }
    title = "Each position attends equally to itself and all earlier positions"
    return measured.curves(lines, ("position attended to", "mean attention"), title)


def _line(by_run: Measured) -> go.Figure | None:
    lines = {
        _short(name): (list(range(-m.task.largest, m.task.largest + 1)), u(judged(m)).coordinates)
        for name, m in by_run.items()
    }
    title = "The head writes each number in proportion to its value along one direction, u"
    return measured.curves(lines, ("number", "head output along direction u"), title) if lines else None


def _mean(m: SequenceMeasurements) -> go.Figure:
    m = judged(m)
    (means, sums), along = means_so_far(m), projections(m)
    rows = slice(0, 60)
    points = {
        name: (x[rows].flatten(), along[rows].flatten())
        for name, x in (("mean of the numbers so far", means), ("sum of the numbers so far", sums))
    }
    title = "The residual stream holds the mean of the numbers so far, not the sum"
    return measured.curves(
        points, ("mean or sum of the numbers so far", "residual stream along u"), title, markers=True
    )


def _without(m: SequenceMeasurements) -> go.Figure:
    m = judged(m)
    size, edges = means_so_far(m)[0], torch.linspace(-2.5, 2.5, 26)
    with without_neurons(m.precise, 0) as network:
        cut = m.answers_to(m.sampled, network).correct.double()
    whole = m.answers_to(m.sampled).correct.double()
    middles, lines = (edges[1:] + edges[:-1]) / 2, {}
    for name, correct in (("whole network", whole), ("network without neurons", cut)):
        within = [correct[(size > low) & (size <= high)] for low, high in pairwise(edges)]
        lines[name] = (middles, [float(part.mean()) for part in within])
    title = "The network needs its neurons where the mean of the numbers is near zero"
    return measured.curves(lines, ("mean of the numbers so far", "accuracy"), title)


def _neurons(m: SequenceMeasurements) -> go.Figure:
    m = judged(m)
    boosts = (m.precise.blocks[0].mlp.W_out @ m.folded.W_U).detach()
    neurons = list(range(len(boosts)))
    lines = {name: (neurons, boosts[:, place]) for place, name in enumerate(("negative", "zero", "positive"))}
    title = "Each neuron raises the logits of zero and of one sign, and lowers the logit of the opposite sign"
    return measured.curves(lines, ("neuron", "logit that the neuron adds per unit"), title, markers=True)


def _neuron_table(m: SequenceMeasurements) -> pd.DataFrame:
    m = judged(m)
    reads = (u(m).direction @ m.precise.blocks[0].mlp.W_in).detach()
    columns = {"neuron": range(len(reads)), "rise of the loss without it": m.neuron_rises, "reads of u": reads}
    return pd.DataFrame(columns)


def _sort_attention(by_run: Measured) -> go.Figure | None:
    lines = {}
    for name, m in by_run.items():
        weight = m.patterns[0][:, :, m.task.n : 2 * m.task.n]
        sources = (m.inputs[:, None, : m.task.n] == m.answers[:, : m.task.n, None]).int().argmax(dim=-1)
        to_next = weight.gather(3, sources[:, None, :, None].expand(-1, weight.shape[1], -1, -1)).squeeze(-1)
        lines[_short(name)] = (list(range(m.task.n)), to_next.amax(dim=1).mean(dim=0))
    title = "Attention to the next larger number, in the head that attends to this number more"
    return measured.curves(lines, ("position in the sorted list", "mean attention"), title) if lines else None


def _sort_copies(m: SequenceMeasurements) -> go.Figure:
    found = tables(m)
    own = found.diagonal(dim1=1, dim2=2) - found.mean(dim=-1)
    sets = copied(m)
    lines = {f"head {head}": (list(range(m.task.limit)), own[head]) for head in range(len(own))}
    copied_by = " and ".join(f"{int(each.sum())}" for each in sets[:2])
    title = f"The two heads share the {m.task.limit} numbers: the heads copy {copied_by} numbers"
    return measured.curves(lines, ("attended number", "logit of this number minus the mean logit"), title)


def _sort_scores(m: SequenceMeasurements) -> go.Figure:
    limit = m.task.limit
    title = "Attention scores are highest slightly above the query's number"
    return ordering.tables(score_tables(m.folded)[:, :limit, :limit], title)


def _sort_gaps(by_run: Measured) -> go.Figure | None:
    lines = {_short(name): (GAPS, [right_behind_jumps(m, gap) for gap in GAPS]) for name, m in by_run.items()}
    title = "The network sorts lists wrongly if they contain large jumps, which are rare in training"
    return measured.curves(lines, ("jump to the next number", "accuracy"), title) if lines else None


def _sort_triples(m: SequenceMeasurements) -> go.Figure:
    asked = triples(m.task)
    rows, d = torch.arange(len(asked.number)), asked.number
    pattern = attention_from(m, asked)[rows, owner_of(m)[d + 1]]
    lines = {}
    for above in (1, 2):
        weight = pattern[rows, asked.source(d + above)]
        lines[f"to d + {above}"] = (list(range(m.task.limit - 2)), weight.unflatten(0, (m.task.limit - 2, -1)).mean(1))
    title = "After the number d, d + 2 often gets more attention than the answer d + 1"
    return measured.curves(lines, ("number d", "mean attention, head that copies d + 1"), title)


def _mirror(m: SequenceMeasurements) -> go.Figure:
    places = range(m.task.half + 1, 2 * m.task.half + 1)
    lines = {f"head 0.{head}": (list(places), row) for head, row in enumerate(differences(m))}
    title = "A first-layer head attends to the mirror position where both tokens are equal"
    return measured.curves(lines, ("position", "attention to the mirror: equal minus unequal"), title)


def _blind(by_run: Measured) -> go.Figure | None:
    places = {name: range(m.task.half + 1, 2 * m.task.half + 1) for name, m in by_run.items()}
    lines = {_short(name): (list(places[name]), errors_by_pair(m)) for name, m in by_run.items()}
    title = "Each network misses a mismatch of one pair of letters at some positions"
    return measured.curves(lines, ("position of the mismatch", "share of mismatches missed"), title) if lines else None


FIGURES = {
    "cumsum_sureness": Drawing(number="November: probabilities", draw=_sureness),
    "cumsum_attention": Drawing(number="November: attention", draw=_attention),
    "cumsum_line": Drawing(
        number="November: OV circuit",
        draw=_line,
        all_of=CUMSUM,
        table=Table(
            title="Coordinates of the main run",
            make=lambda by_run: u(judged(by_run[CUMSUM[0]])).table() if CUMSUM[0] in by_run else None,
        ),
    ),
    "cumsum_mean": Drawing(number="November: input of the MLP", draw=_mean),
    "cumsum_without": Drawing(number="November: ablation of the MLP", draw=_without),
    "cumsum_neurons": Drawing(
        number="November: neurons", draw=_neurons, table=Table(title="Neurons", make=_neuron_table)
    ),
    "sort_attention": Drawing(number="October: attention", draw=_sort_attention, all_of=SORT),
    "sort_copies": Drawing(number="October: OV circuit", draw=_sort_copies, first_of=SORT),
    "sort_scores": Drawing(number="October: QK circuit", draw=_sort_scores, first_of=SORT),
    "sort_gaps": Drawing(number="October: adversarial lists", draw=_sort_gaps, all_of=SORT),
    "palindrome_mirror": Drawing(number="July: attention", draw=_mirror, first_of=PALINDROME),
    "palindrome_blind": Drawing(number="July: adversarial inputs", draw=_blind, all_of=PALINDROME),
    "sort_triples": Drawing(number="October: the mystery", draw=_sort_triples, first_of=SORT),
    **OF_SUMS_AND_LETTERS,
}
