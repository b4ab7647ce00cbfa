"""Put a finished training among the checkpoints: what is shipped of it, and its progress measured.

Training keeps every snapshot; a checkout ships the final weights, the history, the progress measures of all snapshots,
the log of spectra, and, on request, a dozen snapshots across the phases. Snapshots, and the final weights of runs in a
sweep, are shipped in float16; history and progress were measured before that rounding. History and progress are shipped
packed, with the seven digits that float32 has; the last snapshot is the final weights. The progress of a rounding
variant is shipped with its distance from the run that it is a variant of. For a network among many, such as a further
seed, tables can be shipped without weights: history, progress, and the measurements that claims need.
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
    """True if progress is measured on a task: a sum, a difference or a group, with a grid of inputs that is not too
    large.
    """
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
    """Measure progress at every snapshot of a finished run and copy what is shipped.

    Progress is measured where `has_progress` says so and inputs are held out, on which it is measured, too.

    Args:
        name: name of the run in the folder `runs`, and afterwards in `out`.
        snapshots: epochs whose snapshots are shipped; by default those published before, if any, and a dozen across
            the phases for an empty list.
        float16: whether the final weights are rounded to float16, as the snapshots are.
        tables: whether history, progress and what claims measure are shipped without the weights.
        spectra: whether the log of spectra is shipped, where the run has one.
        measured: whether what claims measure is shipped beside the weights, too.
        device: where the networks are measured.
    Returns:
        the folder that the run was put in.
    Raises:
        FileNotFoundError: the run has not been trained to its end.
        ValueError: the run is damaged, the name leads out of the folder, source and target are the same, the target
            holds files of something else, another process publishes there, or there is no snapshot of an epoch.
    """
    from modinterp.runs import load, store
    from modinterp.runs.layout import strange_files

    source, target = runs / store.checked_name(name), out / name
    if source.resolve() == target.resolve():
        raise ValueError(f"{target} would be published onto itself; choose another --runs or --out")
    if strange := strange_files(target):
        raise ValueError(
            f"{target} holds {strange[0]}, which is no file of a run; move it away or choose another --out"
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
    """Measure once more what claims measure of a run that was published with it and with its weights.

    Args:
        name: name of the run in the folder `root`.
    Returns:
        the folder of the run, in which what was measured, and its record, are replaced.
    Raises:
        ValueError: the run is damaged, or was published without its weights or without what was measured of it.
    """
    from modinterp.runs import load, store

    folder, run = root / store.checked_name(name), load(name, root=root)
    if not has_both(name, root):
        raise ValueError(f"{folder} was not published with its weights and with what claims measure of it")
    with replacing(folder) as new:
        shutil.copytree(folder, new, dirs_exist_ok=True)
        _write_record(run, folder, new, store.read_record(folder)["sha256"] | _write_measured(run, new))
    return folder


def has_both(name: str, root: Path) -> bool:
    """True if a run was published with its weights and with the measurements that claims need."""
    from modinterp.runs import store

    return {store.FINAL, store.MEASURED + store.PACKED} <= set(store.read_record(root / name)["sha256"])


def _recorded_progress(run: TrainedRun, folder: Path) -> pd.DataFrame:
    """Progress measures of a run at all its snapshots, which are also put beside it and into its `run.json`."""
    from modinterp.measurements import measure_as_published
    from modinterp.runs import store

    progress = measure_as_published(run).progress
    digest = write_atomically(folder / store.PROGRESS, store.table_bytes(progress))
    _write_record(run, folder, folder, store.read_record(folder)["sha256"] | {store.PROGRESS: digest})
    return progress


def _with_distance(run: TrainedRun, runs: Path) -> pd.DataFrame | None:
    """Progress measures, those of a rounding variant with its distance from the run that it is a variant of.

    A column `DISTANCE` holds the distance of all weights over the norm of those of the other run, at the snapshots of
    one epoch; it is there where the other one lies in the folder `runs` too.
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
    """The epochs whose snapshots are shipped: none for None, and a dozen across the phases for an empty list.

    Raises:
        ValueError: there is no snapshot of an epoch.
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
    """Copy files of a run, those in `half` in float16, and write its tables, what is measured of it, and its record.

    What is shipped with its weights is measured on the weights as they are shipped.
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
    """Write what claims measure of a run into a folder; the checksum of the file by its name."""
    from modinterp.reproduce.recording import recorded
    from modinterp.runs import store

    return {store.MEASURED + store.PACKED: store.write_packed(folder / store.MEASURED, recorded(run).to_bytes())}


def _write_record(run: TrainedRun, source: Path, target: Path, written: Mapping[str, str]) -> None:
    """Write the `run.json` of a run for the files that were written into `target`."""
    from modinterp.runs import store

    record = store.read_record(source)
    if run.spec is None:
        raise ValueError(f"{source} does not say what it was trained from")
    store.write_record(target, run.spec, record["epoch"], run.outcome, record.get("seconds"), written)
