"""Represent a trained run as an object with its task, network and training history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Generic, TypeVar

import pandas as pd

from modinterp.activations import ActivationCache, Spectra
from modinterp.activations.on_demand import all_activations
from modinterp.models import Config, Network, Weights, fitting, hooked
from modinterp.runs import store
from modinterp.runs.recorded_results import Recorded
from modinterp.runs.start import weights_at_start
from modinterp.tasks import Split, Task
from modinterp.training import Outcome, RunSpec

TRAINED = Path("trained")  # where the commands put what they train


class NotRecorded(ValueError):
    """A run lacks something that is needed: its weights, its split, or its initial weights."""


T = TypeVar("T", bound=Task)


@dataclass(eq=False)
class TrainedRun(Generic[T]):
    """A network with its task, and with its history if modinterp trained it.

    Attributes:
        name: name of the training, or of the file from which the network was read.
        model: the network; None if the history was shipped without the weights. Use the attribute `network` for a
            network that is never None.
        spec: all settings that determine the training; None for an external checkpoint.
        history: one row per logged epoch: losses [nats], accuracies, sum of squared weights.
        snapshots: map from epoch to weights, with the outputs that were trained; the method `at` returns networks.
        progress: progress measures by epoch, if they were measured; see `modinterp.analyses.training.progress`.
        spectra: spectra of some activations by epoch, if they were logged; see `modinterp.activations.spectra`.
        recorded: measurements made when the run was published, if they are shipped.
        outcome: how the training ended; None for an external checkpoint and for a run that is still in training.
        in_training: True if the run was opened before its training ended. The attributes of a run in training describe
            its last state.
        own_split: for a network trained elsewhere, its training and held-out inputs, if they are known.
        reopened: for a network trained elsewhere, a function from other weights, such as those of a snapshot, to the
            network with these weights.
    """

    name: str
    task: T
    model: Network | None
    spec: RunSpec | None = None
    history: pd.DataFrame = field(default_factory=pd.DataFrame)
    snapshots: Mapping[int, Weights] = field(default_factory=dict)
    progress: pd.DataFrame | None = None
    spectra: Spectra | None = None
    outcome: Outcome | None = None
    recorded: Recorded | None = None
    in_training: bool = False
    own_split: Split | None = None
    reopened: Callable[[Weights], Network] | None = None

    @property
    def has_weights(self) -> bool:
        """True if the run has weights, and not only its history."""
        return self.model is not None

    @property
    def network(self) -> Network:
        """The network.

        Raises:
            NotRecorded: the run was shipped without its weights.
        """
        if self.model is None:
            raise NotRecorded(self._lacks_weights)
        return self.model

    @property
    def _lacks_weights(self) -> str:
        """Return an error message that says which files the run has, and how to get its missing weights."""
        measured = ", but `measure` returns the measurements that were made when the run was published" * (
            self.recorded is not None
        )
        return f"{self.name} came with its history, not with its weights{measured}; {how_to_train(self.name)}"

    @property
    def config(self) -> Config:
        """Configuration of the network, read from the run's spec, or from the network of an external checkpoint.

        Raises:
            NotRecorded: the run has neither weights nor a spec.
        """
        return self.network.cfg if self.spec is None else self.spec.model

    @property
    def _device(self) -> str:
        return "cpu" if self.model is None else str(self.model.device)

    def activations(self) -> ActivationCache:
        """Return all activations at the last position on all inputs, in float64, by hook name; the activations are
        computed once.

        Activations of more than 1 GiB have the network's own dtype, and each is captured at first use. See
        `modinterp.activations.activations` for names and shapes.

        Raises:
            NotRecorded: the run was shipped without its weights.
        """
        return self._activations

    @cached_property
    def _activations(self) -> ActivationCache:
        return all_activations(self.network, self.task)

    def let_go(self) -> None:
        """Free the activations of the run; the next use captures them again."""
        self.__dict__.pop("_activations", None)

    @cached_property
    def split(self) -> Split:
        """The split of the task's inputs into training inputs and held-out inputs.

        Raises:
            NotRecorded: the network is a user's checkpoint, whose training inputs are unknown.
        """
        if self.own_split is not None:
            return self.own_split
        if self.spec is None:
            raise NotRecorded(f"the training inputs of {self.name} are not known")
        return self.spec.split

    @property
    def knows_split(self) -> bool:
        """True if the training inputs of the network are known."""
        return self.own_split is not None or self.spec is not None

    def at_start(self) -> TrainedRun:
        """Return a copy of the run before its first training step: initial weights, and only epoch 0 of history and
        snapshots.

        Raises:
            NotRecorded: the network is an external checkpoint, whose initial weights are unknown.
        """
        if self.spec is None:
            raise NotRecorded(f"the initial weights of {self.name} are not known")
        weights = weights_at_start(self.spec)
        network = hooked(self.spec.model, weights).to(self._device)
        return self._until(0, f"{self.name} at the start", network, {0: weights})

    def memorised(self) -> TrainedRun | None:
        """Return a copy of the run that ends at the first snapshot that has memorised and not generalised; None without
        one.

        A snapshot has memorised if at least 99% of the training answers are right. A memorising snapshot has not
        generalised if at most a fifth of the held-out answers are right.
        """
        history = self.history.query("train_accuracy >= 0.99 and test_accuracy <= 0.2") if len(self.history) else {}
        epoch = next((e for e in self.snapshots if len(history) and e in set(history["epoch"])), None)
        if epoch is None:
            return None
        before = {e: weights for e, weights in self.snapshots.items() if e <= epoch}
        return self._until(epoch, f"{self.name} at epoch {epoch:,}", self.at(epoch), before)

    def _until(self, epoch: int, name: str, network: Network, snapshots: Mapping[int, Weights]) -> TrainedRun:
        """Return a copy of the run with another network, and with history and snapshots up to an epoch."""
        kept = {table: _rows_until(epoch, getattr(self, table)) for table in ("history", "progress")}
        spectra = None if self.spectra is None else self.spectra.before(epoch + 1)
        return replace(self, name=name, model=network, snapshots=snapshots, spectra=spectra, recorded=None, **kept)

    def at(self, epoch: int) -> Network:
        """Return the network at the snapshot of an epoch.

        Raises:
            NotRecorded: the run was shipped without its weights.
            KeyError: the run has no snapshot of that epoch.
            ValueError: the snapshot does not fit the network.
        """
        if self.model is None and not self.snapshots:
            raise NotRecorded(self._lacks_weights)
        if self.reopened is not None:
            return self.reopened(self.snapshots[epoch]).to(self._device)
        return fitting(self.snapshots[epoch], self.config, self.task).to(self._device)

    def __repr__(self) -> str:
        line = f"{self.name}: {self.task.name}, "
        line += (
            f"{sum(w.numel() for w in self.model.parameters()):,} weights"
            if self.model is not None
            else "measured when it was published, no weights"
            if self.recorded is not None
            else "no weights"
        )
        if len(self.history):
            last = self.history.iloc[-1]
            line += f", epoch {last['epoch']:,.0f}"
            part = "test" if pd.notna(last.get("test_loss")) else "train"  # where all inputs are trained on
            line += f", {part} loss {last[f'{part}_loss']:.2e}" if f"{part}_loss" in last else ""
            line += f", {part} accuracy {last[f'{part}_accuracy']:.4f}" if f"{part}_accuracy" in last else ""
        line += f", {len(self.snapshots)} snapshots" if self.snapshots else ""
        return line + ", in training" * self.in_training

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the text of `repr`, and the last row of the history."""
        name, _, rest = repr(self).partition(": ")
        last = self.history.tail(1).to_html(index=False, border=0) if len(self.history) else ""
        return f"<b>{escape(name)}</b>: {escape(rest)}{last}"


def _rows_until(epoch: int, table: pd.DataFrame | None) -> pd.DataFrame | None:
    return table.loc[table["epoch"] <= epoch] if table is not None and "epoch" in table else table


def is_trained_here(name: str) -> bool:
    """Return True if a run lies in the folder where the commands write trainings."""
    return (TRAINED / name / store.RECORD).is_file()


def how_to_train(name: str) -> str:
    """Return advice on how to get a run that is not shipped, as text that ends an error message.

    Args:
        name: name of the run; or the folder of a run, whose last two parts are the run's name.
    """
    name = "/".join(Path(name).parts[-2:]) if Path(name).is_dir() else name
    read = f'load("{name}", root="{TRAINED}") reads the run'
    if is_trained_here(name):
        return f"{read} that was trained here"
    return f"`python -m modinterp.runs train {name}` trains the run, and {read} afterwards"
