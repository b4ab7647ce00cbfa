"""The sort transformer, which says the numbers one after the other."""

from __future__ import annotations

from statistics import mean

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.explained import fraction_explained
from modinterp.analyses.lines import polynomial_explained
from modinterp.analyses.sorting import TokenSwap, token_swap
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.circuits.copying import robustness
from modinterp.claims.circuits.data import LEARNED
from modinterp.claims.circuits.evidence import OrderingEvidence, of_each
from modinterp.claims.circuits.invariance import order_cosines, position_cosines
from modinterp.claims.claim import HOLDS, Claim, Finding, Value, refuted
from modinterp.models import TransformerConfig
from modinterp.runs import named

SORT = tuple(f"circuits/sort-{seed}" for seed in range(3))
ONE_HEAD = tuple(f"circuits/sort-one-head-{seed}" for seed in range(3))
ACCURACY = {"test accuracy": at_least(0.5, LEARNED)}


def _curves(ev: OrderingEvidence) -> dict[str, float]:
    right = ev.generated == ev.uniform.labels
    return {
        "test accuracy by token": ev.accuracy,
        "generated, by token": float(right.double().mean()),
        "generated, whole sequences": float(right.all(dim=1).double().mean()),
        "test loss": ev.loss,
        "accuracy where all numbers are small": ev.small_accuracy,
    }


def _positions(ev: OrderingEvidence) -> dict[str, float]:
    found = position_cosines(ev)
    among, across = found["mean cosine among input positions"], found["mean cosine of input and output positions"]
    return {"mean cosine among input positions": among, "the same less that with output positions": among - across}


def _hits(ev: OrderingEvidence, *outputs: int) -> dict[str, float]:
    """Best head's share of inputs in which an output attends most to the number of its own rank."""
    return {f"best head, output {o + 1} of {ev.n}": float(ev.ranks.first[o, :, o].max()) for o in outputs}


def _last(ev: OrderingEvidence) -> dict[str, float]:
    return {
        "most attended is the largest, best head": float(ev.ranks.first[-1, :, -1].max()),
        "mass on the largest, best head": float(ev.ranks.mass[-1, :, -1].max()),
    }


def _second_last(ev: OrderingEvidence) -> dict[str, float]:
    of_outputs = _hits(ev, *range(ev.n))
    last_two = list(of_outputs.values())[-2:]
    return {"best head, the worse of the last two outputs": min(last_two), **of_outputs}


def _inputs_only(ev: OrderingEvidence) -> dict[str, float]:
    behind = ev.ranks.to_outputs + ev.ranks.to_cls
    return {
        "mean attention to CLS and behind": float(behind.mean()),
        "worst head and output": float(behind.max()),
        "mean attention to outputs alone": float(ev.ranks.to_outputs[1:].mean()),
    }


def swaps(ev: OrderingEvidence) -> list[TokenSwap]:
    """For every output after the first, what a random token in place of the number before it does."""
    generator, found = torch.Generator().manual_seed(0), []
    for rank in range(1, ev.n):
        inputs = ev.uniform.inputs[:2000].clone()
        inputs[:, ev.n + rank] = torch.randint(ev.limit, (len(inputs),), generator=generator)
        answers = ev.answered(inputs)[:, rank].argmax(dim=1)
        found.append(token_swap(answers, inputs[:, : ev.n], inputs[:, ev.n + rank], rank))
    return found


def _swapped(ev: OrderingEvidence) -> dict[str, float]:
    found = swaps(ev)
    unchanged, larger = mean(s.unchanged for s in found), mean(s.next_larger for s in found)
    return {
        "answers by place less answers by token": unchanged - larger,
        "answers by place": unchanged,
        "answers by token": larger,
        "answers by place, worst output": min(s.unchanged for s in found),
        "test accuracy": ev.accuracy,
    }


def _polynomial(ev: OrderingEvidence) -> dict[str, float]:
    """By head: how well lines and cubics fit the scores of the inputs, mean over outputs and input positions."""
    readings = [ev.lookups.reading(ev.n + o, ev.limit if o == 0 else ev.limit // 2) for o in range(ev.task.n_read)]
    scores = torch.stack([r.scores[: ev.n, : ev.limit] for r in readings]).permute(2, 0, 1, 3)
    line, square, cube = (polynomial_explained(scores, degree).mean(dim=(0, 1)) for degree in (1, 2, 3))
    best = int((cube - line).argmax())
    return {
        "R squared of cubics less that of lines, best head": float((cube - line)[best]),
        "R squared of cubics, that head": float(cube[best]),
        "R squared of squares, that head": float(square[best]),
        "R squared of lines, that head": float(line[best]),
        "R squared of lines, best head": float(line.max()),
        "test accuracy": ev.accuracy,
    }


def _by_difference(ev: OrderingEvidence) -> dict[str, float]:
    """Of the last output's scores, how much goes by the difference of the number to be said and the one that stands there.

    The difference of numbers put in a random order is what a table of this size gives by chance.
    """
    table, generator = ev.mutual_scores, torch.Generator().manual_seed(0)
    rows, columns = (torch.randperm(ev.limit, generator=generator) for _ in range(2))
    return {
        "share of the scores explained by the difference of two numbers, best head": max(map(_along_diagonals, table)),
        "worst head": min(map(_along_diagonals, table)),
        "the same of shuffled numbers, best head": max(map(_along_diagonals, table[:, rows][:, :, columns])),
        "test accuracy": ev.accuracy,
    }


def _along_diagonals(table: Float[Tensor, "number number"]) -> float:
    """Share of a table's variance that the means of its diagonals explain."""
    n, entries = len(table), table.cpu().flatten()
    diagonal = (torch.arange(n) - torch.arange(n)[:, None] + n - 1).flatten()
    sums = torch.zeros(2 * n - 1, dtype=entries.dtype).index_add_(0, diagonal, entries)
    return fraction_explained(entries, (sums / diagonal.bincount())[diagonal])


def _architecture() -> dict[str, Value]:
    sort, median = named(SORT[0]), named("circuits/median-0")
    models = [spec.model for spec in (sort, median) if isinstance(spec.model, TransformerConfig)]
    return {
        "layers": max(model.n_layers for model in models),
        "positions of the sort": sort.model.n_ctx,
        "answers of the sort": sort.task.n_read,
        "positions of the median": median.model.n_ctx,
        "heads": models[0].n_heads,
        "dimensions of a head": models[0].d_head,
    }


def _claim(name: str, where: str, statement: str, reference: str, measure, expected, figure: str = "",
           seeds: int = 3, runs: tuple[str, ...] = SORT, finding: Finding = HOLDS) -> Claim:  # fmt: skip
    return Claim(f"circuits.sort.{name}", f"Sort transformer, {where}", statement, reference, of_each(measure), expected,
                 needs=runs[:seeds], scope="any seed" if seeds > 1 else "this run", finding=finding, figure=figure)  # fmt: skip


CLAIMS = (
    _claim(
        "curves", "training", "The network learns to say the numbers in order.", "loss and accuracy curves", _curves,
        {"test accuracy by token": at_least(0.9, "learned; the source prints no number")}, "curves",
    ),
    _claim(
        "pos_sim", "positions", "The embeddings of the input positions are alike.", "a heat-map", _positions,
        {
            "mean cosine among input positions": at_least(0.6, "alike in the source's heat-map, seed-specific"),
            "the same less that with output positions": at_least(0, "more than with the outputs"),
        },
        "sort_positions", seeds=1,
    ),
    _claim(
        "permutations", "permutations", "The neurons at CLS are nearly the same in all orders of the inputs.", "about 1",
        order_cosines,
        {"mean cosine": at_least(0.95, "about 1 everywhere in the heat-map"), **ACCURACY},
        "sort_orders",
    ),
    _claim(
        "last_pos_max", "attention of the tenth position", "Where the last number is said, heads attend to the largest.",
        "the largest", _last,
        {"most attended is the largest, best head": at_least(0.8, "stated without exception")}, "ranks",
    ),
    _claim(
        "second_last", "attention", "The output before the last attends to the second largest number, and so on.",
        "one rank an output", _second_last,
        {"best head, the worse of the last two outputs": at_least(0.7, "stated of these two, \"and so on\"")}, "ranks",
        finding=refuted(
            "the last output attends to the largest in 93% to 97% of the inputs, but the one before it to the second "
            "largest in 55% to 60% with its best head, the two before that in 57% to 60% and 53% to 59%"
        ),
    ),
    _claim(
        "attends_inputs_only", "effect of the current number", "Outputs attend to the inputs, not to what was said before.",
        "never to earlier outputs", _inputs_only,
        {"mean attention to CLS and behind": at_most(0.15, "never, as far as a softmax can be")}, "ranks",
    ),
    _claim(
        "position_not_value", "effect of the current number",
        "With another token at an output, the answer is more often that of its place than the number next above the token.",
        "mostly", _swapped,
        {
            "answers by place less answers by token": at_least(0, "the number of the place rather than the next larger"),
            **ACCURACY,
        },
        "swaps",
    ),
    _claim(
        "one_head", "one head", "A network with one head is no simpler.", "complicated too", _polynomial,
        {"R squared of cubics less that of lines, best head": at_least(0.05, "scores on lines would be simple"),
         "R squared of cubics, that head": at_least(0.5, "scores that no polynomial fits say nothing of lines"), **ACCURACY},
        runs=ONE_HEAD,
    ),
    _claim(
        "qk_nonlinear", "QK analysis", "Scores vary with the number like a polynomial, not like a line.",
        "curves in four figures", _polynomial,
        {
            "R squared of cubics less that of lines, best head": at_least(0.05, "clearly bent"),
            "R squared of cubics, that head": at_least(0.5, "a polynomial that fits nothing describes nothing"),
            **ACCURACY,
        },
        "sort_scores",
    ),
    _claim(
        "qk_positions", "QK analysis, other positions", "The tables of scores at other positions follow no plain rule.",
        "no pattern found", _by_difference,
        {
            "share of the scores explained by the difference of two numbers, best head": at_most(0.5, "most of it is a rule"),
            **ACCURACY,
        },
        "sort_table", seeds=1,
        finding=refuted(
            "in three heads of four 75% to 77% of the scores, each row's and column's mean set aside, go by the difference of "
            "the number to be said and the one said before (2% where numbers are shuffled): the next larger ones score highest"
        ),
    ),
    _claim(
        "ov_robust", "robustness", "Copying stands 30% to 40% of another number mixed in.", "30% to 40%", robustness,
        {"share of another number tolerated": between(0.15, 0.55, "30% to 40% in the source, seed-specific")},
        "robustness", seeds=1,
    ),
    Claim(
        "circuits.sort_or_median.arch",
        "Problem statement",
        "Networks are decoders of one layer; the sort is said token by token after five numbers and CLS.",
        "5 numbers, CLS, 4 of the 5 answers fed back",
        _architecture,
        {
            "layers": equals(1),
            "positions of the sort": equals(10),
            "answers of the sort": equals(5),
            "positions of the median": equals(6),
        },
        needs=(),
        scope="any network",
    ),
)  # fmt: skip
