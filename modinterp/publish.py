"""`python -m modinterp.publish NAME ...`: measure a finished training's progress and put it among the checkpoints.

Training keeps every snapshot; a checkout ships the final weights, the history, the progress measures of all snapshots,
the log of spectra, and, where asked for, a dozen snapshots across the phases. Snapshots are shipped in float16, and so
are the final weights of runs in a sweep; what history and progress say was measured before that rounding. Both tables
are shipped packed, with the seven digits that float32 has; the last snapshot is the final weights. Of a run that is
asked for its history alone, such as a network that learned nothing, the tables can be shipped without the weights.
"""

from __future__ import annotations

import fnmatch
import shutil
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from modinterp.usage import Parser, one_line_errors, writable
from modinterp.usage import progress as progress_bar

if TYPE_CHECKING:
    from modinterp.tasks import Task


def _arguments() -> Parser:
    parser = Parser(
        prog="python -m modinterp.publish",
        description="""Put finished runs among the checkpoints that a checkout ships.

Measures the progress of each at all its snapshots, if that is not done yet, and copies weights, history, progress and
what else is asked for. What was published under the same name before is replaced; its snapshots are those of the same
epochs, where --snapshots does not choose others.""",
        epilog="""examples:
  python -m modinterp.publish nanda/mainline-0 --snapshots        with a dozen snapshots across the phases
  python -m modinterp.publish clock/no-pos-0 --snapshots 5000 20000
  python -m modinterp.publish 'nanda/p53-*' --float16 --out mine  into a folder of your own

exit code: 0 when all were published, 2 on bad usage, 130 after Ctrl-C.""",
    )
    parser.add_argument("names", metavar="NAME", nargs="+",
                        help="such as nanda/mainline-0, or 'clock/*' for all of them that are trained")  # fmt: skip
    parser.add_argument("--runs", metavar="DIR", type=Path, default=Path("trained"),
                        help="where the runs were trained (default: trained/)")  # fmt: skip
    parser.add_argument("--out", metavar="DIR", type=Path, help="where to put them (default: checkpoints/)")
    parser.add_argument("--snapshots", metavar="EPOCH", type=int, nargs="*",
                        help="ship the snapshots of these epochs too, or of a dozen (default: as before)")  # fmt: skip
    parser.add_argument("--no-spectra", action="store_true", help="leave out the log of spectra")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--float16", action="store_true", help="ship the final weights in half their size")
    size.add_argument("--tables", action="store_true", help="ship history and progress alone, without the weights")
    return parser


def dozen_epochs(epochs: list[int], boundaries: tuple[float, float, float]) -> list[int]:
    """A dozen of the epochs, spread over the phases: the ends, the boundaries, and two within each phase.

    Args:
        epochs: those of which there is a snapshot.
        boundaries: of the phases, in epochs; those that are NaN are passed over.
    """
    knots = [epochs[0], *(t for t in boundaries if t == t), epochs[-1]]
    wanted = [start + (end - start) * i / 3 for start, end in pairwise(knots) for i in range(3)] + [epochs[-1]]
    return sorted({min(epochs, key=lambda e: abs(e - t)) for t in wanted})


DIGITS = 7
MOST_LOGITS = 2 * 10**7  # on all inputs; with more of them one snapshot takes gigabytes and minutes


def has_progress(task: Task) -> bool:
    """Whether progress is measured: a sum or difference is asked for, and the grid of all inputs is not too large."""
    from modinterp.tasks import ModularArithmetic
    from modinterp.tasks.modular import SIGNS

    return isinstance(task, ModularArithmetic) and task.op in SIGNS and task.p**3 <= MOST_LOGITS


def publish(
    name: str,
    runs: Path,
    out: Path,
    snapshots: Sequence[int] | None = None,
    float16: bool = False,
    tables: bool = False,
    spectra: bool = True,
) -> Path:
    """Measure progress at every snapshot of a finished run and copy what is shipped.

    Progress is measured where `has_progress` says so.

    Args:
        snapshots: epochs of those to ship; by default those published before, if any, and a dozen across the phases
            for an empty list.
        float16: whether the final weights are rounded to that, as the snapshots are.
        tables: whether history and progress are all that is shipped.
        spectra: whether the log of spectra is, where the run has one.
    Returns:
        the folder it was put in.
    Raises:
        FileNotFoundError: the run has not been trained to its end.
        ValueError: the run is damaged, the name leads out of the folder, source and target are the same, or there is
            no snapshot of an epoch.
    """
    from modinterp.analyses.frequencies import key_frequencies
    from modinterp.analyses.phases import phases
    from modinterp.analyses.progress import progress_measures
    from modinterp.runs import load, store

    source, target = runs / name, out / name
    if not target.resolve().is_relative_to(out.resolve()) or target.resolve() == out.resolve():
        raise ValueError(f"{name!r} is no name of a run, such as nanda/mainline-0")
    if source.resolve() == target.resolve():
        raise ValueError(f"{target} would be published onto itself; choose another --runs or --out")
    run = load(name, root=runs)
    snapshots = store.snapshot_epochs(target) or None if snapshots is None else snapshots
    record = store.read_record(source)
    outcome = record["epoch"], record.get("ended", ""), record["seconds"]
    progress = run.progress
    if progress is None and has_progress(run.task):
        epochs = progress_bar(len(run.snapshots), name, "snapshot", iterable=run.snapshots)
        progress = progress_measures(run, key_frequencies(run.model.W_L).freqs, epochs)
        store.write(source / store.PROGRESS, store.table_bytes(progress))
        store.write_record(source, run.spec, *outcome)
    if snapshots is not None and not snapshots and progress is not None:
        found = phases(progress)
        snapshots = dozen_epochs(list(run.snapshots), (found.memorised, found.formed, found.cleaned))
    if missing := sorted(set(snapshots or ()) - set(run.snapshots)):
        raise ValueError(f"{name} has no snapshots of the epochs {missing}")
    copied = [epoch for epoch in snapshots or () if epoch != record["epoch"]] or snapshots or ()
    rounded = [str(store.snapshot_path(Path(), epoch)) for epoch in copied] + [store.FINAL] * float16
    whole = [store.FINAL] * (not float16) + [store.SPECTRA] * (spectra and run.spectra is not None)
    if tables:
        rounded, whole = [], []
    made = target.with_name(f".{target.name}.new")
    shutil.rmtree(made, ignore_errors=True)
    for path in rounded:
        weights = store.read_weights(source / path)
        store.write_weights(made / path, {name: w.half() for name, w in weights.items()})
    for path in whole:
        store.write(made / path, (source / path).read_bytes())
    store.write_packed(made / store.HISTORY, store.table_bytes(run.history, DIGITS))
    if progress is not None:
        store.write_packed(made / store.PROGRESS, store.table_bytes(progress, DIGITS))
    store.write_record(made, run.spec, *outcome)
    shutil.rmtree(target, ignore_errors=True)
    made.rename(target)
    return target


@one_line_errors("stopped; what was published before is as it was")
def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = _arguments().parse_args(arguments)
    from modinterp.runs import store

    names = [name for pattern in options.names for name in _finished(pattern, options.runs)]
    out = store.checkpoints() if options.out is None else writable(options.out)
    for name in names:
        print(
            publish(name, options.runs, out, options.snapshots, options.float16, options.tables, not options.no_spectra)
        )
    return 0


def _finished(pattern: str, runs: Path) -> list[str]:
    """The names of finished runs that a pattern fits, or what it is if it is none."""
    from modinterp.runs import store

    names = fnmatch.filter(store.run_names(runs), pattern) if "*" in pattern else [pattern]
    if not names:
        raise ValueError(f"no trained run in {runs} fits {pattern!r}")
    return names


if __name__ == "__main__":
    sys.exit(main())
