"""The sort transformer: its scores by number, with four heads and with one, its copying, and its architecture."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.statistics.explained import fraction_explained
from modinterp.analyses.statistics.lines import polynomial_explained
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.claim import Claim, Value, each, refuted
from modinterp.measurements import OrderMeasurements
from modinterp.models import TransformerConfig
from modinterp.sources.circuits.claims.conditions import TEST_ACCURACY
from modinterp.sources.circuits.claims.copying import TOLERATED, robustness
from modinterp.sources.circuits.claims.sorting import SORT_LEARNED
from modinterp.sources.circuits.runs import MEDIAN, ONE_HEAD, RUNS, SORT

CUBIC_LESS_LINE = "R squared of cubics less that of lines, best head"
CUBIC_FIT = "R squared of cubics, that head"
BY_DIFFERENCE = "share of the scores explained by the difference of two numbers, best head"
LAYERS = "layers"
SORT_POSITIONS = "positions of the sort"
SORT_ANSWERS = "answers of the sort"
MEDIAN_POSITIONS = "positions of the median"


def _polynomial(m: OrderMeasurements) -> dict[str, float]:
    """How well lines, squares and cubics fit the scores of a head, means over outputs and input positions."""
    queries = [m.lookups.query_position(m.n + o, m.limit if o == 0 else m.limit // 2) for o in range(m.task.n_read)]
    scores = torch.stack([query.scores[: m.n, : m.limit] for query in queries]).permute(2, 0, 1, 3)
    line, square, cube = (polynomial_explained(scores, degree).mean(dim=(0, 1)) for degree in (1, 2, 3))
    best = int((cube - line).argmax())
    return {
        CUBIC_LESS_LINE: float((cube - line)[best]),
        CUBIC_FIT: float(cube[best]),
        "R squared of squares, that head": float(square[best]),
        "R squared of lines, that head": float(line[best]),
        "R squared of lines, best head": float(line.max()),
        TEST_ACCURACY: m.accuracy,
    }


def _by_difference(m: OrderMeasurements) -> dict[str, float]:
    """Share of the last output's scores that the difference of two numbers explains: the answer and the token there.

    Beside it stands what the difference of shuffled numbers explains, which is chance.
    """
    table, generator = m.mutual_scores, torch.Generator().manual_seed(0)
    rows, columns = (torch.randperm(m.limit, generator=generator) for _ in range(2))
    return {
        BY_DIFFERENCE: max(map(_along_diagonals, table)),
        "worst head": min(map(_along_diagonals, table)),
        "the same of shuffled numbers, best head": max(map(_along_diagonals, table[:, rows][:, :, columns])),
        TEST_ACCURACY: m.accuracy,
    }


def _along_diagonals(table: Float[Tensor, "query_token key_token"]) -> float:
    """Share of a table's variance that the means of its diagonals explain."""
    n, entries = len(table), table.cpu().flatten()
    diagonal = (torch.arange(n) - torch.arange(n)[:, None] + n - 1).flatten()
    sums = torch.zeros(2 * n - 1, dtype=entries.dtype).index_add_(0, diagonal, entries)
    return fraction_explained(entries, (sums / diagonal.bincount())[diagonal])


def _architecture() -> dict[str, Value]:
    """Layers, heads and positions of the networks for sort and median."""
    sort, median = RUNS[SORT[0]], RUNS[MEDIAN[0]]
    models = [spec.model for spec in (sort, median) if isinstance(spec.model, TransformerConfig)]
    return {
        LAYERS: max(model.n_layers for model in models),
        SORT_POSITIONS: sort.model.n_ctx,
        SORT_ANSWERS: sort.task.n_read,
        MEDIAN_POSITIONS: median.model.n_ctx,
        "heads": models[0].n_heads,
        "dimensions of a head": models[0].d_head,
    }


CLAIMS = (
    Claim(
        id="circuits.sort.one_head",
        where="Sort transformer, one head",
        statement="A network with one head is no simpler.",
        source_says="complicated too",
        measure=each(_polynomial),
        expected={
            CUBIC_LESS_LINE: at_least(0.05, "scores on lines would be simple"),
            CUBIC_FIT: at_least(0.5, "scores that no polynomial fits say nothing of lines"),
            **SORT_LEARNED,
        },
        needs=ONE_HEAD,
        scope="any seed",
    ),
    Claim(
        id="circuits.sort.qk_nonlinear",
        where="Sort transformer, QK analysis",
        statement="Scores vary with the number like a polynomial, not like a line.",
        source_says="curves in four figures",
        measure=each(_polynomial),
        expected={
            CUBIC_LESS_LINE: at_least(0.05, "clearly bent"),
            CUBIC_FIT: at_least(0.5, "a polynomial that fits nothing describes nothing"),
            **SORT_LEARNED,
        },
        needs=SORT,
        scope="any seed",
        figure="sort_scores",
    ),
    Claim(
        id="circuits.sort.qk_positions",
        where="Sort transformer, QK analysis, other positions",
        statement="The tables of scores at other positions follow no plain rule.",
        source_says="no pattern found",
        measure=each(_by_difference),
        expected={
            BY_DIFFERENCE: at_most(0.5, "most of it is a rule"),
            **SORT_LEARNED,
        },
        needs=SORT[:1],
        finding=refuted(
            "in three heads of four 75% to 77% of the scores, each row's and column's mean set aside, go by the "
            "difference of the number to be said and the one said before (2% where numbers are shuffled): the next "
            "larger ones score highest"
        ),
        figure="sort_table",
    ),
    Claim(
        id="circuits.sort.ov_robust",
        where="Sort transformer, robustness",
        statement="Copying stands 30% to 40% of another number mixed in.",
        source_says="30% to 40%",
        measure=each(robustness),
        expected={TOLERATED: between(0.15, 0.55, "30% to 40% in the source, seed-specific")},
        needs=SORT[:1],
        figure="robustness",
    ),
    Claim(
        id="circuits.sort_or_median.arch",
        where="Problem statement",
        statement="Networks are decoders of one layer; the sort is said token by token after five numbers and CLS.",
        source_says="5 numbers, CLS, 4 of the 5 answers fed back",
        measure=_architecture,
        expected={
            LAYERS: equals(1),
            SORT_POSITIONS: equals(10),
            SORT_ANSWERS: equals(5),
            MEDIAN_POSITIONS: equals(6),
        },
        needs=(),
        scope="any network",
    ),
)
