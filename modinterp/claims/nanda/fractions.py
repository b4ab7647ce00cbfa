"""Appendices C.2.2 and E.1, figures 20 and 21: from a tenth to nine tenths of the pairs to train on."""

from __future__ import annotations

import math

from modinterp.analyses.curves import rank_correlation
from modinterp.analyses.phases import first_epoch
from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.claim import Claim, Value, refuted
from modinterp.claims.evidence import evidence
from modinterp.claims.nanda.rows import FRACTIONS
from modinterp.claims.nanda.setup import SEEDS
from modinterp.claims.nanda.trainings import delay, generalised, highest, recipe_of, share
from modinterp.runs import TrainedRun

BY_FRACTION = ("nanda/fraction-10-0", "nanda/fraction-20-0", SEEDS[0], *FRACTIONS)
MODERATE, AMPLE = "nanda/fraction-[45]0-*", "nanda/fraction-[6-9]0-*"


def reached(run: TrainedRun, split: str, loss: float) -> float:
    """First epoch with a train or test loss below a threshold."""
    return first_epoch(run.history["epoch"], run.history[f"{split}_loss"] < loss)


def _percent(run: TrainedRun) -> str:
    return f"{recipe_of(run).fraction:.0%}"


def _as_stated(run: TrainedRun) -> bool:
    fraction, waited = recipe_of(run).fraction, delay(run)
    if fraction < 0.25:
        return highest(run, "test_accuracy") < 0.5
    if fraction < 0.45:
        return waited >= 1000
    return waited <= (500 if fraction > 0.55 else math.inf)


def _boundaries(*runs: TrainedRun) -> dict[str, Value]:
    ordered = sorted(runs, key=lambda run: recipe_of(run).fraction)
    return {
        "share of fractions as stated": share([_as_stated(run) for run in ordered]),
        "fractions": len(ordered),
        **{f"epochs from memorising to generalising, {_percent(run)}": delay(run) for run in ordered},
    }


def _thresholds(*runs: TrainedRun) -> dict[str, Value]:
    fractions = [recipe_of(run).fraction for run in runs]
    epochs = {(split, loss): [reached(run, split, loss) for run in runs]
              for split in ("train", "test") for loss in (1e-2, 1e-4, 1e-6)}  # fmt: skip
    train = [x for x in epochs["train", 1e-6] if x > 0]
    return {
        "rank correlation of fraction and epochs to a test loss of 1e-6": rank_correlation(fractions, epochs["test", 1e-6]),
        "largest over smallest number of epochs to a train loss of 1e-6": max(train) / min(train) if train else math.nan,
        "fractions": len(runs),
        "fractions that reach a test loss of 1e-6": sum(x == x for x in epochs["test", 1e-6]),
        "rank correlation of fraction and epochs to a test loss of 1e-2": rank_correlation(fractions, epochs["test", 1e-2]),
        **{f"epochs to a test loss of 1e-6, {_percent(run)}": reached(run, "test", 1e-6) for run in runs},
        **{f"epochs to a {split} loss of {loss:g}": [x for x in found if x == x]
           for (split, loss), found in epochs.items()},
    }  # fmt: skip


def _fourier_at_every_fraction(*runs: TrainedRun) -> dict[str, Value]:
    able = generalised(runs)
    found = {_percent(run): evidence(run).summary.logit_fve for run in able}
    return {
        "share with a logit FVE of at least 0.85": share([fve >= 0.85 for fve in found.values()]),
        "fractions": len(able),
        **{f"logit FVE, {percent}": fve for percent, fve in found.items()},
    }


def _together(*runs: TrainedRun) -> dict[str, Value]:
    delays, heights = [delay(run) for run in runs], [highest(run, "test_loss") for run in runs]
    chance = math.log(evidence(runs[0]).p)
    at_once = [height - chance for height, waited in zip(heights, delays, strict=True) if waited <= 500]
    return {
        "rank correlation of highest test loss and delay": rank_correlation(heights, delays),
        "highest test loss above chance of those that generalise at once": max(at_once, default=math.nan),
        "fractions that generalise": sum(waited == waited for waited in delays),
    }


FASTER = {
    "rank correlation of fraction and epochs to a test loss of 1e-6": at_most(-0.9, "falls steeply in figure 21; -1 is strictly"),
    "largest over smallest number of epochs to a train loss of 1e-6": at_most(2.5, "flat in figure 21: within a factor of 2.5"),
}  # fmt: skip
FLAT = "Half of it holds: the train loss comes below 1e-6 within 1,000 to 1,300 epochs whatever the fraction, and the test loss within 6,600, 3,700 and 1,200 at 30%, 40% and 50%. From 50% on it is as flat as the train loss, 1,100 to 1,300 with most at 90%, so that the ranks correlate by -0.59 only (-0.89 for a test loss of 1e-2)."

CLAIMS = (
    Claim(
        "nanda.fig20",
        "appendix C.2.2, figure 20",
        "With 10% and 20% of the pairs it does not generalise, with 30% to 50% it groks, with 60% and more it generalises at once.",
        "boundaries between 20% and 30%, and between 50% and 60%",
        _boundaries,
        {
            "share of fractions as stated": equals(
                1,
                "up to 20%: never half of the held out pairs right; 30% and 40%: 1,000 epochs of delay or more; from 60%: at most 500; 50%: either",
            )
        },
        needs=BY_FRACTION,
        scope="any seed",
        figure="fractions",
        required=(SEEDS[0], AMPLE),
    ),
    Claim(
        "nanda.fig21",
        "appendix C.2.2, figure 21",
        "The more data, the sooner the test loss comes below 1e-6; the train loss does so at about the same epoch whatever the fraction.",
        "none printed",
        _thresholds,
        FASTER,
        needs=BY_FRACTION,
        scope="any seed",
        finding=refuted(FLAT),
        figure="thresholds",
        required=(SEEDS[0], MODERATE, AMPLE),
    ),
    Claim(
        "nanda.C22.frac_smaller_slower",
        "appendix C.2.2",
        "Less data makes it generalise later and memorise at the same rate.",
        "none printed",
        _thresholds,
        FASTER,
        needs=BY_FRACTION,
        scope="any seed",
        finding=refuted(FLAT),
        figure="thresholds",
        required=(SEEDS[0], MODERATE, AMPLE),
    ),
    Claim(
        "nanda.C22.frac_fma",
        "appendix C.2.2",
        "All networks of the sweep over fractions that generalise do so by the same algorithm.",
        "FVE of the logits 91% to 99%, but 63.9% with 80% of the data (table 5)",
        _fourier_at_every_fraction,
        {"share with a logit FVE of at least 0.85": at_least(0.8, "five of the six rows of table 5")},
        needs=BY_FRACTION,
        scope="any seed",
        figure="table5",
        required=("nanda/fraction-*",),
    ),
    Claim(
        "nanda.E1.no_grok_if_together",
        "appendix E.1",
        "The less test and train loss part company at first, the less it groks: generalising at once goes with a test loss that never rises far.",
        "highest test loss 4.9 to 5.6 from 60% of the pairs, 26.6 with 30%, in archived networks",
        _together,
        {
            "rank correlation of highest test loss and delay": at_least(
                0.8, "over the fractions that generalise; 1 is strictly"
            ),
        },
        needs=BY_FRACTION,
        scope="any seed",
        figure="fractions",
        required=(SEEDS[0], MODERATE, AMPLE),
    ),
)
