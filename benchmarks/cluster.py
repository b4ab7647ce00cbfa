"""What Ray costs a sweep of small runs: its wall time beside that of one process, and the time that a piece takes more.

    python benchmarks/cluster.py [--runs 12] [--epochs 4000] [--workers 1 2] [--pieces 200] [--smallest]

Every contestant trains the same runs, a run a piece, into a folder of its own: this process alone, then Ray with one
core for each worker, begun anew for each number of workers. Told are the time until Ray is there; the first piece, with
which its workers import what they need; the sweep after that; and the time of an empty piece, of which many are asked
for, which is what handing over, reporting and answering take.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from timing import seconds, versions

from modinterp.cluster.on_ray import carried_out, connected, ray_module
from modinterp.cluster.options import Share
from modinterp.cluster.pieces import Piece, Report
from modinterp.models import TransformerConfig
from modinterp.runs import train
from modinterp.runs.distributed import train_on_cluster
from modinterp.runs.lease import RunIsHeld
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec, prepare_cpu


def sweep(runs: int, epochs: int, family: str = "sweep") -> dict[str, RunSpec]:
    """Small runs that differ in their seed."""
    task = addition(13)
    config = TransformerConfig.of(task, d_model=32, n_heads=2, d_head=16, d_mlp=64)
    recipe = Recipe(epochs=epochs, log_every=min(100, epochs), snapshot_every=epochs)
    return {f"{family}/{seed}": RunSpec(task, config, recipe, seed) for seed in range(runs)}


def nothing(*, report: Report) -> None:
    """An empty piece."""


@contextmanager
def ray_of(workers: int) -> Iterator[Any]:
    """Ray on this machine, with so many cores to give."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.update(RAY_worker_niceness="0")  # that of this process; else they would wait for all other work
    ray_module().init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        with connected() as ray:
            yield ray
    finally:
        ray_module().shutdown()


def told(what: str, value: float, unit: str = "s") -> None:
    """Print a line."""
    print(f"{what:<40} {value:8.2f} {unit}", flush=True)


def on_ray(workers: int, runs: dict[str, RunSpec], pieces: int, folder: Path) -> None:
    """Measure Ray with so many workers, and print what was measured."""

    def trained(specs: dict[str, RunSpec]) -> float:
        return seconds(lambda: train_on_cluster(ray, specs, folder, "cpu", Share(), 1))

    began = time.perf_counter()
    with ray_of(workers) as ray:
        told(f"Ray, {workers} workers: until it is there", time.perf_counter() - began)
        told("  a first run for each worker", trained(sweep(workers, 1, "first")))
        told(f"  the sweep of {len(runs)} runs", trained(runs))
        empty = [Piece(nothing, (), (f"piece {i}",)) for i in range(pieces)]
        emptied = seconds(lambda: list(carried_out(ray, empty, Share(), RunIsHeld, "piece")))
        told("  an empty piece", 1e3 * emptied / pieces, "ms")


def main() -> None:
    """Measure, and print a line for each number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--epochs", type=int, default=4000, help="of a run")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--pieces", type=int, default=200, help="that are empty")
    parser.add_argument("--smallest", action="store_true", help="one worker, to see that all of it runs")
    options = parser.parse_args()
    if options.smallest:
        options.runs, options.epochs, options.workers, options.pieces = 2, 2, [1], 2
    prepare_cpu()
    print(versions("ray"))
    runs = sweep(options.runs, options.epochs)
    with tempfile.TemporaryDirectory() as place:
        train(sweep(1, 1, "first"), Path(place) / "alone", "cpu", progress=False)
        alone = seconds(lambda: train(runs, Path(place) / "alone", "cpu", progress=False))
        told(f"one process, the sweep of {len(runs)} runs", alone)
        for workers in options.workers:
            on_ray(workers, runs, options.pieces, Path(place) / str(workers))


if __name__ == "__main__":
    main()
