"""Group runs whose networks have the same shape, so that each group trains as one computation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from modinterp.runs.ongoing import finished_outcome
from modinterp.training import RunSpec, shape_of

RUNS_AT_ONCE = {"cuda": 64, "cpu": 1}
PROCESSES_ON_GPU = 8  # that train groups of different shapes beside one another; more wait for one another's kernels


def runs_at_once(kind: str, asked: int | None = None) -> int:
    """Return how many runs of the same shape train at once.

    Args:
        kind: kind of the torch device, `cpu` or `cuda`.
        asked: number of runs that the user asks for; None for the default. The default number of runs is 64 on a GPU,
            where grouping more than halves the training time. The default number of runs is 1 on a CPU, where grouping
            saves no time and single runs finish sooner.
    Raises:
        ValueError: `asked` is less than 1.
    """
    if asked is not None and asked < 1:
        raise ValueError(f"the number of runs that train at once must be at least 1, got {asked}")
    return RUNS_AT_ONCE.get(kind, 1) if asked is None else asked


def groups(specs: Mapping[str, RunSpec], at_once: int) -> list[dict[str, RunSpec]]:
    """Split specs, in their order, into groups of the same shape with a maximal number of runs.

    The groups do not depend on the progress of runs, so a stopped training continues in the groups in which it began.
    """
    shapes: dict[object, list[str]] = defaultdict(list)
    for name, spec in specs.items():
        shapes[shape_of(spec)].append(name)
    parts = [names[i : i + at_once] for names in shapes.values() for i in range(0, len(names), at_once)]
    return [{name: specs[name] for name in names} for names in parts]


def unfinished_groups(specs: Mapping[str, RunSpec], at_once: int, out: Path) -> list[dict[str, RunSpec]]:
    """Return the `groups` that contain unfinished runs, without the finished runs of these groups.

    Args:
        out: the folder that contains the folders of all runs.
    """
    left = ({n: s for n, s in group.items() if not _is_finished(out / n, s)} for group in groups(specs, at_once))
    return [group for group in left if group]


def _is_finished(folder: Path, spec: RunSpec) -> bool:
    """Return True if a run is undamaged and was trained to the end of its spec."""
    try:
        return finished_outcome(folder, spec) is not None
    except ValueError:
        return False
