"""Embeddings of the positions: how alike they are, and what exchanging them does."""

from __future__ import annotations

from statistics import mean, median

import torch

from modinterp.claims.band import at_least, at_most
from modinterp.claims.claim import Claim, Value, refuted
from modinterp.measurements import GridMeasurements
from modinterp.sources.miiii.claims.conditions import GENERALISED, LEARNED, MEAN_TEST_ACCURACY
from modinterp.sources.miiii.runs import CODED, NANDA, ONE_OF_EACH
from modinterp.sources.nanda.runs import SEEDS as MAINLINE

PEARSON = "Pearson"
COSINE = "cosine"
PEARSON_NANDA = "Pearson, T_nanda"
MEDIAN_PEARSON = "median of Pearson"
LOWEST_ACCURACY = "lowest test accuracy"
PEARSON_APART = "Pearson less the median of T_nanda"
NANDA_SWAPPED = "T_nanda with its positions exchanged, lowest accuracy"
MIIII_SWAPPED = "T_miiii with them exchanged, mean accuracy of tasks that depend on the order"
AS_TRAINED = "the same as trained"


def _alike(*runs: GridMeasurements) -> dict[str, Value]:
    """How alike the embeddings of the two positions are, by run and in the median."""
    return {
        MEDIAN_PEARSON: median(m.position_likeness.pearson for m in runs),
        LOWEST_ACCURACY: min(m.test_accuracy for m in runs),
        PEARSON: [m.position_likeness.pearson for m in runs],
        COSINE: [m.position_likeness.cosine for m in runs],
    }


def _apart(remainders: GridMeasurements, *sums: GridMeasurements) -> dict[str, Value]:
    """How alike the embeddings of the two positions are for remainders, beside those for modular addition."""
    likeness, correlations = remainders.position_likeness, [m.position_likeness.pearson for m in sums]
    return {
        PEARSON: likeness.pearson,
        PEARSON_APART: likeness.pearson - median(correlations),
        MEAN_TEST_ACCURACY: remainders.test_accuracy,
        COSINE: likeness.cosine,
        PEARSON_NANDA: correlations,
    }


def _swap(remainders: GridMeasurements, *sums: GridMeasurements) -> dict[str, Value]:
    """Accuracy with the two positions exchanged, of modular addition and of remainders."""
    m, order_matters = remainders, torch.tensor(remainders.order_matters)
    swapped = torch.tensor(m.accuracies_with_positions_swapped, dtype=torch.float64)
    ordered, unordered = swapped[order_matters].tolist(), swapped[~order_matters].tolist()
    correlations = [other.position_likeness.pearson for other in sums]
    return {
        NANDA_SWAPPED: min(other.accuracies_with_positions_swapped[0] for other in sums),
        MIIII_SWAPPED: mean(ordered),
        AS_TRAINED: float(m.correct.double().mean(dim=0)[order_matters].mean()),
        **({"tasks that do not depend on it": mean(unordered)} if unordered else {}),
        "Pearson, T_miiii": m.position_likeness.pearson,
        PEARSON_NANDA: correlations,
        "spread of Pearson over the seeds of T_nanda": max(correlations) - min(correlations),
    }


CLAIMS = (
    Claim(
        id="miiii.fig7.pearson.nanda",
        where="figure 7",
        statement="The embeddings of the two positions are mostly alike in modular addition.",
        source_says="0.95; it goes with the seed",
        measure=_alike,
        expected={MEDIAN_PEARSON: at_least(0.5, "0.95 in the source; less than one half is hardly alike")},
        given={LOWEST_ACCURACY: at_least(0.99, LEARNED)},
        needs=(*NANDA, *MAINLINE),
        scope="any seed",
        figure="positions",
        finding=refuted(
            "it goes with the recipe more than with the seed: in the five networks of this recipe the positions are "
            "opposed (Pearson -0.80 to -0.59), in Nanda's five they are alike (0.96 to 1.00) but for one (0.24); "
            "the median of all ten is -0.17"
        ),
    ),
    Claim(
        id="miiii.fig7.pearson.miiii",
        where="figure 7",
        statement="In T_miiii the embeddings of the two positions are not alike.",
        source_says="-0.64",
        measure=_apart,
        expected={
            PEARSON: at_most(0.5, "-0.64 in the source; more than one half would be alike"),
            PEARSON_APART: at_most(0, "-1.59 in the source"),
        },
        given=GENERALISED,
        needs=(CODED, *NANDA, *MAINLINE),
        required=ONE_OF_EACH,
        figure="positions",
    ),
    Claim(
        id="miiii.fig7.interpretation",
        where="figure 7",
        statement=(
            "Positions are alike where the task commutes and differ where it does not: exchanging them leaves "
            "T_nanda as it is and destroys T_miiii."
        ),
        source_says="read off the two correlations",
        measure=_swap,
        expected={NANDA_SWAPPED: at_least(0.99, "nothing may change"), MIIII_SWAPPED: at_most(0.5, "destroyed")},
        given={AS_TRAINED: at_least(0.9, LEARNED)},
        needs=(CODED, *NANDA),
        required=ONE_OF_EACH,
        figure="positions",
    ),
)
