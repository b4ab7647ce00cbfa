"""Trainings on disk: begun or gone on with, watched, and left resumable whatever happens."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from modinterp.activations.spectra import spectra
from modinterp.models import hooked
from modinterp.runs import states, store
from modinterp.terminal.progress import progress_bar
from modinterp.training import (
    Outcome,
    OutcomeKind,
    Row,
    RunSpec,
    TrainingState,
    resolved_device,
    shape_of,
    training_states,
)

STATE_EVERY = 20.0  # seconds
RUNS_AT_ONCE = {"cuda": 64, "cpu": 1}


@dataclass
class _Training:
    """One run on its way.

    Attributes:
        state: where it stands.
        before: the state before that one, where it is on disk.
        seconds_before: time spent on it in earlier sittings.
        written: epoch and outcome of the state that is on disk.
    """

    name: str
    spec: RunSpec
    folder: Path
    state: TrainingState
    before: TrainingState | None = None
    seconds_before: float = 0.0
    written: tuple[int, Outcome | None] | None = None
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def open(cls, name: str, spec: RunSpec, folder: Path, locks: ExitStack) -> _Training:
        """The training that lies in a folder, or the beginning of one; the folder stays locked with `locks`."""
        folder.mkdir(parents=True, exist_ok=True)
        locks.enter_context(store.locked(folder))
        on_disk = states.read_states(folder, spec)
        if not on_disk:
            ended = store.finished_outcome(folder, spec)
            return cls(name, spec, folder, TrainingState(0, spec.initial_weights(), ended=ended))
        (state, seconds), *older = on_disk
        if state.epoch > spec.recipe.epochs:
            raise ValueError(f"{folder} has been trained to epoch {state.epoch} already, beyond {spec.recipe.epochs}")
        if state.ended == Outcome(OutcomeKind.EPOCHS_OVER, state.epoch) and state.epoch < spec.recipe.epochs:
            state = replace(state, ended=None)
        written = (state.epoch, state.ended)
        return cls(name, spec, folder, state, older[0][0] if older else None, seconds, written)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to train."""
        return self.state.ended is not None and (self.folder / store.RECORD).is_file()

    @property
    def seconds(self) -> float:
        """Time spent on this run and those that train with it, in all sittings [s]."""
        return self.seconds_before + time.monotonic() - self.began

    def write_state(self) -> None:
        """Write what is needed to go on from here, unless it is on disk already."""
        if (self.state.epoch, self.state.ended) != self.written:
            states.write_state(self.folder, self.spec, self.state, self.seconds)
            self.written = (self.state.epoch, self.state.ended)

    def step_back(self) -> None:
        """Go on from the state before the last."""
        if self.before is not None:
            states.step_back(self.folder)
            self.state = replace(self.before, ended=None)
            self.written = (self.state.epoch, None)

    def take(self, state: TrainingState, state_due: bool, device: str) -> None:
        """Make a state the current one and write what is due; at the end, all files of a finished run."""
        self.state, recipe = state, self.spec.recipe
        if recipe.spectra_every and (state.ended or state.epoch % recipe.spectra_every == 0):
            network = hooked(self.spec.model, state.weights).to(device)
            store.add_spectra(self.folder, spectra(network, self.spec.task, state.epoch))
        if state.ended or state.epoch % recipe.snapshot_every == 0:
            store.write_snapshot(self.folder, state)
        if state.ended or state_due:
            self.write_state()
        if state.ended:
            store.write_finished(self.folder, self.spec, state, self.seconds)


def train(
    specs: Mapping[str, RunSpec],
    out: Path,
    device: str = "auto",
    progress: bool = True,
    together: int | None = None,
    state_every: float = STATE_EVERY,
) -> dict[str, Outcome]:
    """Train every spec in `out/NAME`, going on with what was begun there.

    Runs of one shape train as one program. Snapshots and spectra are written when they are taken, the state to go on
    from every `state_every` seconds, `run.json` and the final weights at the end of each run. A kill at any moment
    loses the epochs since the last state, and changes no number. A run whose loss is no longer finite ends with its
    last good weights; its neighbours go on.

    Args:
        specs: name to spec; a name may hold slashes, as in `mine/sums-0`.
        out: folder in which each run has its own.
        device: `cpu`, `cuda`, ... or `auto`.
        progress: whether a progress bar is shown.
        together: how many runs of one shape train at once; by default 64 on a GPU, where they cost hardly more than
            one, and 1 on a CPU, where each costs the same and the first is finished sooner.
        state_every: time between two states on disk [s].
    Returns:
        how each run ended, by name.
    Raises:
        ValueError: a task that could not be restored from `run.json`, before anything is written; a folder that holds a
            training with other settings, or is being trained in; a device that is not there.
        OSError: a folder cannot be written, or the disk is full.
    """
    where = resolved_device(device)
    at_once = RUNS_AT_ONCE.get(where.type, 1) if together is None else together
    if at_once < 1:
        raise ValueError(f"at least 1 run trains at a time, got {at_once}")
    for spec in specs.values():
        spec.check_restorable()
    with ExitStack() as locks:
        trainings = [_Training.open(name, spec, Path(out) / name, locks) for name, spec in specs.items()]
        shapes: dict[object, list[_Training]] = defaultdict(list)
        for training in trainings:
            shapes[shape_of(training.spec)].append(training)
        for alike in shapes.values():
            for first in range(0, len(alike), at_once):
                group = [training for training in alike[first : first + at_once] if not training.is_over]
                for at_one_epoch in _by_epoch(group):
                    _train_group(at_one_epoch, str(where), progress, state_every)
    return {t.name: t.state.ended for t in trainings if t.state.ended is not None}


def _by_epoch(group: Sequence[_Training]) -> list[list[_Training]]:
    """The runs of a group by the epoch they go on from: one and the same, unless they were begun at different times.

    A kill while they were written leaves some a state ahead of the others; those step back to the one that all have.
    """
    epochs = [{t.state.epoch, *([t.before.epoch] if t.before else [])} for t in group]
    common = max(set.intersection(*epochs), default=None) if epochs else None
    by_epoch: dict[int, list[_Training]] = defaultdict(list)
    for training in group:
        if common is not None and training.state.epoch != common:
            training.step_back()
        by_epoch[training.state.epoch].append(training)
    return list(by_epoch.values())


def _train_group(group: Sequence[_Training], device: str, progress: bool, state_every: float) -> None:
    """Train a group to its end, writing as it goes, and what it has reached when it is interrupted."""
    first, last = group[0].state.epoch, max(training.spec.recipe.epochs for training in group)
    label = group[0].name if len(group) == 1 else f"{group[0].name} and {len(group) - 1} more"
    bar = progress_bar(last, label, "epoch", first, disable=not progress)

    def on_rows(epoch: int, rows: list[tuple[int, Row]]) -> bool:
        nonlocal due, written
        bar.set_postfix(_postfix([row for _, row in rows]), refresh=False)
        bar.update(epoch - bar.n)
        if time.monotonic() - written >= state_every:
            due, written = epoch, time.monotonic()
        return due == epoch

    specs, begun = [training.spec for training in group], [replace(t.state, ended=None) for t in group]
    due, written = -1, time.monotonic()
    for training in group:
        training.began = written
    with bar:
        try:
            for run, state in training_states(specs, begun, device, on_rows):
                group[run].take(state, state.epoch == due, device)
        finally:
            for training in group:
                training.write_state()


def _postfix(rows: Sequence[Row]) -> dict[str, str]:
    """What a progress bar shows: losses [nats] and accuracies of one run, or the medians of several."""
    losses = {part: median(row[f"{part}_loss"] for row in rows) for part in ("train", "test")}
    accuracies = {f"{part}_acc": median(row[f"{part}_accuracy"] for row in rows) for part in ("train", "test")}
    return {n: f"{x:.2e}" for n, x in losses.items()} | {n: f"{x:.3f}" for n, x in accuracies.items()}
