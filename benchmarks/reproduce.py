"""How long `reproduce` takes from the shell, process, page and files included: time, CPU time, peak memory.

    python benchmarks/reproduce.py [SOURCE ...] [--rounds 3] [--workers 1 2] [--smallest]

SOURCE is a source's short name (default: all of them). Numbers of processes that measure take turns, so that a noisy
machine hurts all alike; ratios are of medians. Of the peak it is that of the largest process, not of all together.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from timing import versions

from modinterp.sources import sources


@dataclass(frozen=True)
class Taken:
    """What one call of the command took.

    Attributes:
        wall: until it was done [s].
        cpu: of all its processes together [s].
        peak: largest memory of one of its processes [MiB].
    """

    wall: float
    cpu: float
    peak: float


def reproduced(source: str, workers: int, more: Sequence[str] = ()) -> Taken:
    """One call of the command, into a folder that is thrown away.

    Raises:
        RuntimeError: it could not be done.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "modinterp.reproduce", source, "--workers", str(workers), *more]
        began = perf_counter()
        process = subprocess.Popen([*command, "--out", str(Path(folder) / "out")], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall, process.returncode = perf_counter() - began, os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1 says that a verdict is another one than the recorded one
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return Taken(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", choices=[*sources(), []], metavar="SOURCE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    smallest = "one round of a few claims of one source, to see that all of it runs"
    parser.add_argument("--smallest", action="store_true", help=smallest)
    options = parser.parse_args()
    names, more = options.sources or list(sources()), []
    if options.smallest:
        names, options.rounds, more = ["mlp"], 1, ["--only", "arch"]
    print(versions("transformer-lens", "plotly"))
    for name in names:
        taken: dict[int, list[Taken]] = {workers: [] for workers in options.workers}
        for _ in range(options.rounds):
            for workers, rows in taken.items():
                rows.append(reproduced(name, workers, more))
        first = median(row.wall for row in taken[options.workers[0]])
        print(f"reproduce {' '.join([name, *more])}")
        for workers, rows in taken.items():
            wall, cpu, peak = (median(getattr(row, of) for row in rows) for of in ("wall", "cpu", "peak"))
            spread = f"({min(row.wall for row in rows):.1f} to {max(row.wall for row in rows):.1f})"
            print(f"  {workers} processes {wall:7.1f} s  {spread:<18} {wall / first:5.2f} times the first; "
                  f"CPU {cpu:6.1f} s, {cpu / wall:.2f} cores busy; peak {peak:5.0f} MiB")  # fmt: skip


if __name__ == "__main__":
    main()
