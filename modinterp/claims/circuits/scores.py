"""The max transformer's QK circuit: CLS scores numbers by their size."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.lines import correlation, lines
from modinterp.analyses.ordering import attention_to_largest
from modinterp.claims.band import at_least, at_most, between, equals
from modinterp.claims.circuits.data import BALANCED, LEARNED
from modinterp.claims.circuits.evidence import QUERIES, OrderingEvidence, of_each
from modinterp.claims.circuits.invariance import ACCURACY
from modinterp.claims.claim import Claim, refuted


def _exclusive(ev: OrderingEvidence) -> dict[str, float]:
    wide = ev.gap >= ev.limit // 10
    far = attention_to_largest(ev.pattern[wide], ev.numbers[wide])
    everywhere, tight = attention_to_largest(ev.pattern, ev.numbers), ev.gap == 1
    near = attention_to_largest(ev.pattern[tight], ev.numbers[tight])
    place = ev.numbers.argmax(dim=1)
    by_place = [attention_to_largest(ev.pattern[own], ev.numbers[own]).mass.min()
                for own in (wide & (place == p) for p in range(ev.n)) if own.any()]  # fmt: skip
    return {
        "mass on the largest, worst head, gap of a tenth": float(far.mass.min()),
        "most attended is the largest, worst head, gap of a tenth": float(far.first.min()),
        "mass on the largest, worst head, all inputs": float(everywhere.mass.min()),
        "mass on the largest, worst head, gap 1": float(near.mass.min()),
        "the first, worst place of the largest": float(torch.stack(by_place).min()) if by_place else float("nan"),
        "accuracy at gap 1": float(ev.right(ev.logits[:, 0])[tight].double().mean()),
    }


def near_diagonal(table: Float[Tensor, "head query key"]) -> float:
    """Mean score of numbers at most a twentieth apart, less that of all others; mean over heads. [nats]"""
    numbers = torch.arange(table.shape[1])
    near = (numbers[:, None] - numbers).abs() <= len(numbers) // 20
    return float(table[:, near].mean() - table[:, ~near].mean())


def _number_table(ev: OrderingEvidence) -> dict[str, float]:
    return {
        "score near the diagonal less elsewhere": near_diagonal(ev.lookups.number_scores[:, : ev.limit, : ev.limit]),
        "test accuracy": ev.accuracy,
        "change of the logits without these queries": ev.change_by_other_queries(),
    }


def _queries(ev: OrderingEvidence) -> dict[str, float]:
    inputs = ev.uniform.inputs[:100, : ev.n + 1].to(ev.run.model.W_E.device)
    with torch.no_grad():
        _, cache = ev.run.model.run_with_cache(inputs, names_filter=QUERIES)
    of_numbers = ev.lookups.queries[: ev.n, : ev.limit].mean(dim=0)
    return {
        "spread of the query at CLS over inputs": float((cache[QUERIES][:, -1] - cache[QUERIES][0, -1]).abs().max()),
        "variance of the numbers' queries that is on lines": _on_lines(of_numbers, ev.first),
    }


def _on_lines(vectors: Float[Tensor, "number head d_head"], first: int) -> float:
    """Share of the variance over the numbers from `first` on that one line a dimension explains."""
    fits = lines(vectors, first)
    variance = vectors[first:].var(dim=0)
    return float((variance * fits.explained.nan_to_num(0)).sum() / variance.sum())


def _mean_keys(ev: OrderingEvidence) -> Float[Tensor, "number head d_head"]:
    return ev.lookups.keys[: ev.n, : ev.limit].mean(dim=0)


def _key_lines(ev: OrderingEvidence) -> dict[str, float]:
    keys = _mean_keys(ev)
    above = lines(keys, ev.first)
    few = {"slope of the scores below over above": float("nan")}
    if ev.first >= 3:
        below = lines(ev.scores[: ev.first]).slope
        few = {"slope of the scores below over above": float((below / ev.score_lines.slope).mean())}
    return {
        "variance of the keys on lines": _on_lines(keys, ev.first),
        "mean R squared of a dimension": float(above.explained.mean()),
        **few,
    }


def _slopes(ev: OrderingEvidence) -> dict[str, float]:
    keys = lines(_mean_keys(ev), ev.first)
    queries = lines(ev.lookups.queries[: ev.n, : ev.limit].mean(dim=0), ev.first)
    product = queries.slope * keys.slope
    at_cls = ev.lookups.queries[ev.n, ev.limit]
    from_keys = (at_cls * keys.slope).sum(dim=1) / ev.lookups.scale
    return {
        "dimensions of opposite slopes": float((product < 0).double().mean()),
        "smallest slope of the scores with CLS": float(ev.score_lines.slope.min()),
        "the same by size of the product": float(product.clamp(max=0).sum().abs() / product.abs().sum()),
        "slope from key lines over sqrt(d_head), error": float((from_keys - ev.score_lines.slope).abs().max()),
    }


EXAMPLE = 0.012


def _single(ev: OrderingEvidence) -> dict[str, float]:
    fits = lines(_mean_keys(ev), ev.first)
    sizes = fits.slope.abs().flatten()
    nearest = int((sizes - EXAMPLE).abs().argmin())
    return {
        "smallest |slope|": float(sizes.min()),
        "largest |slope|": float(sizes.max()),
        "R squared of the dimension nearest to 0.012": float(fits.explained.flatten()[nearest]),
        "lowest R squared": float(fits.explained.min()),
    }


def _score_lines(ev: OrderingEvidence) -> dict[str, float]:
    fits = ev.score_lines
    return {
        "R squared, best head": float(fits.explained.max()),
        "R squared, worst head": float(fits.explained.min()),
        "smallest slope": float(fits.slope.min()),
        "smallest centre, of 100 numbers": float(fits.centre.min()) * 100 / ev.limit,
        "largest centre, of 100 numbers": float(fits.centre.max()) * 100 / ev.limit,
        "largest slope": float(fits.slope.max()),
        "mean intercept": float(fits.intercept.mean()),
    }


def _shifted(ev: OrderingEvidence) -> dict[str, float]:
    reading, inputs = ev.reading, ev.uniform.inputs[:1000]
    shifted = reading.scored_by(reading.scores + 60).pattern(inputs)
    numbers_alone = reading.scores.clone()
    numbers_alone[: ev.n] += 60
    centre = float(ev.score_lines.centre.mean())
    return {
        "largest change of the pattern": float((shifted - reading.pattern(inputs)).abs().max()),
        "the same, numbers shifted but not CLS": float(
            (reading.scored_by(numbers_alone).pattern(inputs) - reading.pattern(inputs)).abs().max()
        ),
        "mean centre": centre,
        "mean of the numbers fitted": (ev.first + ev.limit - 1) / 2,
    }


def _regressed(ev: OrderingEvidence) -> dict[str, float]:
    by_line, own = ev.score_lines.at(ev.limit)[ev.first :], ev.scores[ev.first :]
    accuracy = float(ev.right(ev.by_lines.logits(ev.uniform.inputs)).double().mean())
    return {
        "correlation, worst head": min(correlation(by_line[:, h], own[:, h]) for h in range(own.shape[1])),
        "drop in accuracy": ev.accuracy - accuracy,
        "test accuracy": ev.accuracy,
        "accuracy with scores on lines": accuracy,
    }


CLAIMS = (
    Claim(
        "circuits.max.exclusive_attention",
        "Max transformer, attention of CLS",
        "All heads attend to the largest number alone, wherever it stands.",
        "exclusively, 4 heads",
        of_each(_exclusive),
        {
            "mass on the largest, worst head, gap of a tenth": at_least(0.6, "exclusive, as far as a softmax can be"),
            "most attended is the largest, worst head, gap of a tenth": at_least(0.9, "for every permutation shown"),
        },
        needs=BALANCED,
        scope="any seed",
        figure="gaps",
    ),
    Claim(
        "circuits.max.qk_heatmap",
        "Max transformer, circuit analysis",
        "In the table of scores of every number with every number, those near the diagonal are smaller.",
        "a heat-map",
        of_each(_number_table),
        {"score near the diagonal less elsewhere": at_most(0, "smaller"), **ACCURACY},
        needs=BALANCED[:1],
        figure="table",
    ),
    Claim(
        "circuits.max.q_dims",
        "Max transformer, query dimensions",
        "The query that counts, that of CLS, is the same for all inputs.",
        "constant",
        of_each(_queries),
        {"spread of the query at CLS over inputs": equals(0)},
        needs=BALANCED[:1],
        scope="any network",
        figure="dimensions",
    ),
    Claim(
        "circuits.max.k_linear",
        "Max transformer, key dimensions",
        "The dimensions of the keys are close to straight lines in the number.",
        "32 lines, flat below 20",
        of_each(_key_lines),
        {"variance of the keys on lines": at_least(0.8, "close to straight")},
        needs=BALANCED,
        scope="any seed",
        figure="dimensions",
    ),
    Claim(
        "circuits.max.opposite_slopes",
        "Max transformer, circuit analysis",
        "Where a query dimension rises with the number, the key dimension falls.",
        "m m < 0 for every dimension, which no real m satisfies; meant are two slopes",
        of_each(_slopes),
        {
            "dimensions of opposite slopes": at_least(0.9, "stated of every dimension"),
            "smallest slope of the scores with CLS": at_least(0, "else CLS would not look for the largest"),
        },
        needs=BALANCED[:1],
        figure="dimensions",
    ),
    Claim(
        "circuits.max.single_dim",
        "Max transformer, linear regression",
        "A dimension of the keys is a line in the number.",
        "y = -0.012 x + 0.7; the slope belongs to the network",
        of_each(_single),
        {"R squared of the dimension nearest to 0.012": at_least(0.8, "shown as a line")},
        needs=BALANCED[:1],
        figure="dimensions",
    ),
    Claim(
        "circuits.max.qk_linear",
        "Max transformer, linear regression",
        "CLS scores a number by a rising line in it.",
        "0.15 x - 8.93 = 0.15 (x - 59.53)",
        of_each(_score_lines),
        {
            "R squared, best head": at_least(0.9, "a line"),
            "R squared, worst head": at_least(0.8, "a line"),
            "smallest slope": at_least(0, "0.15 in the source, seed-specific"),
            "smallest centre, of 100 numbers": between(30, 80, "59.53 in the source, seed-specific"),
            "largest centre, of 100 numbers": between(30, 80, "59.53 in the source, seed-specific"),
        },
        needs=BALANCED,
        scope="any seed",
        figure="scores",
    ),
    Claim(
        "circuits.max.constant_irrelevant",
        "Max transformer, note",
        "A constant in all scores does not change attention.",
        "59.53, the middle of the numbers from 20 on",
        of_each(_shifted),
        {"largest change of the pattern": at_most(1e-12)},
        needs=BALANCED[:1],
        scope="any network",
        figure="scores",
    ),
    Claim(
        "circuits.max.qk_regressed",
        "Max transformer, scores from the regression",
        "Scores on the fitted lines do as well as the network's own.",
        "very similar",
        of_each(_regressed),
        {
            "correlation, worst head": at_least(0.95, "very similar"),
            "drop in accuracy": at_most(0.1, "very similar"),
            "test accuracy": at_least(0.95, LEARNED),
        },
        needs=BALANCED,
        scope="any seed",
        finding=refuted("a correlation of 0.95 or more in all heads of two seeds, and of 0.949 in one head of the third; with "
                        "scores on lines 99.8% to 99.9% are right, as with the network's own"),
        figure="idealised",
    ),
)  # fmt: skip
