"""Preconditions of the claims: the networks that a claim is about."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from modinterp.claims.band import at_least, equals
from modinterp.claims.claim import Value
from modinterp.measurements import CyclicMeasurements, NoSuchPart, one_at_a_time
from modinterp.models import TransformerConfig

ROUND = 0.995  # circularity of a circular run, at least
CIRCULARITY = "circularity"
CIRCULAR_RUNS = "solved runs with circularity of at least 0.995"
SOLVED = {"accuracy": equals(1, "the statement is about networks that solve the task")}
CIRCULAR = SOLVED | {CIRCULARITY: at_least(ROUND, "the statement is about networks whose components are circles")}
SOLVED_RUNS = "runs that solve the task"
HAS_SOLVED = {SOLVED_RUNS: at_least(1, "the statement is about networks that solve the task")}


def circularity(m: CyclicMeasurements) -> dict[str, Value]:
    """Return the result that `CIRCULAR` tests in addition to the accuracy."""
    return {CIRCULARITY: m.isolation.circularity.mean}


def solved(runs: Sequence[CyclicMeasurements]) -> list[CyclicMeasurements]:
    """Return the runs that answer every pair correctly."""
    return [m for m in one_at_a_time(runs) if m.accuracy == 1]


def circular(runs: Sequence[CyclicMeasurements]) -> list[CyclicMeasurements]:
    """Return the solved runs whose leading components are circles."""
    return [m for m in solved(runs) if m.isolation.circularity.mean >= ROUND]


def chosen_or_all(
    chosen: Sequence[CyclicMeasurements], runs: Sequence[CyclicMeasurements]
) -> Sequence[CyclicMeasurements]:
    """Return the chosen runs; all runs if none is chosen, as for control numbers before training."""
    return chosen or runs


def rate(m: CyclicMeasurements) -> float:
    """Return the attention rate of a transformer.

    Raises:
        NoSuchPart: the network has no attention.
    """
    if not isinstance(config := m.config, TransformerConfig):
        raise NoSuchPart(f"{m.name} has no attention")
    return config.attention_rate


def middle(values: Sequence[float]) -> float:
    """Return the median of some numbers; NaN for an empty list."""
    return median(values) if values else float("nan")
