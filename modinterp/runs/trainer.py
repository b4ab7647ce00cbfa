"""Trainings carried out on disk: begun or gone on with, watched, and left resumable whatever happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tqdm import tqdm

from modinterp.runs import store
from modinterp.training import Row, RunSpec, resolved_device, training_states


def _shown(row: Row) -> dict[str, str]:
    losses = {key.replace("_loss", ""): f"{row[key]:.2e}" for key in ("train_loss", "test_loss")}
    return losses | {key.replace("_accuracy", " acc"): f"{row[key]:.3f}" for key in ("train_accuracy", "test_accuracy")}


def train(
    specs: Mapping[str, RunSpec],
    out: Path,
    device: str = "auto",
    progress: bool = True,
) -> list[Path]:
    """Train every spec in `out/NAME`, going on with what was begun there.

    A snapshot, the history and the state of the optimiser are written at every snapshot epoch, `run.json` and the
    final weights at the end. A kill at any moment loses at most the epochs since the last snapshot, and changes no
    number.

    Returns:
        the folder of each run.
    Raises:
        ValueError: a folder holds a training with other settings; a device that is not there.
        FloatingPointError: a loss is no longer finite; the last good state is kept.
        OSError: a folder cannot be written.
    """
    return [_train_one(name, spec, Path(out) / name, device, progress) for name, spec in specs.items()]


def _train_one(name: str, spec: RunSpec, folder: Path, device: str, progress: bool) -> Path:
    where = resolved_device(device)
    folder.mkdir(parents=True, exist_ok=True)
    state = store.read_state(folder, spec)
    if state is not None and state.epoch > spec.recipe.epochs:
        raise ValueError(f"{folder} has been trained to epoch {state.epoch} already, beyond {spec.recipe.epochs}")
    if state is not None and state.epoch == spec.recipe.epochs and (folder / store.RECORD).is_file():
        return folder
    began, first = time.perf_counter(), state.epoch if state else 0
    bar = tqdm(total=spec.recipe.epochs, initial=first, desc=name, unit="epoch", disable=not progress,
               mininterval=0.5 if sys.stderr.isatty() else 60, dynamic_ncols=True)  # fmt: skip

    def tick(epoch: int, row: Row) -> None:
        if epoch < spec.recipe.epochs:
            bar.update()
        if row.get("epoch") == epoch:
            bar.set_postfix(_shown(row), refresh=False)

    with bar:
        for reached in training_states(spec, state, where, tick):
            store.write_state(folder, spec, reached)
            if reached.epoch == spec.recipe.epochs:
                store.write_finished(folder, spec, reached, time.perf_counter() - began if first == 0 else None)
    return folder
