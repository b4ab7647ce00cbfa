"""`python -m modinterp.publish NAME ...`: measure a finished training's progress and put it among the checkpoints.

Training keeps every snapshot; a checkout ships the final weights, the history, the progress measures of all snapshots,
the log of spectra, and, where asked for, a dozen snapshots across the phases. Snapshots are shipped in float16, and so
are the final weights of runs in a sweep; what history and progress say was measured before that rounding. Both tables
are shipped packed, with the seven digits that float32 has; the last snapshot is the final weights. The progress of a
rounding variant is shipped with its distance from the run that it is a variant of. Of one network among many, such as a
seed more, tables can be shipped without the weights: history, progress, and what claims measured of it.
"""

from __future__ import annotations

import fnmatch
import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from modinterp.files import writable_folder, write_atomically
from modinterp.terminal.errors import one_line_errors
from modinterp.terminal.parser import Parser

if TYPE_CHECKING:
    import pandas as pd

    from modinterp.runs import TrainedRun
    from modinterp.tasks import Task


def _arguments() -> Parser:
    parser = Parser(
        prog="python -m modinterp.publish",
        description="""Put finished runs among the checkpoints that a checkout ships.

Measures the progress of each at all its snapshots, if that is not done yet, and copies weights, history, progress and
what else is asked for. What was published under the same name before is replaced; its snapshots are those of the same
epochs, where --snapshots does not choose others.""",
        epilog="""examples:
  python -m modinterp.publish mine/sums-0 --snapshots             with a dozen snapshots across the phases
  python -m modinterp.publish mine/sums-0 --snapshots 5000 20000
  python -m modinterp.publish 'mine/p53-*' --float16 --out shared  into a folder of your own
  python -m modinterp.publish ground-truth --help                 networks whose mechanism is known, for methods
  python -m modinterp.publish 'mine/p53-*' --hub me/sums          onto the Hub, for load("hf://me/sums/mine/p53-0")

exit code: 0 when all were published, 2 on bad usage, 130 after Ctrl-C.""",
    )
    option = parser.add_argument
    option("names", metavar="NAME", nargs="+", help="such as SOURCE/RUN, or 'SOURCE/*' for all that are trained")
    runs_help = "where the runs were trained (default: trained/)"
    option("--runs", metavar="DIR", type=Path, default=Path("trained"), help=runs_help)
    out_help = "where to put them (default: checkpoints/; with --hub a folder that is not kept)"
    option("--out", metavar="DIR", type=Path, help=out_help)
    snapshots_help = "ship the snapshots of these epochs too, or of a dozen (default: as before)"
    option("--snapshots", metavar="EPOCH", type=int, nargs="*", help=snapshots_help)
    option("--no-spectra", action="store_true", help="leave out the log of spectra")
    option("--hub", metavar="OWNER/REPO", help="put them into this repository of the Hugging Face Hub, with a card; "
           "HF_TOKEN must let you write there (default: none)")  # fmt: skip
    option("--licence", metavar="NAME", default="mit", help="of the weights on the Hub (default: mit)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--float16", action="store_true", help="ship the final weights in half their size")
    size.add_argument("--tables", action="store_true",
                      help="ship history, progress and what claims measure, without the weights")  # fmt: skip
    option("--measured", action="store_true", help="ship what claims measure beside the weights, too")
    return parser


def dozen_epochs(epochs: list[int], boundaries: tuple[float, float, float]) -> list[int]:
    """A dozen of the epochs, spread over the phases: the ends, the boundaries, and two within each phase.

    Args:
        epochs: the epochs of all snapshots, in order.
        boundaries: the epochs between the phases; those that are NaN are ignored.
    """
    knots = [epochs[0], *(t for t in boundaries if t == t), epochs[-1]]
    targets = [start + (end - start) * i / 3 for start, end in pairwise(knots) for i in range(3)] + [epochs[-1]]
    return sorted({min(epochs, key=lambda e: abs(e - t)) for t in targets})


GROUND_TRUTH = "ground-truth"  # in place of names of runs
DISTANCE = "distance_from_unmoved"  # column of the progress of rounding variants
DIGITS = 7  # significant digits of the numbers in shipped tables
MOST_LOGITS = 2 * 10**7  # on all inputs; with more of them one snapshot takes gigabytes and minutes


def has_progress(task: Task) -> bool:
    """Whether progress is measured on a task: a sum, a difference or a group, with a grid of inputs not too large."""
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
) -> Path:
    """Measure progress at every snapshot of a finished run and copy what is shipped.

    Progress is measured where `has_progress` says so.

    Args:
        name: name of the run in the folder `runs`, and afterwards in `out`.
        snapshots: epochs whose snapshots are shipped; by default those published before, if any, and a dozen across
            the phases for an empty list.
        float16: whether the final weights are rounded to float16, as the snapshots are.
        tables: whether history, progress and what claims measure are shipped without the weights.
        spectra: whether the log of spectra is shipped, where the run has one.
        measured: whether what claims measure is shipped beside the weights, too.
    Returns:
        the folder that the run was put in.
    Raises:
        FileNotFoundError: the run has not been trained to its end.
        ValueError: the run is damaged, the name leads out of the folder, source and target are the same, or there is
            no snapshot of an epoch.
    """
    from modinterp.runs import load, store

    source, target = runs / store.checked_name(name), out / name
    if source.resolve() == target.resolve():
        raise ValueError(f"{target} would be published onto itself; choose another --runs or --out")
    run = load(name, root=runs)
    snapshots = store.snapshot_epochs(target) or None if snapshots is None else snapshots
    if run.progress is None and has_progress(run.task):
        run.progress = _recorded_progress(run, source)
    run.progress = _with_distance(run, runs)
    epochs = _chosen_epochs(run, snapshots)
    end = store.read_record(source)["epoch"]  # the last snapshot is the final weights
    earlier = [epoch for epoch in epochs if epoch != end] or epochs
    half = [str(store.snapshot_path(Path(), epoch)) for epoch in earlier] + [store.FINAL] * float16
    whole = [store.FINAL] * (not float16) + [store.SPECTRA] * (spectra and run.spectra is not None)
    if tables:
        half, whole = [], []
    new = target.with_name(f".{target.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    _copy(run, source, new, half, whole, tables or measured)
    shutil.rmtree(target, ignore_errors=True)
    new.rename(target)
    return target


def _recorded_progress(run: TrainedRun, folder: Path) -> pd.DataFrame:
    """Progress measures of a run at all its snapshots, which are also put beside it and into its `run.json`."""
    from modinterp.measurements import measure
    from modinterp.runs import store

    progress = measure(run).progress
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
    other = load(name, root=runs)
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
        boundaries = phases(run.progress)
        epochs = dozen_epochs(list(run.snapshots), (boundaries.memorised, boundaries.formed, boundaries.cleaned))
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
    from modinterp.reproduce.recorded import recorded
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
            run = replace(run, model=fitting(store.read_weights(target / store.FINAL), run.spec.model, run.task))
        packed = store.write_packed(target / store.MEASURED, recorded(run).to_bytes())
        written[store.MEASURED + store.PACKED] = packed
    _write_record(run, source, target, written)


def _write_record(run: TrainedRun, source: Path, target: Path, written: Mapping[str, str]) -> None:
    """Write the `run.json` of a run for the files that were written into `target`."""
    from modinterp.runs import store

    record = store.read_record(source)
    if run.spec is None:
        raise ValueError(f"{source} does not say what it was trained from")
    store.write_record(target, run.spec, record["epoch"], run.outcome, record.get("seconds"), written)


@one_line_errors("stopped; what was published before is as it was")
def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == [GROUND_TRUTH]:
        from modinterp.exports.command import ground_truth

        return ground_truth(given[1:])
    options = _arguments().parse_args(given)
    from modinterp.runs import hub, store
    from modinterp.training import prepare_cpu

    if arguments is None:  # the process is the command's own
        prepare_cpu()
    if options.hub is not None:  # before anything is measured
        hub.Address.parsed(f"{hub.SCHEME}{options.hub}")
    names = [name for pattern in options.names for name in _finished(pattern, options.runs)]
    what = options.snapshots, options.float16, options.tables, not options.no_spectra, options.measured
    with ExitStack() as kept:
        if options.out is not None:
            out = writable_folder(options.out)
        elif options.hub:
            out = Path(kept.enter_context(TemporaryDirectory()))
        else:
            try:
                out = store.checkpoints()
            except store.NoCheckpoints:
                raise ValueError("there is no checkout to publish into; --out names a folder") from None
            if not out.is_dir():
                raise ValueError(f"there is no folder {out} to publish into; --out names one")
        for name in names:
            folder = publish(name, options.runs, out, *what)
            if options.out is not None or not options.hub:
                print(folder)
        if options.hub:
            from modinterp.exports.repository import upload, write_repository

            write_repository(options.hub, names, out, options.licence)
            print(upload(options.hub, out, names))
    return 0


def _finished(pattern: str, runs: Path) -> list[str]:
    """The names of the finished runs that a pattern fits; a name without a star is that of one run, finished or not."""
    from modinterp.runs import store

    names = fnmatch.filter(store.run_names(runs), pattern) if "*" in pattern else [pattern]
    if not names:
        raise ValueError(f"no trained run in {runs} fits {pattern!r}")
    return names


if __name__ == "__main__":
    sys.exit(main())
