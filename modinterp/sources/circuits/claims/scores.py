"""Claims on the max transformer's QK circuit: CLS scores numbers by their size."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.order.largest_number import attention_to_largest
from modinterp.analyses.statistics.lines import correlation
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, each
from modinterp.claims.finding import mixed
from modinterp.measurements import OrderMeasurements
from modinterp.sources.circuits.claims.conditions import ACCURATE, LEARNED
from modinterp.sources.circuits.runs import BALANCED

NEAR_DIAGONAL = "score near the diagonal less elsewhere, over the standard deviation"


def _exclusive(m: OrderMeasurements) -> dict[str, float]:
    """Return the worst head's attention from CLS to the largest number, by the lead of this number."""
    wide = m.gap >= m.limit // 10
    far = attention_to_largest(m.pattern[wide], m.numbers[wide])
    everywhere, tight = attention_to_largest(m.pattern, m.numbers), m.gap == 1
    near = attention_to_largest(m.pattern[tight], m.numbers[tight])
    return {
        "mass on the largest, worst head, gap of a tenth": float(far.mass.min()),
        "most attended is the largest, worst head, gap of a tenth": float(far.first.min()),
        "mass on the largest, worst head, all inputs": float(everywhere.mass.min()),
        "mass on the largest, worst head, gap 1": float(near.mass.min()),
        "accuracy at gap 1": float(m.correct_first(m.logits[:, 0])[tight].double().mean()),
    }


def _near_diagonal(table: Float[Tensor, "head query key"]) -> float:
    """Return the mean score of numbers at most a twentieth apart, less that of all others, over the spread; mean over
    heads.
    """
    numbers = torch.arange(table.shape[1])
    near = (numbers[:, None] - numbers).abs() <= len(numbers) // 20
    return float(((table[:, near].mean(dim=1) - table[:, ~near].mean(dim=1)) / table.flatten(1).std(dim=1)).mean())


def _number_table(m: OrderMeasurements) -> dict[str, float]:
    """Return the scores of numbers with numbers near the diagonal of their table, and whether any answer depends on
    them.
    """
    return {
        NEAR_DIAGONAL: _near_diagonal(m.lookups.number_scores[:, : m.limit, : m.limit]),
        "change of the logits without these queries": m.change_by_other_queries(),
    }


def _score_lines(m: OrderMeasurements) -> dict[str, float]:
    """Return the lines fitted to the scores of numbers with CLS, by head."""
    fits = m.score_lines
    return {
        "R squared, best head": float(fits.explained.max()),
        "R squared, worst head": float(fits.explained.min()),
        "smallest slope of the scores over the number": float(fits.slope.min()),
        "smallest centre, of 100 numbers": float(fits.centre.min()) * 100 / m.limit,
        "largest centre, of 100 numbers": float(fits.centre.max()) * 100 / m.limit,
    }


def _shifted(m: OrderMeasurements) -> dict[str, float]:
    """Return the change of the attention when a constant is added to all scores."""
    cls, inputs = m.cls, m.uniform.inputs[:1000]
    shifted = cls.with_scores(cls.scores + 60).pattern(inputs)
    return {"largest change of the pattern": float((shifted - cls.pattern(inputs)).abs().max())}


def _regressed(m: OrderMeasurements) -> dict[str, float]:
    """Measure the drop in accuracy when every score is replaced by its head's linear fit."""
    by_line, own = m.score_lines.at(m.limit)[m.smallest_number :], m.scores[m.smallest_number :]
    accuracy = float(m.correct_first(m.cls_by_lines.logits(m.uniform.inputs)).double().mean())
    return {
        "correlation, worst head": min(correlation(by_line[:, h], own[:, h]) for h in range(own.shape[1])),
        "drop in accuracy": m.accuracy - accuracy,
        "accuracy with scores on lines": accuracy,
    }


CLAIMS = (
    Claim(
        id="circuits.max.exclusive_attention",
        where="Max transformer, attention of CLS",
        statement="All heads attend only to the largest number, at whatever position it stands.",
        source_says="all 4 heads attend exclusively to the largest number",
        measure=each(_exclusive),
        expected={
            "mass on the largest, worst head, gap of a tenth": at_least(
                0.6, ("attention must be as exclusive as a softmax allows")
            ),
            "most attended is the largest, worst head, gap of a tenth": at_least(
                0.9, "the source states this for every permutation of the inputs that it shows"
            ),
        },
        reported=(
            "mass on the largest, worst head, all inputs",
            "mass on the largest, worst head, gap 1",
            "accuracy at gap 1",
        ),
        needs=BALANCED,
        scope="any seed",
        figure="gaps",
    ),
    Claim(
        id="circuits.max.qk_heatmap",
        where="Max transformer, circuit analysis",
        statement="The table of attention scores between all numbers has smaller scores near the diagonal.",
        source_says="the source shows this in a heat-map",
        measure=each(_number_table),
        expected={
            NEAR_DIAGONAL: at_most(
                -0.25, "scores near the diagonal must be smaller by an amount that is visible in a heat-map"
            ),
            **ACCURATE,
        },
        needs=BALANCED[:1],
        reported=("change of the logits without these queries",),
        figure="table",
        changed=(
            Change(
                date="2026-11-23",
                what=(
                    "the unit and the tolerance of the difference between attention scores near the diagonal "
                    "and elsewhere"
                ),
                before=(
                    "the difference of attention scores had to be at most 0 nats: it is -2.33, -2.88 and "
                    "-2.22, but also -0.0002 before training"
                ),
                now=(
                    "the difference of attention scores must be at most -0.25 standard deviations of the "
                    "table of scores. The difference is -0.659, -0.706 and -0.729, and -0.021 before "
                    "training"
                ),
                why="the source looked at a heat-map, so the effect must be large enough to see in a heat-map",
            ),
        ),
    ),
    Claim(
        id="circuits.max.qk_linear",
        where="Max transformer, linear regression",
        statement="The attention score from CLS to a number rises linearly with the number.",
        source_says="the score of the number x is 0.15 x - 8.93 = 0.15 (x - 59.53)",
        measure=each(_score_lines),
        expected={
            "R squared, best head": at_least(0.9, "the attention scores must lie close to a line"),
            "R squared, worst head": at_least(0.8, "the attention scores must lie close to a line"),
            "smallest slope of the scores over the number": at_least(
                0, "the slope of the source's line is 0.15; seeds differ"
            ),
            "smallest centre, of 100 numbers": between(
                30, 80, "the source's line is zero at the number 59.53; seeds differ"
            ),
            "largest centre, of 100 numbers": between(
                30, 80, "the source's line is zero at the number 59.53; seeds differ"
            ),
        },
        needs=BALANCED,
        scope="any seed",
        figure="scores",
    ),
    Claim(
        id="circuits.max.constant_irrelevant",
        where="Max transformer, note",
        statement="Adding a constant to all attention scores does not change attention.",
        source_says="the source puts the centre of the scores at 59.53, the middle of the numbers from 20 on",
        measure=each(_shifted),
        expected={"largest change of the pattern": at_most(1e-12)},
        needs=BALANCED[:1],
        scope="any network",
        figure="scores",
    ),
    Claim(
        id="circuits.max.qk_regressed",
        where="Max transformer, scores from the regression",
        statement="Replacing attention scores by straight lines fitted in the number keeps the accuracy.",
        source_says="with the fitted lines the accuracy is very similar",
        measure=each(_regressed),
        expected={
            "correlation, worst head": at_least(
                0.95, "the source calls the accuracies with and without the lines very similar"
            ),
            "drop in accuracy": at_most(0.1, "the source calls the accuracies with and without the lines very similar"),
            "accuracy": LEARNED,
        },
        behaviour=("drop in accuracy",),
        reported=("accuracy with scores on lines",),
        needs=BALANCED,
        scope="any seed",
        finding=mixed(
            "In most seeds every head's attention scores correlate with the number by 0.95 or more. In "
            "seeds with a lower correlation, one head's attention scores correlate with the number by 0.943"
            " to 0.9495. With attention scores from fitted lines 99.8% to 99.95% of the answers are right, "
            "as with the network's own scores."
        ),
        figure="idealised",
    ),
)
