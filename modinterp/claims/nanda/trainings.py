"""What is asked of how a network was trained, and how that went."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean

from modinterp.analyses.phases import LEARNED
from modinterp.claims.band import at_most
from modinterp.claims.evidence import evidence
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.training import Recipe

MISSING = "seeds that could still decide it"
DECIDED = {MISSING: at_most(0, "two of three seeds are asked for")}


def recipe_of(run: TrainedRun) -> Recipe:
    """How a run was trained.

    Raises:
        NotRecorded: a foreign checkpoint, of which that is not known.
    """
    if run.spec is None:
        raise NotRecorded(f"how {run.name} was trained is not known")
    return run.spec.recipe


def final(run: TrainedRun, column: str) -> float:
    """A measure at the end of a training; NaN without a history."""
    return float(run.history[column].iloc[-1]) if len(run.history) else math.nan


def highest(run: TrainedRun, column: str) -> float:
    """The largest value that a measure takes in a training."""
    return float(run.history[column].max())


def still_learning(run: TrainedRun) -> bool:
    """Whether the test accuracy gained more than 0.01 in the last quarter of the training, not having reached 0.98."""
    epoch, best = run.history["epoch"], highest(run, "test_accuracy")
    before = float(run.history["test_accuracy"][epoch <= 0.75 * epoch.iloc[-1]].max())
    return best < 0.98 and best - before > 0.01


def delay(run: TrainedRun) -> float:
    """Epochs from memorising to generalising; NaN where either does not happen."""
    found = evidence(run).grokking
    return found.grokked - found.memorised


def generalised(runs: Sequence[TrainedRun]) -> list[TrainedRun]:
    """Those that are right on 99% of the pairs held out when their training ends."""
    return [run for run in runs if final(run, "test_accuracy") >= LEARNED]


def share(true: Sequence[bool]) -> float:
    """Of those that are true; NaN of none."""
    return mean(map(float, true)) if true else math.nan


def undecided(true: Sequence[bool], enough: int = 2, seeds: int = 3) -> int:
    """How many seeds are missing before it can be said whether it is true of enough of them; 0 where it can.

    >>> undecided([False]), undecided([False, False]), undecided([True, True]), undecided([True, False])
    (2, 0, 0, 1)
    """
    yes = sum(true)
    decided = yes >= enough or len(true) - yes > seeds - enough
    return 0 if decided else seeds - len(true)
