"""Claims of appendices C.2.2 and E.1, figures 20 and 21: networks trained on a tenth to nine tenths of the pairs."""

from __future__ import annotations

import math

from modinterp.analyses.training.curves import rank_correlation
from modinterp.analyses.training.phases import first_epoch
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.nanda.claims.trainings import (
    DELAY,
    ONE_DEFINITION,
    curve,
    delay,
    generalised,
    highest,
    share,
)
from modinterp.sources.nanda.runs import SEEDS
from modinterp.sources.nanda.tables import FRACTIONS

TEST_CORRELATION = "rank correlation of fraction and epochs to a test loss of 1e-6, below 60%"
TEST_CORRELATION_OF_ALL = "rank correlation of fraction and epochs to a test loss of 1e-6, all fractions"

AT_ONCE = 0.6  # of the pairs: from there on the paper says that a network generalises immediately
BY_FRACTION = ("nanda/fraction-10-0", "nanda/fraction-20-0", SEEDS[0], *FRACTIONS)
DELAYS_TOLD, EPOCHS_TOLD = (0.3, 0.6, 0.9), (0.3, 0.4, 0.5, 0.9)  # fractions, in the findings and contradictions
MODERATE, AMPLE = "nanda/fraction-[45]0-*", "nanda/fraction-[6-9]0-*"


def epoch_below(m: CyclicMeasurements, split: str, loss: float) -> float:
    """Return the first epoch with a train or test loss below a threshold; NaN if the loss is never below it."""
    return first_epoch(curve(m, "epoch"), curve(m, f"{split}_loss") < loss)


def delay_with(fraction: float) -> str:
    """Return the name of a number in results: the epochs from memorising to generalising, with a fraction of the pairs."""
    return f"{DELAY}, {fraction:.0%}"


def epochs_with(fraction: float) -> str:
    """Return the name of a number in results: the epochs to a small test loss, with a fraction of the pairs."""
    return f"epochs to a test loss of 1e-6, {fraction:.0%}"


def _as_stated(m: CyclicMeasurements) -> bool:
    if m.recipe.fraction < 0.25:
        return highest(m, "test_accuracy") < 0.5
    if m.recipe.fraction < 0.45:
        return delay(m) >= 1000
    return delay(m) <= (500 if m.recipe.fraction > 0.55 else math.inf)


def _boundaries(*runs: CyclicMeasurements) -> dict[str, Value]:
    ordered = sorted(runs, key=lambda m: m.recipe.fraction)
    return {
        "share of fractions as stated": share([_as_stated(m) for m in ordered]),
        **{delay_with(m.recipe.fraction): delay(m) for m in ordered if m.recipe.fraction in DELAYS_TOLD},
    }


def _thresholds(*runs: CyclicMeasurements) -> dict[str, Value]:
    fractions = [m.recipe.fraction for m in runs]
    train, test = ([epoch_below(m, split, 1e-6) for m in runs] for split in ("train", "test"))
    train = [epoch for epoch in train if epoch > 0]
    slower = [i for i, of in enumerate(fractions) if of < AT_ONCE]
    return {
        TEST_CORRELATION: rank_correlation([fractions[i] for i in slower], [test[i] for i in slower]),
        TEST_CORRELATION_OF_ALL: rank_correlation(fractions, test),
        "largest over smallest number of epochs to a train loss of 1e-6": (
            max(train) / min(train) if train else math.nan
        ),
        "rank correlation of fraction and epochs to a test loss of 1e-2": rank_correlation(
            fractions, [epoch_below(m, "test", 1e-2) for m in runs]
        ),
        **{epochs_with(of): epochs for of, epochs in zip(fractions, test, strict=True) if of in EPOCHS_TOLD},
    }


FASTER = {
    TEST_CORRELATION: at_most(
        -0.9,
        "in figure 21 the number of epochs falls steeply with the fraction; a rank correlation of -1 means a "
        "strict decrease",
    ),
    "largest over smallest number of epochs to a train loss of 1e-6": at_most(
        2.5,
        "in figure 21 the number of epochs hardly depends on the fraction, which we read as a factor of at most 2.5",
    ),
}
BELOW_60 = (
    Change(
        date="2026-11-28",
        was="refuted",
        what="the fractions over which the rank correlation is computed",
        before=(
            "all fractions of training pairs were ranked, and the rank correlation of fraction and epoch was "
            "-0.59: from 50% on, the epochs hardly depend on the fraction; refuted"
        ),
        now="only fractions of training pairs below 60% are ranked",
        why=(
            "the paper's sentence ends: \"sufficiently large fractions of data (>= 60%) lead to immediate "
            'generalization"'
        ),
    ),
)

TOLD = (
    "rank correlation of fraction and epochs to a test loss of 1e-2",
    TEST_CORRELATION_OF_ALL,
    *map(epochs_with, EPOCHS_TOLD),
)

CLAIMS = (
    Claim(
        id="nanda.fig20",
        where="appendix C.2.2, figure 20",
        statement=(
            "When trained on 10% or 20% of the pairs, the network does not generalise. When trained on 30% to "
            "50% of the pairs, the network groks. When trained on 60% of the pairs or more, the network "
            "generalises at once."
        ),
        source_says=(
            "networks grok from somewhere between 20% and 30% of the pairs up to somewhere between 50% and 60%"
        ),
        measure=_boundaries,
        expected={
            "share of fractions as stated": equals(
                1,
                "with up to 20% of the pairs, the test accuracy must stay below one half; with 30% and 40%,"
                " the network must generalise at least 1,000 epochs after memorising; with 60% and more, at"
                " most 500 epochs after; with 50%, either is accepted",
            )
        },
        needs=BY_FRACTION,
        required=(SEEDS[0], AMPLE),
        scope="any seed",
        figure="fractions",
        reported=tuple(map(delay_with, DELAYS_TOLD)),
    ),
    Claim(
        id="nanda.fig21",
        where="appendix C.2.2, figure 21",
        statement=(
            "When less than 60% of the pairs are used for training, more training pairs bring the test loss "
            "below 1e-6 sooner. The train loss falls below 1e-6 at about the same epoch for every fraction of "
            "the pairs used for training."
        ),
        source_says="none printed",
        measure=_thresholds,
        expected=FASTER,
        needs=BY_FRACTION,
        required=(SEEDS[0], MODERATE, AMPLE),
        scope="any seed",
        changed=BELOW_60,
        reported=TOLD,
        figure="thresholds",
        shuffled=True,
    ),
    Claim(
        id="nanda.C22.frac_smaller_slower",
        where="appendix C.2.2",
        statement=(
            "When less than 60% of the pairs are used for training, fewer training pairs make the network "
            "generalise later. The network memorises at the same rate with any fraction of the pairs as training "
            "data."
        ),
        source_says="none printed",
        measure=_thresholds,
        expected=FASTER,
        needs=BY_FRACTION,
        required=(SEEDS[0], MODERATE, AMPLE),
        scope="any seed",
        changed=BELOW_60,
        reported=TOLD,
        figure="thresholds",
        shuffled=True,
    ),
    Claim(
        id="nanda.C22.frac_fma",
        where="appendix C.2.2",
        statement=(
            "All networks that generalise use the same algorithm, whatever fraction of the pairs they are trained on."
        ),
        source_says=(
            "the waves explain 91% to 99% of the variance of the logits (FVE), but 63.9% with 80% of the data (table 5)"
        ),
        measure=lambda *runs: {
            "share with a logit FVE of at least 0.85": share([m.summary.logit_fve >= 0.85 for m in generalised(runs)])
        },
        expected={
            "share with a logit FVE of at least 0.85": at_least(
                0.8, "in five of the six rows of table 5 the FVE of the logits is at least this high"
            )
        },
        changed=(ONE_DEFINITION,),
        needs=BY_FRACTION,
        required=("nanda/fraction-*",),
        scope="any seed",
        figure="table5",
        # generalises, by waves that are not of a + b
        contrast=("nanda/multiplication-0",),
        control="told apart",
    ),
    Claim(
        id="nanda.E1.no_grok_if_together",
        where="appendix E.1",
        statement=(
            "The smaller the gap between test and train loss early in training, the shorter the delay of "
            "grokking. If a network generalises as soon as it memorises, the network's test loss never rises far."
        ),
        source_says=(
            "in archived networks the highest test loss is 26.6 with 30% of the pairs, and 4.9 to 5.6 with 60% and more"
        ),
        measure=lambda *runs: {
            "rank correlation of highest test loss and delay": rank_correlation(
                [highest(m, "test_loss") for m in runs], [delay(m) for m in runs]
            )
        },
        expected={
            "rank correlation of highest test loss and delay": at_least(
                0.8,
                "the rank correlation is over fractions that generalise; 1 means that the delay always "
                "grows with the gap",
            ),
        },
        needs=BY_FRACTION,
        required=(SEEDS[0], MODERATE, AMPLE),
        scope="any seed",
        figure="fractions",
        contrast=SEEDS,
    ),
)
