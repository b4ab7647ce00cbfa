"""What is measured of any network with its task: the base of every family of measurements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

import pandas as pd
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations import ActivationCache
from modinterp.analyses.training import phases
from modinterp.measurements.recorded import restored_values
from modinterp.models import Config, Network, Weights
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.tasks import Split
from modinterp.terminal.progress_bars import progress_bar
from modinterp.training import Recipe, RunSpec

NEURONS, PATTERN, SCORES = (
    "blocks.0.mlp.hook_post", "blocks.0.attn.hook_pattern", "blocks.0.attn.hook_attn_scores",
)  # fmt: skip


M = TypeVar("M", bound="NetworkMeasurements")
SECONDS_BEFORE_A_BAR = 3
_LARGE = 10**5  # entries of a tensor that is worth letting go


def _is_large(value: Any) -> bool:
    """Whether a value is a tensor worth letting go, or has one in it."""
    if isinstance(value, Mapping):
        return any(map(_is_large, value.values()))
    return isinstance(value, Tensor) and value.numel() > _LARGE


class NoSuchPart(NotRecorded):
    """A measurement asks for a part that this network's architecture does not have."""


def one_at_a_time(measured: Iterable[M]) -> Iterator[M]:
    """Measurements of several runs, of which only the one that is looked at holds its activations."""
    all_of_them = list(measured)
    for each in all_of_them:
        yield each
        if any(other is not each for other in all_of_them):
            each.let_go()


class NetworkMeasurements:
    """The measurements of one run; each attribute is computed when it is first asked for, and then kept.

    Measurements hold the run that they are of, and the run does not know of them: whoever holds the measurements
    decides how long activations stay in memory. Of a run that came without its weights they are, as far as that goes,
    those that were recorded when it was published.

    Args:
        run: a trained run, or anybody's network with its task.
    Raises:
        ValueError: what was recorded of the run is damaged.
    """

    def __init__(self, run: TrainedRun):
        self.run = run
        if self.is_recorded and run.recorded is not None:
            vars(self).update(restored_values(type(self), run.recorded.values))

    @property
    def name(self) -> str:
        """Name of the run, or the file that it was read from."""
        return self.run.name

    @property
    def task(self) -> Any:
        """What the network was trained on."""
        return self.run.task

    @property
    def spec(self) -> RunSpec | None:
        """What the run was trained from; None for a foreign checkpoint."""
        return self.run.spec

    @property
    def recipe(self) -> Recipe:
        """How the run was trained.

        Raises:
            NotRecorded: a foreign checkpoint, of which that is not known.
        """
        if self.run.spec is None:
            raise NotRecorded(f"how {self.name} was trained is not known")
        return self.run.spec.recipe

    def let_go(self) -> None:
        """Forget the activations, which are captured anew when they are asked for; numbers and tables stay."""
        self.run.let_go()
        for name, value in list(self.__dict__.items()):
            if _is_large(value):
                del self.__dict__[name]

    @property
    def taken(self) -> dict[str, Any]:
        """Name of each measurement that was taken and not let go to its value; for others of the same network."""
        return {name: value for name, value in vars(self).items() if name != "run"}

    @property
    def has_weights(self) -> bool:
        """Whether the weights came with the run, or its history alone."""
        return self.run.has_weights

    @property
    def is_recorded(self) -> bool:
        """Whether what is known of it was measured when it was published, and its weights did not come along."""
        return not self.has_weights and self.run.recorded is not None

    @property
    def config(self) -> Config:
        """The configuration of the network, which needs no weights where the run was trained here.

        Raises:
            NotRecorded: the run came without its weights, and without what it was trained from.
        """
        return self.run.config

    @property
    def model(self) -> Network:
        """The network.

        Raises:
            NotRecorded: the run came without its weights.
        """
        return self.run.network

    @property
    def history(self) -> pd.DataFrame:
        """One row per logged epoch: losses [nats], accuracies, sum of squared weights; empty for a foreign file."""
        return self.run.history

    @cached_property
    def is_settled(self) -> bool:
        """Whether its training went on until cleanup was over, as far as a history tells."""
        return self.history.empty or phases.is_settled(self.history)

    @property
    def snapshots(self) -> Mapping[int, Weights]:
        """Epoch to weights."""
        return self.run.snapshots

    @property
    def split(self) -> Split:
        """The inputs trained on, and the others.

        Raises:
            NotRecorded: a foreign checkpoint, of which that is not known.
        """
        return self.run.split

    def at(self, epoch: int) -> Network:
        """The network at the snapshot of an epoch.

        Raises:
            KeyError: there is no such snapshot.
        """
        return self.run.at(epoch)

    def networks(self) -> Iterator[tuple[int, Network]]:
        """Epoch and network of every snapshot, one after the other; a progress bar shows them once it takes long.

        Raises:
            NotRecorded: no snapshots came with the run.
        """
        if not self.snapshots:
            raise NotRecorded(f"no snapshots of {self.name} were kept")
        return self._networks()

    def _networks(self) -> Iterator[tuple[int, Network]]:
        what = f"snapshots of {self.name}"
        with progress_bar(len(self.snapshots), what, "snapshot", leave=False, delay=SECONDS_BEFORE_A_BAR) as bar:
            for epoch in self.snapshots:
                yield epoch, self.at(epoch)
                bar.update()

    @property
    def p(self) -> int:
        """Number of classes of the answer; for pairs of residues, the modulus."""
        return self.task.grid[0] if self.task.grid else self.task.output_sizes[0]

    @property
    def last_block(self) -> str:
        """Name of the layer whose neurons make the logits, such as `blocks.0`."""
        return f"blocks.{len(self.model.blocks) - 1}"

    @property
    def grid(self) -> ActivationCache:
        """Every activation at the last position over all inputs, in float64, captured once.

        See `modinterp.activations.activations` for names and shapes.
        """
        return self.run.activations()

    def activation(self, name: str) -> Tensor:
        """An activation at the last position over all inputs, `[*grid, ...]`, by the name of its hook.

        Raises:
            NoSuchPart: the network has no such hook.
        """
        if name not in self.grid.cache_dict:
            raise NoSuchPart(f"{self.name} has no {name}")
        return self.grid[name]

    @property
    def logits(self) -> Float[Tensor, "*grid output"]:
        """Logits at the last position, on all inputs."""
        return self.activation("logits")

    @cached_property
    def labels(self) -> Int[Tensor, "input output"]:
        """The right answer to every question, one column a question."""
        return self.task.labels()

    @cached_property
    def grokking(self) -> phases.Grokking:
        """When the run memorised and when it grokked, in epochs.

        Raises:
            NotRecorded: a foreign checkpoint, whose training is not known.
        """
        if not len(self.run.history):
            raise NotRecorded(f"how {self.name} was trained is not known")
        return phases.grokking(self.run.history, self.p)

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self.run!r}"
