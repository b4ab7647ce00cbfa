"""A trained run as an object: its task, its network, how it got there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from modinterp.activations import ActivationCache, Spectra, activations
from modinterp.models import Network, Weights, fitting, from_state_dict, hooked
from modinterp.runs import store
from modinterp.runs.snapshots import Snapshots
from modinterp.runs.states import BEFORE, STATE, last_state
from modinterp.tasks import Split, Task
from modinterp.terminal.suggestions import suggestion
from modinterp.training import Outcome, RunSpec, resolved_device

TRAINED = Path("trained")  # where the commands put what they train


class NotRecorded(ValueError):
    """Something that a run was used for did not come with it: its weights, its split, its initial weights."""


@dataclass(eq=False)
class TrainedRun:
    """A network with its task and, where it was trained here, its history.

    Attributes:
        name: the name that it was trained under, or the file that it was read from.
        model: the network; None where the history was shipped without the weights. `network` is never None.
        spec: all that decided its training; None for a foreign checkpoint.
        history: one row per logged epoch: losses [nats], accuracies, sum of squared weights.
        snapshots: weights by epoch, with the outputs that were trained; `at` gives networks.
        progress: progress measures by epoch, where they were measured; see `modinterp.analyses.training.progress`.
        spectra: spectra of some activations by epoch, where they were logged; see `modinterp.activations.spectra`.
        outcome: how its training ended; None for a foreign checkpoint and for a run that is still in training.
        in_training: whether it was opened before its training ended, and all of this is as of its last state.
    """

    name: str
    task: Task
    model: Network | None
    spec: RunSpec | None = None
    history: pd.DataFrame = field(default_factory=pd.DataFrame)
    snapshots: Mapping[int, Weights] = field(default_factory=dict)
    progress: pd.DataFrame | None = None
    spectra: Spectra | None = None
    outcome: Outcome | None = None
    in_training: bool = False

    @property
    def has_weights(self) -> bool:
        """Whether its weights came with it, and not its history alone."""
        return self.model is not None

    @property
    def network(self) -> Network:
        """The network.

        Raises:
            NotRecorded: the history came without the weights.
        """
        if self.model is None:
            raise NotRecorded(f"{self.name} came with its history, not with its weights; {how_to_train(self.name)}")
        return self.model

    @property
    def _device(self) -> str:
        return "cpu" if self.model is None else str(self.model.W_E.device)

    def activations(self) -> ActivationCache:
        """Every activation on all inputs at the last position, in float64, captured once.

        See `modinterp.activations.activations` for names and shapes.

        Raises:
            NotRecorded: the history came without the weights.
        """
        return self._activations

    @cached_property
    def _activations(self) -> ActivationCache:
        return activations(self.network, self.task)

    def let_go(self) -> None:
        """Forget the activations; they are captured anew when they are asked for."""
        self.__dict__.pop("_activations", None)

    @cached_property
    def split(self) -> Split:
        """Rows of the task's inputs that the network was trained on, and the other rows.

        Raises:
            NotRecorded: a foreign checkpoint, of which that is not known.
        """
        if self.spec is None:
            raise NotRecorded(f"which inputs {self.name} was trained on is not known")
        return self.spec.split

    def at_start(self) -> TrainedRun:
        """The same run before its first step: initial weights, history and snapshots cut to epoch 0.

        Raises:
            NotRecorded: a foreign checkpoint, whose initial weights are not known.
        """
        if self.spec is None:
            raise NotRecorded(f"the initial weights of {self.name} are not known")
        weights = self.spec.initial_weights()
        network = hooked(self.spec.model, weights).to(self._device)
        return self._until(0, f"{self.name} at the start", network, {0: weights})

    def memorised(self) -> TrainedRun | None:
        """The same run at the first snapshot at which it has memorised and not generalised, with what was until then.

        At least 99% of the answers trained on are right then, and at most a fifth of the others; None where no snapshot
        is of such an epoch.
        """
        history = self.history.query("train_accuracy >= 0.99 and test_accuracy <= 0.2") if len(self.history) else {}
        epoch = next((e for e in self.snapshots if len(history) and e in set(history["epoch"])), None)
        if epoch is None:
            return None
        before = {e: weights for e, weights in self.snapshots.items() if e <= epoch}
        return self._until(epoch, f"{self.name} at epoch {epoch:,}", self.at(epoch), before)

    def _until(self, epoch: int, name: str, network: Network, snapshots: Mapping[int, Weights]) -> TrainedRun:
        """The run with another network, and with its history and snapshots cut after an epoch."""
        kept = {table: _rows_until(epoch, getattr(self, table)) for table in ("history", "progress")}
        spectra = None if self.spectra is None else self.spectra.before(epoch + 1)
        return replace(self, name=name, model=network, snapshots=snapshots, spectra=spectra, **kept)

    def at(self, epoch: int) -> Network:
        """The network at the snapshot of an epoch.

        Raises:
            KeyError: there is no such snapshot.
            ValueError: the snapshot is of another network.
        """
        config = self.network.cfg if self.spec is None else self.spec.model
        return fitting(self.snapshots[epoch], config, self.task).to(self._device)

    def __repr__(self) -> str:
        line = f"{self.name}: {self.task.name}, "
        line += (
            f"{sum(w.numel() for w in self.model.parameters()):,} weights" if self.model is not None else "no weights"
        )
        if len(self.history):
            last = self.history.iloc[-1]
            line += f", epoch {last['epoch']:,.0f}, test loss {last['test_loss']:.2e}"
            line += f", test accuracy {last['test_accuracy']:.4f}"
        line += f", {len(self.snapshots)} snapshots" if self.snapshots else ""
        return line + ", in training" * self.in_training

    def _repr_html_(self) -> str:
        """What a notebook shows: the line that `repr` gives, and the last row of the history."""
        name, _, rest = repr(self).partition(": ")
        last = self.history.tail(1).to_html(index=False, border=0) if len(self.history) else ""
        return f"<b>{escape(name)}</b>: {escape(rest)}{last}"


def load(
    name: str | Path,
    task: Task | None = None,
    root: str | Path | None = None,
    device: str = "cpu",
    act_fn: str = "relu",
    partial: bool = False,
) -> TrainedRun:
    """A trained run by its name or folder, or anybody's checkpoint.

    Args:
        name: a run such as `SOURCE/RUN`, the folder of a run, or a `.safetensors`, `.pt` or `.pth` file.
        task: for a file, what its network was trained on. A run knows its task; one whose class cannot be imported any
            more is given here.
        root: folder to look for a named run in; `checkpoints/` by default.
        device: torch device of the network.
        act_fn: for a file, the nonlinearity of its neurons, which is in no checkpoint.
        partial: whether a run that is still in training is opened as of its last state.
    Raises:
        FileNotFoundError: no such run or file, or a run that is still in training.
        ValueError: a damaged file, one that would run code, or one that does not fit the task; a task other than the
            named run's; a device that is not there.
    """
    path, device = Path(name), str(resolved_device(device))
    if task is not None and not isinstance(task, Task):
        raise ValueError(f"expected a task, such as modinterp.tasks.addition(113), got {task!r}")
    if path.suffix in store.READ:
        weights = store.read_weights(path)
        if task is None:
            raise ValueError(f"a file does not say what its network was trained on: load({str(name)!r}, task=...)")
        return TrainedRun(str(name), task, from_state_dict(weights, task, act_fn).to(device))
    if path.is_file():
        raise ValueError(f"{path} is not read: weights come in .safetensors, .pt or .pth")
    where = Path(root or store.checkpoints())
    is_folder = root is None and any((path / file).is_file() for file in (store.RECORD, STATE, BEFORE))
    folder = path if is_folder else where / name
    run = _unfinished_run(str(name), folder, device, task) if partial else None
    if run is None and not (folder / store.RECORD).is_file():
        raise FileNotFoundError(f"no trained run in {folder}{_how_to_have(str(name), folder, where, task)}")
    run = run or _finished_run(str(name), folder, device, task)
    if task is not None and task != run.task:
        raise ValueError(f"{name} was trained on {run.task.name}, not on {task.name}")
    return run


def _rows_until(epoch: int, table: pd.DataFrame | None) -> pd.DataFrame | None:
    return table.loc[table["epoch"] <= epoch] if table is not None and "epoch" in table else table


def _is_trained_here(name: str) -> bool:
    return (TRAINED / name / store.RECORD).is_file()


def how_to_train(name: str) -> str:
    """How to come by a run that did not come along, as a clause that follows an error."""
    read = f'load("{name}", root="{TRAINED}") reads it'
    if _is_trained_here(name):
        return f"{read} as it was trained here"
    return f"`python -m modinterp.runs train {name}` trains it, and {read} then"


def _how_to_have(name: str, folder: Path, root: Path, task: Task | None) -> str:
    """What to do about a run that is not there, as clauses that follow an error."""
    if (begun := last_state(folder, task)) is not None:
        _, state = begun
        return f"; it is in training and stands at epoch {state.epoch:,}: load(..., partial=True) opens it"
    if _is_trained_here(name):
        return f"; {how_to_train(name)}"
    alike = suggestion(name, store.run_names(root))
    return f"{alike}; `python -m modinterp.runs list` shows what can be trained"


def _network(folder: Path, record: dict[str, Any], spec: RunSpec) -> Network | None:
    """The network of a finished run; None where its weights are not shipped."""
    if store.FINAL not in record["sha256"]:
        return None
    weights = store.read_weights(store.verify(folder, record, store.FINAL))
    try:
        return fitting(weights, spec.model, spec.task)
    except ValueError as error:
        raise ValueError(f"{folder / store.FINAL} holds another network than run.json describes: {error}") from error


def _finished_run(name: str, folder: Path, device: str, task: Task | None) -> TrainedRun:
    """The run in a folder, every file of it checked against run.json before it is read."""
    record = store.read_record(folder)
    spec = RunSpec.from_json(record["spec"], task)
    network = _network(folder, record, spec)
    paths = {epoch: str(store.snapshot_path(Path(), epoch)) for epoch in store.snapshot_epochs(folder)}
    recorded = {epoch: path for epoch, path in paths.items() if path in record["sha256"]}
    if recorded:  # the last of them is the final weights
        recorded.setdefault(record["epoch"], store.FINAL)

    def snapshot(epoch: int) -> Weights:
        return store.read_weights(store.verify(folder, record, recorded[epoch]))

    def table(name: str) -> pd.DataFrame | None:
        listed = next((x for x in (name, name + store.PACKED) if x in record["sha256"]), None)
        return None if listed is None else store.read_table(store.verify(folder, record, listed))

    history = table(store.HISTORY)
    if history is None:
        raise ValueError(f"{folder / store.RECORD} names no {store.HISTORY}")
    has_spectra = store.SPECTRA in record["sha256"]
    return TrainedRun(
        name,
        spec.task,
        None if network is None else network.to(device),
        spec,
        history,
        Snapshots(sorted(recorded), snapshot),
        table(store.PROGRESS),
        store.read_spectra(store.verify(folder, record, store.SPECTRA)) if has_spectra else None,
        store.recorded_outcome(record),
    )


def _unfinished_run(name: str, folder: Path, device: str, task: Task | None) -> TrainedRun | None:
    """The run in a folder as of its last state; None where it has none, or none beyond a finished run."""
    begun = last_state(folder, task)
    if begun is None:
        return None
    spec, state = begun
    if (folder / store.RECORD).is_file() and store.read_record(folder)["epoch"] >= state.epoch:
        return None

    def snapshot(epoch: int) -> Weights:
        return store.read_weights(store.snapshot_path(folder, epoch))

    spectra = store.read_spectra(folder / store.SPECTRA) if (folder / store.SPECTRA).is_file() else None
    return TrainedRun(
        name,
        spec.task,
        fitting(state.weights, spec.model, spec.task).to(device),
        spec,
        pd.DataFrame(list(state.history)),
        Snapshots([epoch for epoch in store.snapshot_epochs(folder) if epoch <= state.epoch], snapshot),
        spectra=None if spectra is None else spectra.before(state.epoch + 1),
        in_training=True,
    )
