"""`python -m modinterp.publish NAME ...`: measure a finished training's progress and put it among the checkpoints.

Training keeps every snapshot; a checkout ships the final weights, the history, the progress measures of all snapshots,
and, where asked for, a dozen snapshots across the phases.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from itertools import pairwise
from pathlib import Path

from modinterp.usage import one_line_errors


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m modinterp.publish", description="Measure progress, then ship a finished run."
    )
    parser.add_argument("names", metavar="NAME", nargs="+", help="such as nanda/mainline-0")
    parser.add_argument("--runs", metavar="DIR", type=Path, default=Path("trained"), help="default: trained/")
    parser.add_argument("--out", metavar="DIR", type=Path, help="default: checkpoints/")
    parser.add_argument("--snapshots", action="store_true", help="ship a dozen snapshots too")
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


def publish(name: str, runs: Path, out: Path, with_snapshots: bool = False) -> Path:
    """Measure progress at every snapshot of a finished run and copy what is shipped.

    Returns:
        the folder it was put in.
    Raises:
        FileNotFoundError: the run has not been trained to its end.
        ValueError: the run is damaged, the name leads out of the folder, or source and target are the same.
    """
    from tqdm import tqdm

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
    record = store.read_record(source)
    progress = run.progress
    if progress is None:
        epochs = tqdm(list(run.snapshots), desc=name, unit="snapshot", disable=None)
        progress = progress_measures(run, key_frequencies(run.model.W_L).freqs, epochs)
        store.write(source / store.PROGRESS, store.table_bytes(progress))
        store.write_record(source, run.spec, record["epoch"], record.get("ended", ""), record["seconds"])
    found = phases(progress)
    shipped = (
        dozen_epochs(list(run.snapshots), (found.memorised, found.formed, found.cleaned)) if with_snapshots else []
    )
    made = target.with_name(f".{target.name}.new")
    shutil.rmtree(made, ignore_errors=True)
    for path in [store.FINAL, store.HISTORY, store.PROGRESS, *(str(store.snapshot_path(Path(), e)) for e in shipped)]:
        store.write(made / path, (source / path).read_bytes())
    store.write_record(made, run.spec, record["epoch"], record.get("ended", ""), record["seconds"])
    shutil.rmtree(target, ignore_errors=True)
    made.rename(target)
    return target


@one_line_errors("stopped; what was published before is as it was")
def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    options = _arguments().parse_args(arguments)
    from modinterp.runs import store

    for name in options.names:
        print(publish(name, options.runs, options.out or store.checkpoints(), options.snapshots))
    return 0


if __name__ == "__main__":
    sys.exit(main())
