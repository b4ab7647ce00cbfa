"""Choose the class of measurements for a run."""

from __future__ import annotations

from modinterp.arguments import check
from modinterp.measurements.cyclic import CyclicMeasurements
from modinterp.measurements.groups import GroupMeasurements
from modinterp.measurements.network import NetworkMeasurements
from modinterp.measurements.orders import OrderMeasurements
from modinterp.measurements.pairs import PairMeasurements
from modinterp.measurements.sequences import SequenceMeasurements
from modinterp.runs import TrainedRun
from modinterp.tasks import Group, Ordering, Task

Measured = (
    CyclicMeasurements | GroupMeasurements | PairMeasurements | OrderMeasurements | SequenceMeasurements
    | NetworkMeasurements
)  # fmt: skip


def family(task: Task) -> type[NetworkMeasurements]:
    """Return the class of measurements for a task, chosen by the shape of its inputs and answers.

    >>> from modinterp.tasks import addition
    >>> family(addition(5)).__name__
    'CyclicMeasurements'
    """
    if isinstance(task, Ordering):
        return OrderMeasurements
    if task.grid is None:
        return SequenceMeasurements
    if len(task.grid) != 2:
        return NetworkMeasurements
    if isinstance(task, Group):  # its numbers are names, whose order says nothing
        return GroupMeasurements
    return CyclicMeasurements if task.output_sizes * 2 == task.grid else PairMeasurements


def measure(run: TrainedRun | NetworkMeasurements, as_published: bool = False, draws: int = 199) -> NetworkMeasurements:
    """Return the measurements of a run; each measurement is computed at first use and then cached.

    Measurements that are passed in place of a run are returned unchanged. `modinterp.measure` also takes a name, a
    file, a module or a function.

    Args:
        run: a run, or the measurements of a run.
        as_published: True to choose key frequencies and representations exactly as in the papers.
        draws: number of random matrices for each null distribution of the spectrum.
    """
    check("run", run, TrainedRun | NetworkMeasurements)
    return run if isinstance(run, NetworkMeasurements) else family(run.task)(run, as_published, draws)


def measure_as_published(run: TrainedRun | NetworkMeasurements) -> NetworkMeasurements:
    """Return the measurements of a run with key frequencies and representations chosen as in the papers; claims use
    this function.
    """
    return measure(run, as_published=True)
