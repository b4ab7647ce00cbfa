"""Compute numbers about a training that several claims use, such as its last epoch and its grokking epoch, and name
these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean
from typing import Literal, TypeVar

import pandas as pd

from modinterp.claims.claim import Change
from modinterp.measurements import NetworkMeasurements
from modinterp.runs import NotRecorded

MEDIAN_GROKKING_EPOCH = "median grokking epoch"
DELAY = "epochs from memorising to generalising"
LOGIT_FVE = "logit FVE"
MEAN_MLP_FVE = "mean MLP FVE"
GENERALISES = 0.9  # of the inputs held out: below it the paper's networks are said not to generalise

ONE_DEFINITION = Change(
    date="2026-11-24",
    what="the lowest accuracy at which a network counts as generalising",
    before=(
        "the claims disagreed on the accuracy from which a network counts as generalising: 0.95 of all pairs in "
        "table 6, 0.99 of held-out pairs in C.2.2 and C.2.3, 0.9 in table 5"
    ),
    now="every claim counts a network as generalising if its accuracy is at least 0.9",
    why=(
        "'generalises' should have one meaning; a limit of 0.9 accepts the most networks, such as networks "
        "modulo 53 with an accuracy of 98.7%"
    ),
)


def settled_alone(of_the_other: str, was: Literal["", "mixed"] = "") -> tuple[Change, Change]:
    """Describe how the network rounding-9, in which a claim does not hold, was first left out, and how it counts now.

    Args:
        of_the_other: the claim's number in the network rounding-9.
        was: verdict from the time when each numerical replicate counted; empty if the claim does not hold now.
    """
    return (
        Change(
            date="2026-11-25",
            what="the networks that the claim counts",
            before=(
                f"all networks of the recipe counted: {of_the_other} in the network rounding-9, and all other "
                "networks behave as the source states; mixed"
            ),
            now="only networks that had settled (finished cleanup) when their training ended count; holds",
            why=(
                "the network rounding-9 was still in cleanup at 20,000 epochs; we excluded unsettled "
                "networks after seeing the numbers of rounding-9, the only unsettled network"
            ),
        ),
        Change(
            date="2026-11-28",
            was=was,
            what="the networks that the claim counts",
            before="only networks that had settled (finished cleanup) when their training ended counted",
            now=(
                "all networks count, but numerical replicates of a seed count as one seed; the network "
                "rounding-9 is one of twelve numerical replicates of seed 0"
            ),
            why=(
                "we made the rule to exclude unsettled networks for the network rounding-9 alone, after its "
                "numbers were known, so we withdraw the rule"
            ),
        ),
    )


def by_seed(before: str) -> tuple[Change]:
    """Describe a claim that holds in every seed, but in only some numerical replicates of seed 0.

    Args:
        before: number of networks in which the claim held when each numerical replicate counted.
    """
    return (
        Change(
            date="2026-11-28",
            was="mixed",
            what="what counts as one network",
            before=f"every network counted, also each numerical replicate of seed 0: the claim held in {before}; mixed",
            now=(
                "each independent seed counts once; the claim holds in a seed if it holds in most of its "
                "numerical replicates; the claim holds in all 20 seeds"
            ),
            why="networks that differ by rounding alone are one sample of the recipe",
        ),
    )


THREE_OF_FIVE = Change(
    date="2026-11-23",
    what="the runs that the claim needs, and the verdict",
    before="one of the five seeds was enough for the claim, and only one seed was trained",
    now="the claim needs three of the five seeds, and is open until three seeds are trained",
    why="one seed cannot show a share of seeds, or the mean of a loss that differs a hundredfold between networks",
)

M = TypeVar("M", bound=NetworkMeasurements)


def curve(m: NetworkMeasurements, column: str) -> pd.Series:
    """Return a column of the history, with one value for every logged epoch.

    Raises:
        NotRecorded: the run is an external checkpoint, whose training is not known.
    """
    if not len(m.history):
        raise NotRecorded(f"how {m.name} was trained is not known")
    return pd.Series(m.history[column])


def final(m: NetworkMeasurements, column: str) -> float:
    """Return the last value of a column of the history."""
    return float(curve(m, column).iloc[-1])


def highest(m: NetworkMeasurements, column: str) -> float:
    """Return the largest value of a column of the history."""
    return float(curve(m, column).max())


def still_learning(m: NetworkMeasurements) -> bool:
    """Return True if the test accuracy never reached 0.98 and gained over 0.01 in the last quarter of the training."""
    epoch, best = curve(m, "epoch"), highest(m, "test_accuracy")
    before = float(curve(m, "test_accuracy")[epoch <= 0.75 * epoch.iloc[-1]].max())
    return best < 0.98 and best - before > 0.01


def delay(m: NetworkMeasurements) -> float:
    """Return the number of epochs from memorising to generalising; NaN if the network does not do both."""
    return m.grokking.grokked - m.grokking.memorised


def generalised(runs: Sequence[M]) -> list[M]:
    """Return the networks with a final accuracy of at least 90% on held-out pairs."""
    return [m for m in runs if final(m, "test_accuracy") >= GENERALISES]


def share(verdicts: Sequence[bool]) -> float:
    """Return the share of the verdicts that are true; NaN for an empty list."""
    return mean(map(float, verdicts)) if verdicts else math.nan
