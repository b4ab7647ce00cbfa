"""Publish a finished training: measure its progress, and copy the shipped files to the checkpoints.

Training keeps every snapshot. A published run has the final weights, the history, the progress measures of all
snapshots, the log of spectra, and, on request, a dozen snapshots. Snapshots, and the final weights of runs in a sweep,
are shipped in float16; history and progress were measured before the rounding. History and progress are shipped
compressed, with the seven digits of float32; the last snapshot is the final weights. The progress of a numerical
replicate is shipped with its distance from the original run. For one network among many, such as a further seed, only
tables are shipped: history, progress, and the measurements that claims need.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from modinterp.files import write_atomically
from modinterp.publish.replacing import replacing

if TYPE_CHECKING:
    import pandas as pd

    from modinterp.runs import TrainedRun
    from modinterp.tasks import Task

DISTANCE = "distance_from_unmoved"  # column of the progress of rounding variants
DIGITS = 7  # significant digits of the numbers in shipped tables
MOST_LOGITS = 2 * 10**7  # on all inputs; with more of them one snapshot takes gigabytes and minutes


def has_progress(task: Task) -> bool:
    """Return True if progress can be measured on a task: a sum, a difference or a group with few enough inputs."""
    from modinterp.tasks import Group, ModularArithmetic
    from modinterp.tasks.modular import SIGNS

    has_waves = isinstance(task, Group) or (isinstance(task, ModularArithmetic) and task.op in SIGNS)
    return has_waves and math.prod(task.grid or ()) * task.output_sizes[0] <= MOST_LOGITS


def publish(
    name: str,
    runs: Path,
    out: Path,
    snapshots: Sequence[int] | None = None,
    float16: bool = False,
    tables: bool = False,
    spectra: bool = True,
    measured: bool = False,
    device: str = "cpu",
) -> Path:
    """Measure progress at every snapshot of a finished run, and copy the shipped files.

    Progress is measured if `has_progress` is True and the run has held-out inputs.

    Args:
        name: name of the run in the folder `runs`, and later in the folder `out`.
        snapshots: epochs whose snapshots are shipped; by default those published before, if any; for an empty list, a
            dozen across the phases.
        float16: True to round the final weights to float16, like the snapshots.
        tables: True to ship only history, progress and recorded measurements, without weights.
        spectra: True to ship the log of activation spectra, if the run has one.
        measured: True to ship recorded measurements in addition to the weights.
        device: device on which the networks are measured.
    Returns:
        the folder of the published run.
    Raises:
        FileNotFoundError: the run has not been trained to its end.
        ValueError: the run is damaged, the name leads out of the folder, source and target are the same, the target
            holds other files, another process publishes there, or an epoch has no snapshot.
    """
    from modinterp.runs import load, store
    from modinterp.runs.layout import strange_files

    source, target = runs / store.checked_name(name), out / name
    if source.resolve() == target.resolve():
        raise ValueError(f"{target} would be published onto itself; choose another --runs or --out")
    if strange := strange_files(target):
        raise ValueError(
            f"{target} holds {strange[0]}, which is not a file of a run; move it away or choose another --out"
        )
    run = load(name, root=runs, device=device)
    snapshots = store.snapshot_epochs(target) or None if snapshots is None else snapshots
    if run.progress is None and has_progress(run.task) and len(run.split.test):
        run.progress = _recorded_progress(run, source)
    run.progress = _with_distance(run, runs)
    epochs = _chosen_epochs(run, snapshots)
    end = store.read_record(source)["epoch"]  # the last snapshot is the final weights
    earlier = [epoch for epoch in epochs if epoch != end] or epochs
    half = [str(store.snapshot_path(Path(), epoch)) for epoch in earlier] + [store.FINAL] * float16
    whole = [store.FINAL] * (not float16) + [store.SPECTRA] * (spectra and run.spectra is not None)
    if tables:
        half, whole = [], []
    with replacing(target) as new:
        _copy(run, source, new, half, whole, tables or measured)
    return target


def measure_again(name: str, root: Path) -> Path:
    """Repeat the recorded measurements of a run that was published with its weights and with recorded measurements.

    Args:
        name: name of the run in the folder `root`.
    Returns:
        the folder of the run, in which the recorded measurements and `run.json` are replaced.
    Raises:
        ValueError: the run is damaged, or was published without its weights or without recorded measurements.
    """
    from modinterp.runs import load, store

    folder, run = root / store.checked_name(name), load(name, root=root)
    if not has_both(name, root):
        raise ValueError(f"{folder} was not published with its weights and the measurements of claims")
    with replacing(folder) as new:
        shutil.copytree(folder, new, dirs_exist_ok=True)
        _write_record(run, folder, new, store.read_record(folder)["sha256"] | _write_measured(run, new))
    return folder


def has_both(name: str, root: Path) -> bool:
    """Return True if a run was published with its weights and with recorded measurements."""
    from modinterp.runs import store

    return {store.FINAL, store.MEASURED + store.PACKED} <= set(store.read_record(root / name)["sha256"])


def _recorded_progress(run: TrainedRun, folder: Path) -> pd.DataFrame:
    """Measure the progress of a run at all its snapshots, and write the table into the run's folder and `run.json`."""
    from modinterp.measurements import measure_as_published
    from modinterp.runs import store

    progress = measure_as_published(run).progress
    digest = write_atomically(folder / store.PROGRESS, store.table_bytes(progress))
    _write_record(run, folder, folder, store.read_record(folder)["sha256"] | {store.PROGRESS: digest})
    return progress


def _with_distance(run: TrainedRun, runs: Path) -> pd.DataFrame | None:
    """Return progress measures; for a numerical replicate, add its distance from the original run.

    The column `DISTANCE` holds the distance of all weights, divided by the norm of the original run's weights, at
    snapshots of the same epoch. The column exists if the original run is also in the folder `runs`.
    """
    from modinterp.analyses.training.progress import distance_of_weights
    from modinterp.runs import load, store
    from modinterp.tasks.description import kind_of
    from modinterp.training import RunSpec

    if run.progress is None or run.spec is None or run.spec.nudge is None:
        return run.progress
    unmoved = replace(run.spec, nudge=None)
    specs = {name: store.read_record(runs / name)["spec"] for name in store.run_names(runs)}
    alike = (name for name, spec in specs.items() if spec["task"]["kind"] == kind_of(type(run.task)))
    if (name := next((n for n in alike if RunSpec.from_json(specs[n], run.task) == unmoved), None)) is None:
        return run.progress
    other = load(name, root=runs, device=str(run.network.device))
    epochs = (e for e in run.progress["epoch"] if e in run.snapshots and e in other.snapshots)
    distances = {e: distance_of_weights(run.at(e), other.at(e)) for e in epochs}
    if not distances:  # published before, with the distances and without the snapshots
        return run.progress
    return run.progress.assign(**{DISTANCE: run.progress["epoch"].map(distances)})


def _chosen_epochs(run: TrainedRun, epochs: Sequence[int] | None) -> Sequence[int]:
    """Return the epochs whose snapshots are shipped: none for None, and a dozen across the phases for an empty list.

    Raises:
        ValueError: an epoch has no snapshot.
    """
    from modinterp.analyses.training.phases import phases

    if epochs is not None and not run.snapshots:
        raise ValueError(f"{run.name} has no snapshots")
    if epochs is not None and not epochs and run.progress is not None:
        epochs = phases(run.progress).dozen_of(list(run.snapshots))
    if missing := sorted(set(epochs or ()) - set(run.snapshots)):
        raise ValueError(f"{run.name} has no snapshots of the epochs {missing}")
    return epochs or ()


def _copy(
    run: TrainedRun, source: Path, target: Path, half: Sequence[str], whole: Sequence[str], measured: bool
) -> None:
    """Copy files of a run, the files in `half` as float16, and write tables, recorded measurements and `run.json`.

    Recorded measurements are taken from the shipped weights, after any rounding.
    """
    from modinterp.models import fitting
    from modinterp.runs import store

    record, written = store.read_record(source), {}
    for path in half:
        weights = store.read_weights(store.verify(source, record, path))
        written[path] = store.write_weights(target / path, {name: w.half() for name, w in weights.items()})
    for path in whole:
        written[path] = write_atomically(target / path, store.verify(source, record, path).read_bytes())
    tables = {store.HISTORY: run.history, store.PROGRESS: run.progress}
    for name, table in tables.items():
        if table is not None:
            packed = store.write_packed(target / name, store.table_bytes(table, DIGITS))
            written[name + store.PACKED] = packed
    if measured and run.has_weights:
        if store.FINAL in written and run.spec is not None:
            shipped = fitting(store.read_weights(target / store.FINAL), run.spec.model, run.task)
            run = replace(run, model=shipped.to(run.network.device))
        written |= _write_measured(run, target)
    _write_record(run, source, target, written)


def _write_measured(run: TrainedRun, folder: Path) -> dict[str, str]:
    """Write the recorded measurements of a run into a folder, and return the checksum of the file by its name."""
    from modinterp.reproduce.recording import recorded
    from modinterp.runs import store

    return {store.MEASURED + store.PACKED: store.write_packed(folder / store.MEASURED, recorded(run).to_bytes())}


def _write_record(run: TrainedRun, source: Path, target: Path, written: Mapping[str, str]) -> None:
    """Write the `run.json` that lists the files written into `target`."""
    from modinterp.runs import store

    record = store.read_record(source)
    if run.spec is None:
        raise ValueError(f"{source} does not record its task, network and recipe")
    store.write_record(target, run.spec, record["epoch"], run.outcome, record.get("seconds"), written)
