"""Embeddings of the positions: how alike they are, and what exchanging them does."""

from __future__ import annotations

from statistics import mean, median

import torch

from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import variant
from modinterp.measurements import PairMeasurements
from modinterp.sources.miiii.claims.conditions import GENERALISED, LEARNED, MEAN_TEST_ACCURACY
from modinterp.sources.miiii.runs import CODED, NANDA, ONE_OF_EACH
from modinterp.sources.nanda.runs import SEEDS as MAINLINE

PEARSON = "Pearson correlation of the two position embeddings"
MIIII_SWAPPED = "T_miiii with them exchanged, mean accuracy of tasks that depend on the order"


def _alike(m: PairMeasurements) -> dict[str, Value]:
    """Measure how similar the embeddings of the two positions are."""
    likeness = m.position_likeness
    return {
        PEARSON: likeness.pearson,
        "test accuracy": m.held_out_accuracy,
        "cosine of the two position embeddings": likeness.cosine,
    }


def _apart(remainders: PairMeasurements, *sums: PairMeasurements) -> dict[str, Value]:
    """How alike the embeddings of the two positions are for remainders, beside those for modular addition."""
    likeness, correlations = remainders.position_likeness, [m.position_likeness.pearson for m in sums]
    return {
        PEARSON: likeness.pearson,
        "Pearson less the median of T_nanda": likeness.pearson - median(correlations),
        MEAN_TEST_ACCURACY: remainders.held_out_accuracy,
        "Pearson, T_nanda": correlations,
    }


def _swap(remainders: PairMeasurements, *sums: PairMeasurements) -> dict[str, Value]:
    """Return the accuracy of modular addition and of remainders with the two positions exchanged."""
    m, order_matters = remainders, torch.tensor(remainders.questions.order_matters)
    swapped = torch.tensor(m.questions.accuracies_with_positions_swapped, dtype=torch.float64)
    return {
        "T_nanda with its positions exchanged, lowest accuracy": min(
            other.questions.accuracies_with_positions_swapped[0] for other in sums
        ),
        MIIII_SWAPPED: mean(swapped[order_matters].tolist()),
        "T_miiii as trained, mean accuracy of tasks that depend on the order": float(
            m.correct.double().mean(dim=0)[order_matters].mean()
        ),
    }


CLAIMS = (
    Claim(
        id="miiii.fig7.pearson.nanda",
        where="figure 7",
        statement="The two position embeddings are similar in modular addition.",
        source_says="0.95",
        measure=each(_alike),
        expected={PEARSON: at_least(0.5, "0.95 in the source; below one half embeddings are hardly similar")},
        given={"test accuracy": LEARNED},
        needs=NANDA,
        scope="any seed",
        figure="positions",
        finding=variant(
            "The sign of the correlation depends on the recipe, which the source does not state for modular "
            "addition. With the recipe of the source's other task the positions are opposed in every seed "
            "(Pearson -0.80 to -0.59). With the recipe of Nanda et al., measured in fig7.pearson.miiii, the "
            "positions are mostly similar (0.96 to 1.00, once 0.24)."
        ),
        changed=(
            Change(
                date="2026-11-21",
                what="the statement and the measure",
                before='"alike", in every seed: refuted by -0.70 in seed 0',
                now='"mostly alike", in the median of ten networks of two recipes: held; with all ten trained -0.17, '
                "refuted",
                why="other networks of modular addition have cosines from -0.71 to 0.98",
            ),
            Change(
                date="2026-11-23",
                what="the statement and the measure; both are again the first ones",
                before="the median of ten networks: -0.17",
                now="each network of the source's recipe: -0.70, -0.71, -0.59, -0.72 and -0.80",
                why=(
                    "the source's statement is about one network, and a median over two recipes describes neither "
                    "recipe"
                ),
            ),
        ),
    ),
    Claim(
        id="miiii.fig7.pearson.miiii",
        where="figure 7",
        statement="In T_miiii the two position embeddings are opposed, not similar.",
        source_says="-0.64",
        measure=_apart,
        expected={
            PEARSON: at_most(-0.34, "-0.64 in the source, plus 0.3; unrelated embeddings have 0"),
            "Pearson less the median of T_nanda": at_most(0, "-1.59 in the source"),
        },
        given=GENERALISED,
        needs=(CODED, *NANDA, *MAINLINE),
        required=ONE_OF_EACH,
        figure="positions",
        changed=(
            Change(
                date="2026-11-23",
                what="the tolerance of Pearson's correlation is narrower",
                before="at most 0.5, which accepts -0.535, but also the 0.07 before training",
                now="at most -0.34, which accepts -0.535 but not 0.07",
                why="unrelated embeddings are not similar either; the source has -0.64",
            ),
        ),
    ),
    Claim(
        id="miiii.fig7.interpretation",
        where="figure 7",
        statement=(
            "Position embeddings are similar in commutative tasks and differ in other tasks. Exchanging the "
            "positions does not change T_nanda (addition) and destroys T_miiii."
        ),
        source_says="the source infers this from the two correlations",
        measure=_swap,
        expected={
            "T_nanda with its positions exchanged, lowest accuracy": at_least(0.99, "nothing may change"),
            MIIII_SWAPPED: at_most(0.5, "destroyed"),
        },
        given={"T_miiii as trained, mean accuracy of tasks that depend on the order": LEARNED},
        needs=(CODED, *NANDA),
        required=ONE_OF_EACH,
        figure="positions",
    ),
)
