"""Claims on the position embeddings: how similar they are, and what exchanging them does."""

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
        source_says="the two position embeddings have a correlation of 0.95",
        measure=each(_alike),
        expected={PEARSON: at_least(0.5, "the source's correlation is 0.95; below 0.5, embeddings are hardly similar")},
        given={"test accuracy": LEARNED},
        needs=NANDA,
        scope="any seed",
        figure="positions",
        finding=variant(
            "The correlation of the two position embeddings is positive or negative depending on the recipe, "
            "which the source does not state for modular addition. With the recipe of the source's task T_miiii, "
            "the two position embeddings are negatively correlated in every seed (Pearson -0.80 to -0.59). With "
            "the recipe of Nanda et al., the two position embeddings are mostly similar: correlations are 0.96 "
            "to 1.00, and 0.24 in one network (fig7.pearson.miiii)."
        ),
        changed=(
            Change(
                date="2026-11-21",
                what="the statement and the measure",
                before=(
                    'the statement was that the two position embeddings are "alike" in every seed; their '
                    "correlation of -0.70 in seed 0 refuted the statement"
                ),
                now=(
                    'the statement was that the two position embeddings are "mostly alike" in the median of ten '
                    "networks of two recipes; the statement held at first; with all ten networks trained, the "
                    "median correlation is -0.17; refuted"
                ),
                why="in other networks of modular addition the two position embeddings have cosines from -0.71 to 0.98",
            ),
            Change(
                date="2026-11-23",
                what="the statement and the measure, which are again the original ones",
                before="the claim measured the median correlation of the two position embeddings over ten networks: -0.17",
                now=(
                    "the claim measures the correlation of the two position embeddings in each network of the "
                    "source's recipe: -0.70, -0.71, -0.59, -0.72 and -0.80"
                ),
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
        statement="In T_miiii the two position embeddings are negatively correlated, not similar.",
        source_says="the two position embeddings have a correlation of -0.64",
        measure=_apart,
        expected={
            PEARSON: at_most(
                -0.34,
                "the source's correlation is -0.64, and we allow 0.3 more; the correlation of unrelated "
                "embeddings is 0",
            ),
            "Pearson less the median of T_nanda": at_most(
                0, "the source's correlations for T_miiii and T_nanda differ by -1.59"
            ),
        },
        given=GENERALISED,
        needs=(CODED, *NANDA, *MAINLINE),
        required=ONE_OF_EACH,
        figure="positions",
        changed=(
            Change(
                date="2026-11-23",
                what="the tolerance of Pearson's correlation is narrower",
                before=(
                    "Pearson's correlation of the position embeddings had to be at most 0.5: this tolerance "
                    "accepts our correlation of -0.535, but also the correlation of 0.07 in an untrained network"
                ),
                now=(
                    "Pearson's correlation of the position embeddings must be at most -0.34: this tolerance "
                    "accepts our correlation of -0.535, but not the correlation of 0.07 in an untrained network"
                ),
                why='"not similar" is also true of unrelated embeddings; the source\'s correlation is -0.64',
            ),
        ),
    ),
    Claim(
        id="miiii.fig7.interpretation",
        where="figure 7",
        statement=(
            "Position embeddings are similar in commutative tasks and differ in other tasks. Exchanging the positions "
            "keeps the answers of T_nanda (addition) right, and makes the answers of T_miiii wrong."
        ),
        source_says="the source infers this from the two correlations",
        measure=_swap,
        expected={
            "T_nanda with its positions exchanged, lowest accuracy": at_least(
                0.99, "exchanging the positions should change no answer of T_nanda"
            ),
            MIIII_SWAPPED: at_most(0.5, "exchanging the positions should make most answers of T_miiii wrong"),
        },
        given={"T_miiii as trained, mean accuracy of tasks that depend on the order": LEARNED},
        needs=(CODED, *NANDA),
        required=ONE_OF_EACH,
        figure="positions",
    ),
)
