"""From a run to what is measured of it."""

from __future__ import annotations

from typing import Any

from modinterp.arguments import check
from modinterp.measurements.grid import GridMeasurements
from modinterp.measurements.groups import GroupMeasurements
from modinterp.measurements.network import NetworkMeasurements
from modinterp.measurements.orders import OrderMeasurements
from modinterp.measurements.pairs import PairMeasurements
from modinterp.measurements.sequences import SequenceMeasurements
from modinterp.runs import TrainedRun
from modinterp.tasks import Group, Ordering, Task


def family(task: Task) -> type[NetworkMeasurements]:
    """The class that measures networks of a task, chosen by the shape of inputs and answers: anybody's task has one.

    >>> from modinterp.tasks import addition
    >>> family(addition(5)).__name__
    'PairMeasurements'
    """
    if isinstance(task, Ordering):
        return OrderMeasurements
    if task.grid is None:
        return SequenceMeasurements
    if len(task.grid) != 2:
        return NetworkMeasurements
    if isinstance(task, Group):  # its numbers are names, whose order says nothing
        return GroupMeasurements
    return PairMeasurements if task.output_sizes * 2 == task.grid else GridMeasurements


def measure(run: TrainedRun | NetworkMeasurements) -> Any:
    """What is measured of a run, each measurement computed when it is first asked for, and then kept.

    Measurements of a run are returned as they are, so that a function may ask for either.

    >>> m = measure(run)          # doctest: +SKIP
    >>> m.keys.freqs              # doctest: +SKIP
    (14, 35, 41, 42, 52)
    """
    check("run", run, TrainedRun | NetworkMeasurements)
    return run if isinstance(run, NetworkMeasurements) else family(run.task)(run)
