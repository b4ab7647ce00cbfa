"""What the log of spectra costs a training: the time of an entry beside that of the epochs between two.

    python benchmarks/spectra.py [--run miiii/p23-0] [--rounds 5] [--epochs 100]

An entry is what the trainer does for one: a copy of the weights and the optimiser's moments, the hooked network, all
inputs through it, their transform, and the file read and written anew. Times are the process's own, so that other work
on the machine does not count; rounds alternate, and medians are told.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

from modinterp.activations.spectra import most_bytes, spectra
from modinterp.models import hooked, initial_weights
from modinterp.runs import named, store
from modinterp.training import RunSpec, prepare_cpu, training_states


def seconds(work: Callable[[], object]) -> float:
    """Of the process, that some work takes."""
    began = time.process_time()
    work()
    return time.process_time() - began


def entry(spec: RunSpec, folder: Path, epoch: int) -> None:
    """What the trainer does at an epoch whose activations are logged."""
    state = next(training_states([spec], device="cpu"))[1]  # a frozen state; its program is set up, which is too much
    store.add_spectra(folder, spectra(hooked(spec.model, state.weights), spec.task, epoch))


def epochs(spec: RunSpec, count: int) -> None:
    """A training of so many epochs without a log, evaluated as often as the recipe says."""
    recipe = replace(spec.recipe, epochs=count, spectra_every=0, snapshot_every=count)
    list(training_states([replace(spec, recipe=recipe)], device="cpu"))


def main() -> int:
    """Measure, and print one line for each number."""
    parser = argparse.ArgumentParser(description="What the log of spectra costs a training.")
    parser.add_argument("--run", default="miiii/p23-0", help="default: miiii/p23-0")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=100, help="in a round")
    options = parser.parse_args()
    prepare_cpu()
    spec = named(options.run)
    every = spec.recipe.spectra_every or 1024
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        first = spectra(hooked(spec.model, initial_weights(spec.model, spec.seed)), spec.task, 0)
        steps = min(65, spec.recipe.epochs // every + 1)
        for step in range(steps - 1):  # as long as it gets
            store.add_spectra(folder, first if step == 0 else replace(first, epochs=first.epochs + step))
        entry(spec, folder, steps)
        epochs(spec, 10)
        entries, trained = [], []
        for _ in range(options.rounds):
            entries.append(seconds(lambda: entry(spec, folder, steps)))
            trained.append(seconds(lambda: epochs(spec, options.epochs)) / options.epochs)
        size = (folder / store.SPECTRA).stat().st_size
    print(f"an entry          {1e3 * median(entries):8.1f} ms")
    print(f"an epoch          {1e3 * median(trained):8.2f} ms")
    print(f"with / without    {1 + median(entries) / (every * median(trained)):8.4f}, an entry every {every:,} epochs")
    print(f"the log           {size:8,} bytes with {steps} entries; at most {most_bytes(steps, len(first.names)):,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
