"""Group runs of one shape, which train as one program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from modinterp.runs.ongoing import finished_outcome
from modinterp.training import RunSpec, shape_of

RUNS_AT_ONCE = {"cuda": 64, "cpu": 1}
PROCESSES_ON_GPU = 8  # that train groups of different shapes beside one another; more wait for one another's kernels


def runs_at_once(kind: str, asked: int | None = None) -> int:
    """How many runs of one shape train at once.

    Args:
        kind: of the device, `cpu` or `cuda`.
        asked: the number that the user gives. By default it is 64 on a GPU, where runs together take less than half of
            the time. The default size is 1 on a CPU, where grouping saves no time and single runs finish sooner.
    Raises:
        ValueError: a size below one.
    """
    if asked is not None and asked < 1:
        raise ValueError(f"at least 1 run trains at a time, got {asked}")
    return RUNS_AT_ONCE.get(kind, 1) if asked is None else asked


def groups(specs: Mapping[str, RunSpec], at_once: int) -> list[dict[str, RunSpec]]:
    """The specs in groups of one shape with a largest number of runs, in the given order.

    Groups do not depend on how far runs are, so that a stopped training continues in the groups in which it began.
    """
    shapes: dict[object, list[str]] = defaultdict(list)
    for name, spec in specs.items():
        shapes[shape_of(spec)].append(name)
    parts = [names[i : i + at_once] for names in shapes.values() for i in range(0, len(names), at_once)]
    return [{name: specs[name] for name in names} for names in parts]


def unfinished_groups(specs: Mapping[str, RunSpec], at_once: int, out: Path) -> list[dict[str, RunSpec]]:
    """The `groups` with unfinished runs, without their finished runs.

    Args:
        out: the folder in which each run has its own.
    """
    left = ({n: s for n, s in group.items() if not _is_finished(out / n, s)} for group in groups(specs, at_once))
    return [group for group in left if group]


def _is_finished(folder: Path, spec: RunSpec) -> bool:
    """Whether a run was trained to the end that its spec has; one that is damaged, or another's, was not."""
    try:
        return finished_outcome(folder, spec) is not None
    except ValueError:
        return False
