"""A trained run as an object: its task, its network, how it got there."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from modinterp.activations import ActivationCache, Spectra, activations
from modinterp.models import Config, Network, Weights, fitting, from_state_dict, hooked, initial_weights
from modinterp.runs import store
from modinterp.runs.catalogue import CATALOGUE
from modinterp.tasks import Split, Task
from modinterp.training import RunSpec, resolved_device
from modinterp.usage import perhaps

TRAINED = Path("trained")  # where the commands put what they train


class NotRecorded(ValueError):
    """What is asked of a run did not come with it: its split, its history, its weights at the start."""


class NotShipped(Network):
    """In the place of a network whose weights did not come with its run: it has a config and nothing learned."""

    def __init__(self, config: Config, name: str):
        super().__init__(config)
        self.name = name

    def forward(self, *_: object) -> NoReturn:
        """Raises `NotRecorded`, as everything does that asks for its weights."""
        again = _training_of(self.name) if self.name in CATALOGUE else ""
        raise NotRecorded(f"{self.name} came with its history, not with its weights{again}")

    def __getattr__(self, asked: str) -> Any:
        try:
            return super().__getattr__(asked)
        except AttributeError:
            return self.forward()


def _training_of(name: str) -> str:
    """How to come by a run of the catalogue that is not here, to follow an error."""
    read = f'load("{name}", root="{TRAINED}") reads it'
    if (TRAINED / name / store.RECORD).is_file():
        return f"; {read} as it was trained here"
    return f"; `python -m modinterp.runs train {name}` trains it, and {read} then"


class Snapshots(Mapping[int, Weights]):
    """Epoch to weights, each read from disk when it is asked for."""

    def __init__(self, epochs: list[int], read: Callable[[int], Weights]):
        self._epochs, self._read = epochs, read

    def __getitem__(self, epoch: int) -> Weights:
        if epoch not in self._epochs:
            raise KeyError(f"no snapshot of epoch {epoch}; there are {self._epochs}")
        return self._read(epoch)

    def __iter__(self) -> Iterator[int]:
        return iter(self._epochs)

    def __len__(self) -> int:
        return len(self._epochs)

    def __repr__(self) -> str:
        return f"Snapshots({self._epochs})"


@dataclass(eq=False)
class TrainedRun:
    """A network with its task and, where it was trained here, its history.

    Attributes:
        name: as in the catalogue, or the file that it was read from.
        model: the network; one that raises `NotRecorded` whatever it is asked, where `has_weights` is false.
        spec: what it was trained from; None for a foreign checkpoint.
        history: one row per logged epoch: losses [nats], accuracies, sum of squared weights.
        snapshots: epoch to weights.
        progress: progress measures by epoch, where they have been taken; see `modinterp.analyses.progress`.
        spectra: of some activations by epoch, where they were logged; see `modinterp.activations.spectra`.
    """

    name: str
    task: Task
    model: Network
    spec: RunSpec | None = None
    history: pd.DataFrame = field(default_factory=pd.DataFrame)
    snapshots: Mapping[int, Weights] = field(default_factory=dict)
    progress: pd.DataFrame | None = None
    spectra: Spectra | None = None

    @property
    def has_weights(self) -> bool:
        """Whether its weights came with it, or its history alone."""
        return not isinstance(self.model, NotShipped)

    def activations(self) -> ActivationCache:
        """Every activation on all inputs at the last position, in float64, captured once.

        See `modinterp.activations.activations` for names and shapes.
        """
        return self._activations

    @cached_property
    def _activations(self) -> ActivationCache:
        return activations(self.model, self.task)

    @cached_property
    def split(self) -> Split:
        """The inputs it was trained on, and the others.

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
        weights = initial_weights(self.spec.model, self.spec.seed)
        return TrainedRun(
            f"{self.name} at the start",
            self.task,
            hooked(self.spec.model, weights).to(self.model.W_E.device if self.has_weights else "cpu"),
            self.spec,
            self.history[self.history["epoch"] == 0] if "epoch" in self.history else self.history,
            {0: weights},
            None if self.progress is None else self.progress[self.progress["epoch"] == 0],
            None if self.spectra is None else self.spectra.before(1),
        )

    def at(self, epoch: int) -> Network:
        """The network at the snapshot of an epoch.

        Raises:
            KeyError: there is no such snapshot.
        """
        network = copy.deepcopy(self.model)
        network.load_state_dict({name: w.float() for name, w in self.snapshots[epoch].items()})
        return network

    def __repr__(self) -> str:
        line = f"{self.name}: {self.task.name}, "
        line += f"{sum(w.numel() for w in self.model.parameters()):,} weights" if self.has_weights else "no weights"
        if len(self.history):
            last = self.history.iloc[-1]
            line += f", epoch {last['epoch']:,.0f}, test loss {last['test_loss']:.2e}"
            line += f", test accuracy {last['test_accuracy']:.4f}"
        return line + (f", {len(self.snapshots)} snapshots" if self.snapshots else "")

    def _repr_html_(self) -> str:
        """What a notebook shows: the same, and the last row of the history."""
        name, _, rest = repr(self).partition(": ")
        last = self.history.tail(1).to_html(index=False, border=0) if len(self.history) else ""
        return f"<b>{escape(name)}</b>: {escape(rest)}{last}"


def load(
    name: str | Path,
    task: Task | None = None,
    root: str | Path | None = None,
    device: str = "cpu",
    act_fn: str = "relu",
) -> TrainedRun:
    """A named run, or anybody's checkpoint.

    Args:
        name: `nanda/mainline-0` and its like, the folder of a run, or a `.safetensors`, `.pt` or `.pth` file.
        task: for a file, what its network was trained on; a named run knows.
        root: folder to look for a named run in; `checkpoints/` by default.
        device: where the network is to live.
        act_fn: for a file, the nonlinearity of its neurons, which no checkpoint names.
    Raises:
        FileNotFoundError: no such run or file.
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
    is_folder = root is None and (path / store.RECORD).is_file()
    where = Path(root or store.checkpoints())
    folder = path if is_folder else where / name
    if not (folder / store.RECORD).is_file():
        if str(name) in CATALOGUE:
            hint = _training_of(str(name))
        else:
            hint = perhaps(str(name), store.run_names(where)) or perhaps(str(name), CATALOGUE)
        raise FileNotFoundError(f"no trained run in {folder}{hint}")
    run = _from_folder(str(name), folder, device)
    if task is not None and task != run.task:
        raise ValueError(f"{name} was trained on {run.task.name}, not on {task.name}")
    return run


def _network(name: str, folder: Path, record: dict[str, Any], spec: RunSpec) -> Network:
    if store.FINAL not in record["sha256"]:
        return NotShipped(spec.model, name)
    weights = store.read_weights(store.verify(folder, record, store.FINAL))
    try:
        return fitting(weights, spec.model, spec.task)
    except ValueError as error:
        raise ValueError(f"{folder / store.FINAL} holds another network than run.json describes: {error}") from error


def _from_folder(name: str, folder: Path, device: str) -> TrainedRun:
    record = store.read_record(folder)
    spec = RunSpec.from_json(record["spec"])
    network = _network(name, folder, record, spec).to(device)
    paths = {epoch: str(store.snapshot_path(Path(), epoch)) for epoch in store.snapshot_epochs(folder)}
    kept = {epoch: path for epoch, path in paths.items() if path in record["sha256"]}
    if kept:  # the last of them is the final weights
        kept.setdefault(record["epoch"], store.FINAL)

    def snapshot(epoch: int) -> Weights:
        return store.read_weights(store.verify(folder, record, kept[epoch]))

    def table(name: str) -> pd.DataFrame | None:
        listed = next((x for x in (name, name + store.PACKED) if x in record["sha256"]), None)
        return None if listed is None else store.read_table(store.verify(folder, record, listed))

    history = table(store.HISTORY)
    if history is None:
        raise ValueError(f"{folder / store.RECORD} names no {store.HISTORY}")
    return TrainedRun(
        name,
        spec.task,
        network,
        spec,
        history,
        Snapshots(sorted(kept), snapshot),
        table(store.PROGRESS),
        store.read_spectra(store.verify(folder, record, store.SPECTRA)) if store.SPECTRA in record["sha256"] else None,
    )
