"""Trainings carried out on disk: begun or gone on with, watched, and left resumable whatever happens."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from tqdm import tqdm

from modinterp.models import initial_weights
from modinterp.runs import store
from modinterp.training import Row, RunSpec, TrainingState, over, resolved_device, shape_of, training_states

STATE_EVERY = 20.0
TOGETHER = {"cuda": 64, "cpu": 1}


@dataclass
class _Training:
    """One run on its way: where it stands, and what of that is on disk."""

    name: str
    spec: RunSpec
    folder: Path
    state: TrainingState
    seconds_before: float = 0.0
    began: float = field(default_factory=time.monotonic)
    kept_epoch: int = -1
    kept_at: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Spent on this run, with its company, in all sittings."""
        return self.seconds_before + time.monotonic() - self.began

    def keep(self) -> None:
        """Write what is needed to go on from here, unless it is on disk already."""
        if self.state.epoch > self.kept_epoch or self.state.ended:
            store.write_state(self.folder, self.spec, self.state, self.seconds)
            self.kept_epoch, self.kept_at = self.state.epoch, time.monotonic()

    def reached(self, state: TrainingState, state_every: float) -> None:
        """Write a snapshot, and the state if it is time; at the end, all that a finished run has."""
        self.state = state
        store.write_snapshot(self.folder, state)
        if state.ended or time.monotonic() - self.kept_at >= state_every:
            self.keep()
        if state.ended:
            store.write_finished(self.folder, self.spec, state, self.seconds)


def train(
    specs: Mapping[str, RunSpec],
    out: Path,
    device: str = "auto",
    progress: bool = True,
    together: int | None = None,
    state_every: float = STATE_EVERY,
) -> dict[str, str]:
    """Train every spec in `out/NAME`, going on with what was begun there.

    Runs of one shape train as one program. Snapshots are written when they are taken, the state to go on from every
    `state_every` seconds, `run.json` and the final weights at the end of each run. A kill at any moment loses the
    epochs since the last state, and changes no number. A run whose loss is no longer finite ends with its last good
    weights; its neighbours go on.

    Args:
        together: how many runs of one shape train at once; by default 64 on a GPU, where they cost hardly more than
            one, and 1 on a CPU, where each costs the same and the first is finished sooner.
        state_every: [seconds]
    Returns:
        why each run ended, by name; see `TrainingState.ended`.
    Raises:
        ValueError: a folder holds a training with other settings, or is being trained in; a device that is not there.
        OSError: a folder cannot be written, or the disk is full.
    """
    where, ended = resolved_device(device), {}
    with ExitStack() as locks:
        begun: dict[object, list[_Training]] = defaultdict(list)
        for name, spec in specs.items():
            training = _begun(name, spec, Path(out) / name, locks)
            if isinstance(training, str):
                ended[name] = training
            else:
                begun[shape_of(spec), training.state.epoch].append(training)
        at_once = TOGETHER[where.type] if together is None else together
        for trainings in begun.values():
            for first in range(0, len(trainings), at_once):
                group = trainings[first : first + at_once]
                _trained(group, str(where), progress, state_every)
                ended |= {t.name: t.state.ended for t in group}
    return {name: ended[name] for name in specs}


def _begun(name: str, spec: RunSpec, folder: Path, locks: ExitStack) -> _Training | str:
    """A training to go on with, or why there is nothing more to train."""
    folder.mkdir(parents=True, exist_ok=True)
    locks.enter_context(store.locked(folder))
    found = store.read_state(folder, spec)
    if found is None:
        if (ended := store.finished(folder, spec)) is not None:
            return ended
        return _Training(name, spec, folder, TrainingState(0, initial_weights(spec.model, spec.seed)))
    state, seconds = found
    if state.epoch > spec.recipe.epochs:
        raise ValueError(f"{folder} has been trained to epoch {state.epoch} already, beyond {spec.recipe.epochs}")
    goes_on_longer = state.ended == over(state.epoch) and state.epoch < spec.recipe.epochs
    if state.ended and not goes_on_longer and (folder / store.RECORD).is_file():
        return state.ended
    return _Training(name, spec, folder, replace(state, ended=""), seconds, kept_epoch=state.epoch)


def _trained(group: Sequence[_Training], device: str, progress: bool, state_every: float) -> None:
    """Train a group to its end, writing as it goes, and what it has reached when it is interrupted."""
    first, last = group[0].state.epoch, max(training.spec.recipe.epochs for training in group)
    label = group[0].name if len(group) == 1 else f"{group[0].name} and {len(group) - 1} more"
    bar = tqdm(total=last, initial=first, desc=label, unit="epoch", disable=not progress,
               mininterval=0.5 if sys.stderr.isatty() else 60, dynamic_ncols=True)  # fmt: skip

    def shown(epoch: int, rows: list[tuple[int, Row]]) -> None:
        bar.set_postfix(_shown([row for _, row in rows]), refresh=False)
        bar.update(epoch - bar.n)

    specs, states = [training.spec for training in group], [training.state for training in group]
    with bar:
        try:
            for run, state in training_states(specs, states, device, shown):
                group[run].reached(state, state_every)
        finally:
            for training in group:
                training.keep()


def _shown(rows: Sequence[Row]) -> dict[str, str]:
    """The losses and accuracies of one run, or the medians of several."""
    found = {name: median(row[name] for row in rows)
             for name in ("train_loss", "test_loss", "train_accuracy", "test_accuracy")}  # fmt: skip
    return {name.replace("_loss", "").replace("accuracy", "acc"): f"{value:.2e}" if "loss" in name else f"{value:.3f}"
            for name, value in found.items()}  # fmt: skip
