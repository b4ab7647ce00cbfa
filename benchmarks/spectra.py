"""What the log of spectra costs a training: the time of an entry beside that of the epochs between two.

    python benchmarks/spectra.py [--run miiii/p23-0] [--rounds 5] [--epochs 100] [--smallest]

An entry is what the trainer does for one: a copy of the weights and the optimiser's moments, the hooked network, all
inputs through it, their transform, and the file read and written anew. Times are the process's own, so that other work
on the machine does not count; rounds alternate, and medians are told.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

from timing import seconds, versions

from modinterp.activations.spectra import Spectra, most_bytes, spectra
from modinterp.models import hooked
from modinterp.runs import store
from modinterp.sources import spec
from modinterp.training import RunSpec, prepare_cpu, training_states

ENTRIES = 65  # at most, in the log that is read and written


def entry(run: RunSpec, folder: Path, epoch: int) -> None:
    """What the trainer does at an epoch whose activations are logged."""
    state = next(training_states([run], device="cpu"))[1]  # a frozen state; its program is set up, which is too much
    add(folder, spectra(hooked(run.model, state.weights), run.task, epoch))


def add(folder: Path, new: Spectra) -> None:
    """Write the log with one more entry."""
    path = folder / store.SPECTRA
    store.write_spectra(folder, store.read_spectra(path).then(new) if path.is_file() else new)


def epochs(run: RunSpec, count: int) -> None:
    """A training of so many epochs without a log, evaluated as often as the recipe says."""
    recipe = replace(run.recipe, epochs=count, spectra_every=0, snapshot_every=count)
    list(training_states([replace(run, recipe=recipe)], device="cpu"))


def main() -> None:
    """Measure, and print one line for each number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="miiii/p23-0", help="default: miiii/p23-0")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=100, help="in a round")
    parser.add_argument("--smallest", action="store_true", help="one round of one epoch, to see that all of it runs")
    options = parser.parse_args()
    prepare_cpu()
    run, most = spec(options.run), ENTRIES
    if options.smallest:
        options.epochs, options.rounds, most = 1, 1, 2
    every = run.recipe.spectra_every or 1024
    print(f"{options.run}: {versions('safetensors')}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        first = spectra(hooked(run.model, run.initial_weights()), run.task, 0)
        steps = min(most, run.recipe.epochs // every + 1)
        for step in range(steps - 1):  # as long as it gets
            add(folder, first if step == 0 else replace(first, epochs=first.epochs + step))
        entry(run, folder, steps)
        epochs(run, min(10, options.epochs))
        entries, trained = [], []
        for _ in range(options.rounds):
            entries.append(seconds(lambda: entry(run, folder, steps), time.process_time))
            trained.append(seconds(lambda: epochs(run, options.epochs), time.process_time) / options.epochs)
        size = (folder / store.SPECTRA).stat().st_size
    print(f"an entry          {1e3 * median(entries):8.1f} ms")
    print(f"an epoch          {1e3 * median(trained):8.2f} ms")
    print(f"with / without    {1 + median(entries) / (every * median(trained)):8.4f}, an entry every {every:,} epochs")
    print(f"the log           {size:8,} bytes with {steps} entries; at most {most_bytes(steps, len(first.names)):,}")


if __name__ == "__main__":
    main()
