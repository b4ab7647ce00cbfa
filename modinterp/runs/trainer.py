"""Trainings carried out on disk: begun or gone on with, watched, and left resumable whatever happens."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from modinterp.activations.spectra import spectra
from modinterp.models import hooked, initial_weights
from modinterp.runs import store
from modinterp.training import Row, RunSpec, TrainingState, over, resolved_device, shape_of, training_states
from modinterp.usage import progress as progress_bar

STATE_EVERY = 20.0
TOGETHER = {"cuda": 64, "cpu": 1}


@dataclass
class _Training:
    """One run on its way: where it stands, and what of that is on disk."""

    name: str
    spec: RunSpec
    folder: Path
    state: TrainingState
    before: TrainingState | None = None
    seconds_before: float = 0.0
    kept: tuple[int, str] | None = None
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def found(cls, name: str, spec: RunSpec, folder: Path, locks: ExitStack) -> _Training:
        """The training that lies in a folder, or the beginning of one."""
        folder.mkdir(parents=True, exist_ok=True)
        locks.enter_context(store.locked(folder))
        states = store.read_states(folder, spec)
        if not states:
            ended = store.finished(folder, spec) or ""
            start = TrainingState(0, initial_weights(spec.model, spec.seed), ended=ended)
            return cls(name, spec, folder, start)
        (state, seconds), *older = states
        if state.epoch > spec.recipe.epochs:
            raise ValueError(f"{folder} has been trained to epoch {state.epoch} already, beyond {spec.recipe.epochs}")
        if state.ended == over(state.epoch) and state.epoch < spec.recipe.epochs:
            state = replace(state, ended="")
        kept = (state.epoch, state.ended)
        return cls(name, spec, folder, state, older[0][0] if older else None, seconds, kept)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to train."""
        return bool(self.state.ended) and (self.folder / store.RECORD).is_file()

    @property
    def seconds(self) -> float:
        """Spent on this run, with its company, in all sittings."""
        return self.seconds_before + time.monotonic() - self.began

    def keep(self) -> None:
        """Write what is needed to go on from here, unless it is on disk already."""
        if (self.state.epoch, self.state.ended) != self.kept:
            store.write_state(self.folder, self.spec, self.state, self.seconds)
            self.kept = (self.state.epoch, self.state.ended)

    def step_back(self) -> None:
        """Go on from the state before the last."""
        if self.before is not None:
            store.step_back(self.folder)
            self.state = replace(self.before, ended="")
            self.kept = (self.state.epoch, "")

    def reached(self, state: TrainingState, keep: bool, device: str) -> None:
        """Write what is due, and the state if that is wanted; at the end, all that a finished run has."""
        self.state, recipe = state, self.spec.recipe
        if recipe.spectra_every and (state.ended or state.epoch % recipe.spectra_every == 0):
            network = hooked(self.spec.model, state.weights).to(device)
            store.add_spectra(self.folder, spectra(network, self.spec.task, state.epoch))
        if state.ended or state.epoch % recipe.snapshot_every == 0:
            store.write_snapshot(self.folder, state)
        if state.ended or keep:
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

    Runs of one shape train as one program. Snapshots and spectra are written when they are taken, the state to go on
    from every `state_every` seconds, `run.json` and the final weights at the end of each run. A kill at any moment
    loses the epochs since the last state, and changes no number. A run whose loss is no longer finite ends with its
    last good weights; its neighbours go on.

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
    where = resolved_device(device)
    at_once = TOGETHER.get(where.type, 1) if together is None else together
    if at_once < 1:
        raise ValueError(f"at least 1 run trains at a time, got {at_once}")
    with ExitStack() as locks:
        found = {name: _Training.found(name, spec, Path(out) / name, locks) for name, spec in specs.items()}
        shapes: dict[object, list[_Training]] = defaultdict(list)
        for training in found.values():
            shapes[shape_of(training.spec)].append(training)
        for alike in shapes.values():
            for first in range(0, len(alike), at_once):
                group = [training for training in alike[first : first + at_once] if not training.is_over]
                for at_one_epoch in _aligned(group):
                    _trained(at_one_epoch, str(where), progress, state_every)
    return {name: training.state.ended for name, training in found.items()}


def _aligned(group: Sequence[_Training]) -> list[list[_Training]]:
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


def _trained(group: Sequence[_Training], device: str, progress: bool, state_every: float) -> None:
    """Train a group to its end, writing as it goes, and what it has reached when it is interrupted."""
    first, last = group[0].state.epoch, max(training.spec.recipe.epochs for training in group)
    label = group[0].name if len(group) == 1 else f"{group[0].name} and {len(group) - 1} more"
    bar = progress_bar(last, label, "epoch", first, disable=not progress)

    def logged(epoch: int, rows: list[tuple[int, Row]]) -> bool:
        nonlocal due, written
        bar.set_postfix(_shown([row for _, row in rows]), refresh=False)
        bar.update(epoch - bar.n)
        if time.monotonic() - written >= state_every:
            due, written = epoch, time.monotonic()
        return due == epoch

    specs, states = [training.spec for training in group], [replace(t.state, ended="") for t in group]
    due, written = -1, time.monotonic()
    for training in group:
        training.began = written
    with bar:
        try:
            for run, state in training_states(specs, states, device, logged):
                group[run].reached(state, state.epoch == due, device)
        finally:
            for training in group:
                training.keep()


def _shown(rows: Sequence[Row]) -> dict[str, str]:
    """The losses and accuracies of one run, or the medians of several."""
    found = {name: median(row[name] for row in rows)
             for name in ("train_loss", "test_loss", "train_accuracy", "test_accuracy")}  # fmt: skip
    return {name.replace("_loss", "").replace("accuracy", "acc"): f"{value:.2e}" if "loss" in name else f"{value:.3f}"
            for name, value in found.items()}  # fmt: skip
