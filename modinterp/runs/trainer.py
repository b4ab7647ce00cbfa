"""Begin, continue and watch trainings on disk, so that a killed training can resume."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median

from modinterp.runs import store
from modinterp.runs.lease import renewed
from modinterp.runs.ongoing import Ongoing
from modinterp.runs.same_shape import groups, runs_at_once
from modinterp.terminal.progress_bars import progress_bar
from modinterp.training import (
    Outcome,
    Row,
    RunSpec,
    resolved_device,
    training_states,
)
from modinterp.training.speed import expected_seconds, rate_of_products, slowness

STATE_EVERY = 20.0  # seconds
SPEED_AFTER = 10.0  # seconds of training, after which it is looked whether it is far too slow
Watch = Callable[[Mapping[str, Row]], object]


def train(
    specs: Mapping[str, RunSpec],
    out: str | Path,
    device: str = "auto",
    progress: bool = True,
    together: int | None = None,
    state_every: float = STATE_EVERY,
    repair: bool = False,
    on_refused: Callable[[str, ValueError], object] | None = None,
    watch: Watch | None = None,
) -> dict[str, Outcome]:
    """Train every spec in `out/NAME`. A training that was begun in the folder of runs continues.

    Runs whose networks have one shape train as one computation. Snapshots and spectra are written to disk when they are
    taken. The state from which a training can continue is written every `state_every` seconds. `run.json` and the final
    weights are written at the end of each run. If the process is killed, only the epochs since the last state are lost,
    and the final result does not change. A run whose loss is no longer finite ends with its last finite weights. If one
    run ends early, the runs that train together with it continue.

    Files in the folder of a run are compared with their checksums. If a state is damaged, the preceding state is used.
    Damaged files of a finished run are written again from the run's state. If only a new training can restore a file,
    pass `repair`. Only one process at a time trains a run, even if several machines share the disk.

    Args:
        specs: map from the name of each run to its spec; a name may hold slashes, as in `mine/sums-0`.
        out: folder for the runs, each in a folder of its own.
        device: torch device: `cpu`, `cuda`, ... or `auto`.
        progress: True to show a progress bar.
        together: how many runs whose networks have the same shape train at once. By default, 64 runs train at once on a
            GPU, where grouping more than halves the time, and 1 on a CPU, where grouping saves no time.
        state_every: time between two states on disk, in seconds. [s]
        repair: True to train a run again if its files are damaged and no undamaged state is left.
        on_refused: function called with the name of each run that cannot be trained, and the reason; the other runs are
            trained. Without `on_refused`, a run that cannot be trained is an error, raised before any training.
        watch: function called at each logged epoch with a map from the name of each active run to its last row of
            history.
    Returns:
        Map from the name of each run to how its training ended.
    Raises:
        RunIsHeld: another process trains a run in its folder.
        ValueError: a run's name or the device is invalid; `run.json` could not restore a task; a folder is damaged; or
            its training has other settings.
        OSError: a folder cannot be written, or the disk is full.
    """
    where = resolved_device(device)
    at_once = runs_at_once(where.type, together)
    check_specs(specs)
    with ExitStack() as locks:
        trainings = _opened(specs, Path(out), locks, repair, on_refused)
        locks.enter_context(renewed([training.lease for training in trainings]))
        for names in groups(specs, at_once):
            group = [training for training in trainings if training.name in names and not training.is_over]
            for at_one_epoch in _by_epoch(group):
                _train_group(at_one_epoch, str(where), progress, state_every, watch)
    return {t.name: t.state.ended for t in trainings if t.state.ended is not None}


def check_specs(specs: Mapping[str, RunSpec]) -> None:
    """Raise ValueError for an invalid name, and for a task that could not be restored from `run.json`."""
    for name, spec in specs.items():
        store.checked_name(name)
        spec.check_restorable()


def _opened(
    specs: Mapping[str, RunSpec],
    out: Path,
    locks: ExitStack,
    repair: bool,
    on_refused: Callable[[str, ValueError], object] | None,
) -> list[Ongoing]:
    """Open the trainings of all specs that can be trained."""
    trainings = []
    for name, spec in specs.items():
        with ExitStack() as own:
            try:
                trainings.append(Ongoing.open(name, spec, out / name, own, repair))
            except ValueError as error:
                if on_refused is None:
                    raise
                on_refused(name, error)
            else:
                locks.push(own.pop_all())
                if trainings[-1].damages:
                    _tell(trainings[-1])
    return trainings


def _tell(training: Ongoing) -> None:
    """Print which files are damaged, and the epoch from which the run continues."""
    for damage in training.damages:
        print(
            f"{training.name}: {damage.what}; training continues from epoch {training.state.epoch:,}", file=sys.stderr
        )


def _by_epoch(group: Sequence[Ongoing]) -> list[list[Ongoing]]:
    """Group runs by the epoch from which they continue: one group, unless the runs began at different times.

    If the process was killed while writing states, some runs are one state ahead. These runs go back to the last state
    that all runs have.
    """
    epochs = [{t.state.epoch, *([t.before.state.epoch] if t.before else [])} for t in group]
    common = max(set.intersection(*epochs), default=None) if epochs else None
    by_epoch: dict[int, list[Ongoing]] = defaultdict(list)
    for training in group:
        if common is not None and training.state.epoch != common:
            training.step_back()
        by_epoch[training.state.epoch].append(training)
    return list(by_epoch.values())


def _train_group(
    group: Sequence[Ongoing], device: str, progress: bool, state_every: float, watch: Watch | None
) -> None:
    """Train a group of runs to the end; write states during the training, and a last state on an interrupt."""
    first, last = group[0].state.epoch, max(training.spec.recipe.epochs for training in group)
    label = group[0].name if len(group) == 1 else f"{group[0].name} and {len(group) - 1} more"
    bar = progress_bar(last, label, "epoch", first, disable=not progress)

    def on_rows(epoch: int, rows: list[tuple[int, Row]]) -> bool:
        nonlocal due, written
        bar.set_postfix(_postfix([row for _, row in rows]), refresh=False)
        bar.update(epoch - bar.n)
        speed.look(epoch)
        if watch is not None:
            watch({group[run].name: row for run, row in rows})
        if time.monotonic() - written >= state_every:
            due, written = epoch, time.monotonic()
        return due == epoch

    specs, begun = [training.spec for training in group], [replace(t.state, ended=None) for t in group]
    due, written, speed = -1, time.monotonic(), _Speed(label, specs, first, device)
    for training in group:
        training.began = written
    with bar, ExitStack() as at_the_end:
        for training in group:  # what each has reached is written, whatever happens to the others
            at_the_end.callback(training.write_state)
        for run, state in training_states(specs, begun, device, on_rows):
            group[run].take(state, state.epoch == due, device)


class _Speed:
    """Warns once if a training on a CPU takes three times as long as expected, and names a likely reason.

    Args:
        label: name of the training.
        epoch: epoch at which the training begins.
    """

    def __init__(self, label: str, specs: Sequence[RunSpec], epoch: int, device: str):
        self.label, self.specs, self.is_asked = label, specs, device == "cpu"
        self.since = epoch, time.monotonic()

    def look(self, epoch: int) -> None:
        """Compare the time of the epochs since the last call with the expected time, and warn if it is far longer."""
        before, began = self.since
        lasted = time.monotonic() - began
        if not self.is_asked or epoch == before or lasted < SPEED_AFTER:
            return
        self.since = epoch, time.monotonic()
        why = slowness(lasted / (epoch - before), expected_seconds(self.specs, rate_of_products()))
        if why:
            self.is_asked = False
            print(f"{self.label}: {why}", file=sys.stderr)


def _postfix(rows: Sequence[Row]) -> dict[str, str]:
    """Return values for the progress bar: losses [nats] and accuracies of one run, or medians over several runs."""
    losses = {part: median(row[f"{part}_loss"] for row in rows) for part in ("train", "test")}
    accuracies = {f"{part}_acc": median(row[f"{part}_accuracy"] for row in rows) for part in ("train", "test")}
    return {n: f"{x:.2e}" for n, x in losses.items()} | {n: f"{x:.3f}" for n, x in accuracies.items()}
