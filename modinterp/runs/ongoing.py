"""Resume one training from its last state on disk, check its files, and write its progress."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from modinterp.activations import Spectra
from modinterp.activations.spectra import spectra
from modinterp.models import hooked
from modinterp.runs import states, store
from modinterp.runs.damage import Damage, DamagedRun
from modinterp.runs.lease import Lease, leased
from modinterp.runs.start import weights_at_start
from modinterp.runs.states import WrittenState
from modinterp.training import Outcome, OutcomeKind, RunSpec, TrainingState


@dataclass
class Ongoing:
    """One run in training, with its folder, lease, current state and written files.

    Attributes:
        state: current state of the training.
        files: map from the name of each written file to its checksum.
        log: activation spectra up to the current state; None if the recipe logs no spectra.
        before: the state before the last state, if it is on disk.
        is_over: True if no epoch is left to train and all files of the finished run are undamaged.
        seconds_before: training time in earlier sessions. [s]
        written: epoch and outcome of the last state on disk.
        damages: damaged files, which are written again.
    """

    name: str
    spec: RunSpec
    folder: Path
    lease: Lease
    state: TrainingState
    files: dict[str, str] = field(default_factory=dict)
    log: Spectra | None = None
    before: WrittenState | None = None
    is_over: bool = False
    seconds_before: float = 0.0
    written: tuple[int, Outcome | None] | None = None
    began: float = field(default_factory=time.monotonic)
    damages: tuple[Damage, ...] = ()

    @classmethod
    def open(cls, name: str, spec: RunSpec, folder: Path, leases: ExitStack, repair: bool = False) -> Ongoing:
        """Open the training in a folder, or begin a new training; the training's lease is released together with
        `leases`.

        If the last saved state or one of its files is damaged, the preceding state is used.

        Args:
            repair: True to begin the training again if no undamaged state is left.
        Raises:
            DamagedRun: files are damaged, and no undamaged state is left.
            ValueError: the training in the folder has other settings or more epochs, or another process continues this
                training.
        """
        folder.mkdir(parents=True, exist_ok=True)
        lease = leases.enter_context(leased(folder))
        found, damages = states.read_states(folder, spec)
        whole = [one for one in found if not (bad := damaged_files(folder, one)) or damages.extend(bad)]
        finished, bad = _finished(folder, spec)
        epoch = max([one.state.epoch for one in whole], default=0 if finished is None else _all_epochs(finished))
        if epoch > spec.recipe.epochs:
            raise ValueError(f"{folder} has been trained to epoch {epoch} already, beyond {spec.recipe.epochs}")
        is_last = not whole or whole[0].state.ended == finished
        if finished is not None and not bad and is_last and _is_its_end(finished, spec):
            state = whole[0].state if whole else TrainingState(0, weights_at_start(spec), ended=finished)
            return cls(name, spec, folder, lease, state, is_over=True)
        damages += bad
        if whole:
            return cls._at(name, spec, folder, lease, whole, damages)
        if damages and not repair:
            raise DamagedRun(damages)
        if finished is not None and not damages:  # and without a state to go on from
            raise ValueError(f"{folder} holds {store.OTHER_SETTINGS}")
        return cls(name, spec, folder, lease, TrainingState(0, weights_at_start(spec)), damages=tuple(damages))

    @classmethod
    def _at(
        cls, name: str, spec: RunSpec, folder: Path, lease: Lease, whole: list[WrittenState], damages: list[Damage]
    ) -> Ongoing:
        """Return the training at its last undamaged state."""
        last = whole[0]
        if last.file == states.BEFORE:  # so that what is written next finds a whole one before it
            states.step_back(folder)
        goes_on = last.state.ended == Outcome(OutcomeKind.EPOCHS_OVER, last.state.epoch)
        state = replace(last.state, ended=None) if goes_on else last.state
        files, log = files_until(folder, last)
        if goes_on and last.state.epoch == spec.recipe.epochs:  # its progress, which was measured, stays
            files |= _measured(folder, damages)
        written = (last.state.epoch, last.state.ended)
        before = whole[1] if len(whole) > 1 else None
        told = tuple(damages)
        return cls(name, spec, folder, lease, state, files, log, before, False, last.seconds, written, damages=told)

    @property
    def seconds(self) -> float:
        """Training time in all sessions [s], shared with the runs that train in the same group."""
        return self.seconds_before + time.monotonic() - self.began

    def write_state(self) -> None:
        """Write the state from which the training can continue, unless this state is already on disk."""
        if (self.state.epoch, self.state.ended) != self.written:
            vouched = {name: digest for name, digest in self.files.items() if name.startswith("snapshots/")}
            if self.log is not None:
                vouched[store.SPECTRA] = states.digest(*self.log.packed())
            states.write_state(self.folder, self.spec, self.state, self.seconds, vouched, self.lease.check)
            self.written = (self.state.epoch, self.state.ended)

    def step_back(self) -> None:
        """Go back to the saved state before the last saved state."""
        if self.before is not None:
            self.lease.check()
            states.step_back(self.folder)
            self.state = replace(self.before.state, ended=None)
            self.files, self.log = files_until(self.folder, self.before)
            self.written = (self.state.epoch, None)

    def take(self, state: TrainingState, state_due: bool, device: str) -> None:
        """Set the current state and write the files that are due; after the last epoch, write all files of the finished
        run.
        """
        recipe, guard = self.spec.recipe, self.lease.check
        if recipe.spectra_every and (state.ended or state.epoch % recipe.spectra_every == 0):
            network = hooked(self.spec.model, state.weights).to(device)
            new = spectra(network, self.spec.task, state.epoch)
            self.log = new if self.log is None else self.log.then(new)
            self.files[store.SPECTRA] = store.write_spectra(self.folder, self.log, guard)
        if state.ended or state.epoch % recipe.snapshot_every == 0:
            digest = store.write_snapshot(self.folder, state, guard)
            self.files[str(store.snapshot_path(Path(), state.epoch))] = digest
        self.state = state
        if state.ended or state_due:
            self.write_state()
        if state.ended:
            store.write_finished(self.folder, self.spec, state, self.seconds, self.files, guard)
            self.is_over = True


def finished_outcome(folder: Path, spec: RunSpec) -> Outcome | None:
    """Return how the finished run in a folder ended; None if it is unfinished or a file is damaged.

    Raises:
        ValueError: the run in the folder was trained from another spec.
    """
    finished, damages = _finished(folder, spec)
    return finished if finished is not None and not damages and _is_its_end(finished, spec) else None


def _is_its_end(ended: Outcome, spec: RunSpec) -> bool:
    """Return True if a run that ended this way has no epochs left to train."""
    return ended.kind is not OutcomeKind.EPOCHS_OVER or ended.epoch == spec.recipe.epochs


def _all_epochs(ended: Outcome) -> int:
    """Return the number of epochs of a run that trained all its epochs; 0 if the run ended for another reason."""
    return ended.epoch if ended.kind is OutcomeKind.EPOCHS_OVER else 0


def _measured(folder: Path, damages: list[Damage]) -> dict[str, str]:
    """Return the undamaged tables of progress measures listed in `run.json`, with their checksums."""
    names = {store.PROGRESS, store.PROGRESS + store.PACKED} - {damage.file for damage in damages}
    try:
        vouched = store.read_record(folder)["sha256"]
    except (ValueError, FileNotFoundError):
        return {}
    return {name: vouched[name] for name in names & set(vouched)}


def _finished(folder: Path, spec: RunSpec) -> tuple[Outcome | None, list[Damage]]:
    """Return how the finished run in a folder ended, or None without a finished run, and the damage of its files.

    Raises:
        ValueError: the run in the folder was trained from another spec.
    """
    if not (folder / store.RECORD).is_file():
        return None, []
    try:
        record = store.read_record(folder)
        begun = RunSpec.from_json(record["spec"], spec.task)
    except ValueError as error:
        return None, [Damage(store.RECORD, str(error))]
    if replace(begun, recipe=replace(begun.recipe, epochs=spec.recipe.epochs)) != spec:
        raise ValueError(f"{folder} holds {store.OTHER_SETTINGS}")
    return store.recorded_outcome(record), wrong_files(folder, record["sha256"])


def wrong_files(folder: Path, digests: Mapping[str, str]) -> list[Damage]:
    """Return the damage of each file that is missing or differs from its checksum."""
    damages = []
    for name in digests:
        try:
            store.verify(folder, {"sha256": digests}, name)
        except (ValueError, OSError) as error:
            damages.append(Damage(name, str(error)))
    return damages


def damaged_files(folder: Path, written: WrittenState) -> list[Damage]:
    """Return the damage of each file that a saved state lists."""
    files = dict(written.files or {})
    of_log = files.pop(store.SPECTRA, None)
    damages, path = wrong_files(folder, files), folder / store.SPECTRA
    if of_log is not None:
        try:
            log = store.read_spectra(path).before(written.state.epoch + 1)
            if states.digest(*log.packed()) != of_log:
                raise ValueError(f"{path} is not what was written: its sha256 differs")
        except (ValueError, OSError) as error:
            damages.append(Damage(store.SPECTRA, str(error) if isinstance(error, ValueError) else f"{path} is missing"))
    return damages


def files_until(folder: Path, written: WrittenState) -> tuple[dict[str, str], Spectra | None]:
    """Return the checksums of the files that a saved state lists, and the log of spectra until that state.

    States written by earlier versions of modinterp list no files, so those files are not checked.
    """
    path, epoch = folder / store.SPECTRA, written.state.epoch
    if written.files is None:
        epochs = [e for e in store.snapshot_epochs(folder) if e <= epoch]
        files = {str(store.snapshot_path(Path(), e)): store.sha256(store.snapshot_path(folder, e)) for e in epochs}
        has_log = path.is_file()
    else:
        files = {name: digest for name, digest in written.files.items() if name != store.SPECTRA}
        has_log = store.SPECTRA in written.files
    return files, store.read_spectra(path).before(epoch + 1) if has_log else None
