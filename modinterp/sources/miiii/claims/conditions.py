"""Preconditions of claims: the network has learned and trained long enough; and the tasks that the source discusses
separately.

A task counts as generalised at a test accuracy of 0.99 (`modinterp.analyses.training.phases.LEARNED`). A network counts
as trained at a mean test accuracy of 0.9 over its tasks, so that a few tasks may be missing.
"""

from modinterp.claims.band import at_least
from modinterp.measurements import PairMeasurements
from modinterp.runs import NotRecorded

FIRST_PRIMES = (2, 3, 5, 7)  # whose tasks the source says are learned first
LEARNED = at_least(0.9, "the statement is about networks that have learned the task")
MEAN_TEST_ACCURACY = "mean test accuracy"
GENERALISED = {MEAN_TEST_ACCURACY: LEARNED}


def later_primes(m: PairMeasurements) -> tuple[int, ...]:
    """Return the primes of a run's tasks, without the first four primes."""
    return tuple(q for q in m.task.output_sizes if q not in FIRST_PRIMES)


def last_epoch(m: PairMeasurements) -> int:
    """Return the last epoch in a run's history."""
    return int(m.history["epoch"].iloc[-1])


def check_as_long(m: PairMeasurements, epochs: float) -> None:
    """Refuse a run that ended before the claim about it could be decided.

    Args:
        epochs: number of epochs after which the claim can be decided.
    Raises:
        NotRecorded: the run ended before the claim could be decided.
    """
    if last_epoch(m) < epochs:
        raise NotRecorded(f"{m.name} ends at epoch {last_epoch(m):,}; the statement is decided at {epochs:,.0f}")
