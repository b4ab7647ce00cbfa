"""The max transformer's QK circuit: CLS scores numbers by their size."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.order.ordering import attention_to_largest
from modinterp.analyses.statistics.lines import correlation, lines
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.claim import Claim, each, refuted
from modinterp.measurements import OrderMeasurements
from modinterp.measurements.orders import QUERIES
from modinterp.sources.circuits.claims.conditions import ACCURATE, LEARNED, TEST_ACCURACY
from modinterp.sources.circuits.runs import BALANCED

MASS_GAP_TENTH = "mass on the largest, worst head, gap of a tenth"
FIRST_GAP_TENTH = "most attended is the largest, worst head, gap of a tenth"
MASS_ALL = "mass on the largest, worst head, all inputs"
MASS_GAP_1 = "mass on the largest, worst head, gap 1"
ACCURACY_GAP_1 = "accuracy at gap 1"
NEAR_DIAGONAL = "score near the diagonal less elsewhere"
QUERY_EFFECT = "change of the logits without these queries"
QUERY_SPREAD = "spread of the query at CLS over inputs"
KEYS_ON_LINES = "variance of the keys on lines"
OPPOSITE_SLOPES = "dimensions of opposite slopes"
LEAST_CLS_SLOPE = "smallest slope of the scores with CLS"
SLOPE_ERROR = "slope from key lines over sqrt(d_head), error"
EXAMPLE_FIT = "R squared of the dimension nearest to 0.012"
BEST_HEAD_FIT = "R squared, best head"
WORST_HEAD_FIT = "R squared, worst head"
LEAST_SLOPE = "smallest slope"
LOWEST_CENTRE = "smallest centre, of 100 numbers"
HIGHEST_CENTRE = "largest centre, of 100 numbers"
PATTERN_CHANGE = "largest change of the pattern"
LOWEST_CORRELATION = "correlation, worst head"
ACCURACY_DROP = "drop in accuracy"
EXAMPLE = 0.012  # slope of the dimension that the report shows


def _exclusive(m: OrderMeasurements) -> dict[str, float]:
    """Attention of CLS to the largest number, of the worst head, by how far that leads."""
    wide = m.gap >= m.limit // 10
    far = attention_to_largest(m.pattern[wide], m.numbers[wide])
    everywhere, tight = attention_to_largest(m.pattern, m.numbers), m.gap == 1
    near = attention_to_largest(m.pattern[tight], m.numbers[tight])
    place = m.numbers.argmax(dim=1)
    by_place = [attention_to_largest(m.pattern[own], m.numbers[own]).mass.min()
                for own in (wide & (place == p) for p in range(m.n)) if own.any()]  # fmt: skip
    return {
        MASS_GAP_TENTH: float(far.mass.min()),
        FIRST_GAP_TENTH: float(far.first.min()),
        MASS_ALL: float(everywhere.mass.min()),
        MASS_GAP_1: float(near.mass.min()),
        "the first, worst place of the largest": float(torch.stack(by_place).min()) if by_place else float("nan"),
        ACCURACY_GAP_1: float(m.correct_first(m.logits[:, 0])[tight].double().mean()),
    }


def _near_diagonal(table: Float[Tensor, "head query key"]) -> float:
    """Mean score of numbers at most a twentieth apart, less that of all others; mean over heads. [nats]"""
    numbers = torch.arange(table.shape[1])
    near = (numbers[:, None] - numbers).abs() <= len(numbers) // 20
    return float(table[:, near].mean() - table[:, ~near].mean())


def _number_table(m: OrderMeasurements) -> dict[str, float]:
    """Scores of numbers with numbers near the diagonal of their table, and whether any answer depends on them."""
    return {
        NEAR_DIAGONAL: _near_diagonal(m.lookups.number_scores[:, : m.limit, : m.limit]),
        TEST_ACCURACY: m.accuracy,
        QUERY_EFFECT: m.change_by_other_queries(),
    }


def _queries(m: OrderMeasurements) -> dict[str, float]:
    """How much the query at CLS differs between inputs, and how far the numbers' queries are lines."""
    inputs = m.uniform.inputs[:100, : m.n + 1].to(m.model.W_E.device)
    with torch.no_grad():
        _, cache = m.model.run_with_cache(inputs, names_filter=QUERIES)
    of_numbers = m.lookups.queries[: m.n, : m.limit].mean(dim=0)
    return {
        QUERY_SPREAD: float((cache[QUERIES][:, -1] - cache[QUERIES][0, -1]).abs().max()),
        "variance of the numbers' queries that is on lines": _on_lines(of_numbers, m.smallest_number),
    }


def _on_lines(vectors: Float[Tensor, "token head d_head"], first: int) -> float:
    """Share of the variance over the numbers from `first` on that one line a dimension explains."""
    fits = lines(vectors, first)
    variance = vectors[first:].var(dim=0)
    return float((variance * fits.explained.nan_to_num(0)).sum() / variance.sum())


def _mean_keys(m: OrderMeasurements) -> Float[Tensor, "token head d_head"]:
    """Key of every number, averaged over the input positions."""
    return m.lookups.keys[: m.n, : m.limit].mean(dim=0)


def _key_lines(m: OrderMeasurements) -> dict[str, float]:
    """How far the dimensions of the keys are lines in the number."""
    keys = _mean_keys(m)
    above = lines(keys, m.smallest_number)
    flatness = float("nan")
    if m.smallest_number >= 3:
        flatness = float((lines(m.scores[: m.smallest_number]).slope / m.score_lines.slope).mean())
    return {
        KEYS_ON_LINES: _on_lines(keys, m.smallest_number),
        "mean R squared of a dimension": float(above.explained.mean()),
        "slope of the scores below over above": flatness,
    }


def _slopes(m: OrderMeasurements) -> dict[str, float]:
    """Signs of the slopes of queries and keys, and the slope of the scores that follows from the keys'."""
    keys = lines(_mean_keys(m), m.smallest_number)
    queries = lines(m.lookups.queries[: m.n, : m.limit].mean(dim=0), m.smallest_number)
    product = queries.slope * keys.slope
    at_cls = m.lookups.queries[m.n, m.limit]
    from_keys = (at_cls * keys.slope).sum(dim=1) / m.lookups.scale
    return {
        OPPOSITE_SLOPES: float((product < 0).double().mean()),
        LEAST_CLS_SLOPE: float(m.score_lines.slope.min()),
        "the same by size of the product": float(product.clamp(max=0).sum().abs() / product.abs().sum()),
        SLOPE_ERROR: float((from_keys - m.score_lines.slope).abs().max()),
    }


def _single_dimension(m: OrderMeasurements) -> dict[str, float]:
    """How far one dimension of the keys is a line: the one whose slope is nearest to that of the report's example."""
    fits = lines(_mean_keys(m), m.smallest_number)
    sizes = fits.slope.abs().flatten()
    nearest = int((sizes - EXAMPLE).abs().argmin())
    return {
        "smallest |slope|": float(sizes.min()),
        "largest |slope|": float(sizes.max()),
        EXAMPLE_FIT: float(fits.explained.flatten()[nearest]),
        "lowest R squared": float(fits.explained.min()),
    }


def _score_lines(m: OrderMeasurements) -> dict[str, float]:
    """Lines through the scores of numbers with CLS, by head."""
    fits = m.score_lines
    return {
        BEST_HEAD_FIT: float(fits.explained.max()),
        WORST_HEAD_FIT: float(fits.explained.min()),
        LEAST_SLOPE: float(fits.slope.min()),
        LOWEST_CENTRE: float(fits.centre.min()) * 100 / m.limit,
        HIGHEST_CENTRE: float(fits.centre.max()) * 100 / m.limit,
        "largest slope": float(fits.slope.max()),
        "mean intercept": float(fits.intercept.mean()),
    }


def _shifted(m: OrderMeasurements) -> dict[str, float]:
    """Change of the attention when a constant is added to all scores, and to those of the numbers alone."""
    cls, inputs = m.cls, m.uniform.inputs[:1000]
    shifted = cls.with_scores(cls.scores + 60).pattern(inputs)
    numbers_alone = cls.scores.clone()
    numbers_alone[: m.n] += 60
    centre = float(m.score_lines.centre.mean())
    return {
        PATTERN_CHANGE: float((shifted - cls.pattern(inputs)).abs().max()),
        "the same, numbers shifted but not CLS": float(
            (cls.with_scores(numbers_alone).pattern(inputs) - cls.pattern(inputs)).abs().max()
        ),
        "mean centre": centre,
        "mean of the numbers fitted": (m.smallest_number + m.limit - 1) / 2,
    }


def _regressed(m: OrderMeasurements) -> dict[str, float]:
    """What is lost when every score is put on its head's line."""
    by_line, own = m.score_lines.at(m.limit)[m.smallest_number :], m.scores[m.smallest_number :]
    accuracy = float(m.correct_first(m.cls_by_lines.logits(m.uniform.inputs)).double().mean())
    return {
        LOWEST_CORRELATION: min(correlation(by_line[:, h], own[:, h]) for h in range(own.shape[1])),
        ACCURACY_DROP: m.accuracy - accuracy,
        TEST_ACCURACY: m.accuracy,
        "accuracy with scores on lines": accuracy,
    }


CLAIMS = (
    Claim(
        id="circuits.max.exclusive_attention",
        where="Max transformer, attention of CLS",
        statement="All heads attend to the largest number alone, wherever it stands.",
        source_says="exclusively, 4 heads",
        measure=each(_exclusive),
        expected={
            MASS_GAP_TENTH: at_least(0.6, "exclusive, as far as a softmax can be"),
            FIRST_GAP_TENTH: at_least(0.9, "for every permutation shown"),
        },
        needs=BALANCED,
        scope="any seed",
        figure="gaps",
    ),
    Claim(
        id="circuits.max.qk_heatmap",
        where="Max transformer, circuit analysis",
        statement="In the table of scores of every number with every number, those near the diagonal are smaller.",
        source_says="a heat-map",
        measure=each(_number_table),
        expected={NEAR_DIAGONAL: at_most(0, "smaller"), **ACCURATE},
        needs=BALANCED[:1],
        figure="table",
    ),
    Claim(
        id="circuits.max.q_dims",
        where="Max transformer, query dimensions",
        statement="The query that counts, that of CLS, is the same for all inputs.",
        source_says="constant",
        measure=each(_queries),
        expected={QUERY_SPREAD: equals(0)},
        needs=BALANCED[:1],
        scope="any network",
        figure="dimensions",
    ),
    Claim(
        id="circuits.max.k_linear",
        where="Max transformer, key dimensions",
        statement="The dimensions of the keys are close to straight lines in the number.",
        source_says="32 lines, flat below 20",
        measure=each(_key_lines),
        expected={KEYS_ON_LINES: at_least(0.8, "close to straight")},
        needs=BALANCED,
        scope="any seed",
        figure="dimensions",
    ),
    Claim(
        id="circuits.max.opposite_slopes",
        where="Max transformer, circuit analysis",
        statement="Where a query dimension rises with the number, the key dimension falls.",
        source_says="m m < 0 for every dimension, which no real m satisfies; meant are two slopes",
        measure=each(_slopes),
        expected={
            OPPOSITE_SLOPES: at_least(0.9, "stated of every dimension"),
            LEAST_CLS_SLOPE: at_least(0, "else CLS would not look for the largest"),
        },
        needs=BALANCED[:1],
        figure="dimensions",
    ),
    Claim(
        id="circuits.max.single_dim",
        where="Max transformer, linear regression",
        statement="A dimension of the keys is a line in the number.",
        source_says="y = -0.012 x + 0.7; the slope belongs to the network",
        measure=each(_single_dimension),
        expected={EXAMPLE_FIT: at_least(0.8, "shown as a line")},
        needs=BALANCED[:1],
        figure="dimensions",
    ),
    Claim(
        id="circuits.max.qk_linear",
        where="Max transformer, linear regression",
        statement="CLS scores a number by a rising line in it.",
        source_says="0.15 x - 8.93 = 0.15 (x - 59.53)",
        measure=each(_score_lines),
        expected={
            BEST_HEAD_FIT: at_least(0.9, "a line"),
            WORST_HEAD_FIT: at_least(0.8, "a line"),
            LEAST_SLOPE: at_least(0, "0.15 in the source, seed-specific"),
            LOWEST_CENTRE: between(30, 80, "59.53 in the source, seed-specific"),
            HIGHEST_CENTRE: between(30, 80, "59.53 in the source, seed-specific"),
        },
        needs=BALANCED,
        scope="any seed",
        figure="scores",
    ),
    Claim(
        id="circuits.max.constant_irrelevant",
        where="Max transformer, note",
        statement="A constant in all scores does not change attention.",
        source_says="59.53, the middle of the numbers from 20 on",
        measure=each(_shifted),
        expected={PATTERN_CHANGE: at_most(1e-12)},
        needs=BALANCED[:1],
        scope="any network",
        figure="scores",
    ),
    Claim(
        id="circuits.max.qk_regressed",
        where="Max transformer, scores from the regression",
        statement="Scores on the fitted lines do as well as the network's own.",
        source_says="very similar",
        measure=each(_regressed),
        expected={
            LOWEST_CORRELATION: at_least(0.95, "very similar"),
            ACCURACY_DROP: at_most(0.1, "very similar"),
            TEST_ACCURACY: at_least(0.95, LEARNED),
        },
        needs=BALANCED,
        scope="any seed",
        finding=refuted(
            "a correlation of 0.95 or more in all heads of two seeds, and of 0.949 in one head of the third; with "
            "scores on lines 99.8% to 99.9% are right, as with the network's own"
        ),
        figure="idealised",
    ),
)
