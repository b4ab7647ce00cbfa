"""Define the base class of all measurements of a network with its task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from math import log
from statistics import fmean
from typing import Any, TypeVar

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.activations import ActivationCache
from modinterp.activations.blocks import row_blocks
from modinterp.analyses.training import phases
from modinterp.measurements.component import Component, Kept
from modinterp.measurements.listed import absent
from modinterp.measurements.quantity import REGISTRY, STAGES, Quantity, Reading, overview, reading
from modinterp.measurements.recorded import restored_values
from modinterp.measurements.score import Each, Score
from modinterp.models import Config, Network, Weights
from modinterp.runs import NotRecorded, TrainedRun
from modinterp.tasks import ModularArithmetic, Split
from modinterp.tasks.modular import OPERATIONS
from modinterp.terminal.progress_bars import progress_bar
from modinterp.training import Recipe, RunSpec

NEURONS, PATTERN, SCORES = (
    "blocks.0.mlp.hook_post", "blocks.0.attn.hook_pattern", "blocks.0.attn.hook_attn_scores",
)  # fmt: skip


M = TypeVar("M", bound="NetworkMeasurements")
C = TypeVar("C", bound=Component)
SECONDS_BEFORE_A_BAR = 3
_GIVEN = ("run", "as_published", "draws")  # to a network's measurements, which are no measurements
_LARGE = 10**5  # entries of a tensor that is worth letting go


def _is_large(value: Any) -> bool:
    """Return True if a value is, or contains, a tensor large enough to free."""
    if isinstance(value, Mapping):
        return any(map(_is_large, value.values()))
    return isinstance(value, Tensor) and value.numel() > _LARGE


class NoSuchPart(NotRecorded):
    """A measurement needs a part that the network's architecture does not have."""


def one_at_a_time(measured: Iterable[M]) -> Iterator[M]:
    """Yield the measurements of several runs one after another; only the run in use holds its activations in memory."""
    all_of_them = list(measured)
    for each in all_of_them:
        yield each
        if any(other is not each for other in all_of_them):
            each.let_go()


class NetworkMeasurements:
    """The measurements of one network; each is computed at first use and then cached.

    `m["accuracy"]` returns a number by its key, and `m.table()` returns all numbers. Attributes such as `m.readoff`
    hold the results behind the numbers of `m.table()`. Activations stay in memory until `let_go` is called, or the run
    is deleted. For a run without weights, measurements are those recorded when the run was published.

    Args:
        run: a trained run, or a user's network with its task.
        as_published: True to choose key frequencies from W_L, and key representations by a fixed similarity, exactly as
            in the papers. If `as_published` is False, the choice also depends on the exposed parts of a user's network
            and on random relabellings.
        draws: number of random matrices for each null distribution of the spectrum.
    Raises:
        ValueError: the recorded measurements of the run are damaged.
    """

    parts: tuple[type[Component], ...] = ()  # kinds of components that hold further measurements
    lacks: frozenset[str] = frozenset()  # names of attributes that raise for every network of such tasks

    def __init__(self, run: TrainedRun, as_published: bool = False, draws: int = 199):
        self.run, self.as_published, self.draws = run, as_published, draws
        if self.is_recorded and run.recorded is not None:
            vars(self).update(restored_values(type(self), run.recorded.values))

    def quantities(self) -> tuple[Quantity, ...]:
        """Return all quantities that are defined for networks of this kind, in the order of their stages."""
        found = (each for each in REGISTRY.values() if each.applies(self))
        return tuple(sorted(found, key=lambda each: list(STAGES).index(each.stage)))

    def reading(self, key: str) -> Reading:
        """Return a number by its key, with unit, definition and note; the value is None if the network lacks a needed
        part.

        Raises:
            KeyError: no quantity with this key is defined for networks of this kind.
        """
        return reading(self, key)

    def __getitem__(self, key: str) -> float:
        """Return a number by its key, such as `m["logit_fve"]`.

        Raises:
            KeyError: no quantity with this key is defined for networks of this kind.
            NoSuchPart: the network lacks a part that the number needs; the message names the part.
        """
        found = self.reading(key)
        if found.value is None:
            raise NoSuchPart(f"{self.name} has no {key}: {found.note}")
        return found.value

    def table(self) -> pd.DataFrame:
        """Return a table of all numbers: stage, key, title, value (NaN where absent), unit, definition, note."""
        return pd.DataFrame(each.row() for each in self.readings())

    def readings(self, *stages: str) -> Iterator[Reading]:
        """Yield every number of the network; a missing number has no value, and its note gives the reason.

        Args:
            stages: keys of `STAGES` whose numbers are included; all by default.
        """
        kept: dict[str, Reading] = vars(self).setdefault("_readings", {})
        for quantity in self.quantities():
            if not stages or quantity.stage in stages:
                self.reading(quantity.key)
                yield from (kept[key] for key in kept if kept[key].quantity == quantity.key)

    def __dir__(self) -> list[str]:
        """List the public attributes that exist for this network; components, such as `circles`, list their own."""
        missing = absent(self)
        return sorted(name for name in super().__dir__() if not name.startswith("_") and name not in missing)

    def _repr_html_(self) -> str:
        """Return HTML that lists the numbers by stage, with the values computed so far."""
        return overview(self)

    @property
    def words(self) -> dict[str, str]:
        """Words for the parts of this network in titles of quantities, if they differ from `WORDS`."""
        return self.words_of_task

    @property
    def words_of_task(self) -> dict[str, str]:
        """x3"""
        return {"inputs": "all inputs", "kind": "inputs"}

    @property
    def name(self) -> str:
        """Name of the run, or of the file that the network comes from."""
        return self.run.name

    @property
    def task(self) -> Any:
        """The task on which the network was trained."""
        return self.run.task

    @property
    def spec(self) -> RunSpec | None:
        """The spec of the run; None for a user's checkpoint."""
        return self.run.spec

    @property
    def recipe(self) -> Recipe:
        """The settings with which the run was trained.

        Raises:
            NotRecorded: the network is a user's checkpoint, whose training is unknown.
        """
        if self.run.spec is None:
            raise NotRecorded(f"the training settings of {self.name} are not known")
        return self.run.spec.recipe

    def let_go(self) -> None:
        """Free the activations, which the next use captures again; numbers and tables stay in memory."""
        self.run.let_go()
        kept = vars(self)
        parts = {name: value for name, value in kept.items() if isinstance(value, Kept)}
        for holder in (kept, *parts.values()):
            for name, value in list(holder.items()):
                if name not in parts and _is_large(value):
                    del holder[name]

    @property
    def taken(self) -> dict[str, Any]:
        """The computed measurements by name, which other measurements of this network can reuse."""
        return {name: value for name, value in vars(self).items() if name not in _GIVEN}

    def part(self, kind: type[C]) -> C:
        """Return a component: an object with further measurements of this network, whose results are stored here."""
        name = f"_{kind.__name__}"
        if name not in vars(self):
            recorded = self.run.recorded if self.is_recorded else None
            vars(self)[name] = Kept({} if recorded is None else restored_values(kind, recorded.values))
        return kind(self, vars(self)[name])

    @property
    def has_weights(self) -> bool:
        """True if the weights came with the run, and not only its history."""
        return self.run.has_weights

    @property
    def is_recorded(self) -> bool:
        """True if the run has recorded measurements in place of its weights."""
        return not self.has_weights and self.run.recorded is not None

    @property
    def config(self) -> Config:
        """The configuration of the network; for a run trained by modinterp, this needs no weights.

        Raises:
            NotRecorded: the run has neither weights nor a spec.
        """
        return self.run.config

    @property
    def model(self) -> Network:
        """The network.

        Raises:
            NotRecorded: the run came without the weights of its model.
        """
        return self.run.network

    @property
    def history(self) -> pd.DataFrame:
        """Table with one row per logged epoch: losses [nats], accuracies, sum of squared weights; empty for an external
        file.
        """
        return self.run.history

    @property
    def snapshots(self) -> Mapping[int, Weights]:
        """Map the epoch of each snapshot to the weights of the network at that epoch."""
        return self.run.snapshots

    @property
    def split(self) -> Split:
        """The training inputs and the held-out inputs.

        Raises:
            NotRecorded: the network is a user's checkpoint, whose training inputs are unknown.
        """
        return self.run.split

    def at(self, epoch: int) -> Network:
        """Return the network at the snapshot of an epoch.

        Raises:
            KeyError: the run has no snapshot of that epoch.
        """
        return self.run.at(epoch)

    def networks(self) -> Iterator[tuple[int, Network]]:
        """Yield the epoch and the network of every snapshot, one after the other; show a progress bar if this takes
        long.

        Raises:
            NotRecorded: no snapshots came with the run.
        """
        if not self.snapshots:
            raise NotRecorded(f"no snapshots of {self.name} are available")
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
        """Name of the layer whose neurons produce the logits, such as `blocks.0`."""
        return f"blocks.{len(self.model.blocks) - 1}"

    @property
    def grid(self) -> ActivationCache:
        """All activations at the last position over all inputs, in float64, by hook name; they are computed once.

        See `modinterp.activations.activations` for names and shapes.
        """
        return self.run.activations()

    def activation(self, name: str) -> Tensor:
        """Return the activation at one hook, at the last position over all inputs, `[*grid, ...]`.

        Raises:
            NoSuchPart: the network has no such hook.
        """
        if name not in self.grid.cache_dict:
            raise NoSuchPart(f"{self.name} has no {name}")
        return self.grid[name]

    @property
    def logits(self) -> Float[Tensor, "*grid output"]:
        """Logits at the last position on all inputs, `[*grid, output]`."""
        return self.activation("logits")

    @property
    def classes(self) -> int:
        """Number of classes of the answer; if the task asks several questions, of the first answer."""
        return self.task.output_sizes[0]

    @property
    def operation(self) -> str:
        """The operation of the task, such as `a + b`, without the modulus."""
        return self.task.name.partition(" mod")[0]

    @cached_property
    def all_logits(self) -> Float[Tensor, "input output"]:
        """Logits of the network on all inputs, in the task's order, in float64."""
        return self.grid["logits"].flatten(0, -2)

    @cached_property
    def all_answers(self) -> Int[Tensor, "input question"]:
        """The right answer to every input, in the task's order; -1 for an input without an answer."""
        return self.task.labels()

    def _by_question(self) -> Iterator[tuple[Float[Tensor, "input output"], Int[Tensor, " input"]]]:
        """Yield, for each question about an input, the logits of its answers and the right answers."""
        sizes = list(self.task.output_sizes)
        logits = self.all_logits.split(sizes, dim=-1) if len(sizes) > 1 else (self.all_logits,)
        return zip(logits, self.all_answers.T, strict=True)

    @cached_property
    def _each(self) -> tuple[Each, ...]:
        """For each question, the answer to every input, whether it is right, and its loss."""
        return tuple(
            Each.of((logits[some] for some in row_blocks(logits.shape)), right) for logits, right in self._by_question()
        )

    def _score_of(self, rows: Int[Tensor, " row"] | None = None) -> Score:
        """Accuracy and loss of the unchanged network, over given inputs that have an answer; mean over questions."""
        rows = torch.arange(len(self.all_answers)) if rows is None else rows
        answered = [rows[right[rows] >= 0].to(self.all_logits.device) for right in self.all_answers.T]
        scores = [each.score(some) for each, some in zip(self._each, answered, strict=True)]
        return Score(fmean(x.accuracy for x in scores), fmean(x.loss for x in scores))

    def _of_answered(self, of_each: Iterable[Tensor]) -> Tensor:
        """Values of all inputs that have an answer, one question after another, from the values for each question."""
        has_answer = (self.all_answers >= 0).T.to(self.all_logits.device)
        return torch.cat([values[some] for values, some in zip(of_each, has_answer, strict=True)])

    @property
    def given(self) -> Int[Tensor, " input"]:
        """The network's answer to every input, in the task's order; of several questions, to the first question."""
        return self._each[0].given

    @cached_property
    def own_score(self) -> Score:
        """Accuracy and loss of the unchanged network, over all inputs with an answer; mean over the questions."""
        return self._score_of()

    @cached_property
    def accuracy(self) -> float:
        """Share of all inputs that the network answers correctly; the mean over the task's questions."""
        return self.own_score.accuracy

    @property
    def chance_loss(self) -> float:
        """Loss when all answers are equally probable; the mean over the task's questions. [nats]"""
        return fmean(map(log, self.task.output_sizes))

    @cached_property
    def own_test_score(self) -> Score:
        """Accuracy and loss on the held-out inputs.

        Raises:
            NotRecorded: the network is a user's checkpoint, whose training inputs are unknown.
        """
        return self._score_of(self.split.test)

    @cached_property
    def own_train_score(self) -> Score:
        """Accuracy and loss on the training inputs.

        Raises:
            NotRecorded: the network is a user's checkpoint, whose training inputs are unknown.
        """
        return self._score_of(self.split.train)

    @cached_property
    def is_right(self) -> Bool[Tensor, " input"]:
        """True for each input that the network answers correctly; several questions follow one another."""
        return self._of_answered(each.right for each in self._each)

    @cached_property
    def losses_of_right_and_wrong(self) -> tuple[float, float]:
        """Mean loss over the right answers, and over the wrong answers; NaN without such answers. [nats]"""
        losses = self._of_answered(each.loss for each in self._each)
        return float(losses[self.is_right].mean()), float(losses[~self.is_right].mean())

    @cached_property
    def sureness_where_wrong(self) -> float:
        """Mean probability of the network's own answers, where these are wrong; NaN if all are right."""
        wrong = (
            logits[(right >= 0).to(logits.device) & ~each.right].softmax(dim=-1).amax(dim=-1)
            for each, (logits, right) in zip(self._each, self._by_question(), strict=True)
        )
        return float(torch.cat(list(wrong)).mean())

    @cached_property
    def accuracy_of_operations(self) -> dict[str, float]:
        """Map each operation mod p, a key of `OPERATIONS`, to the share of pairs answered with the operation's result.

        The map of shares is empty for a task that is not an operation mod p.
        """
        if not isinstance(self.task, ModularArithmetic):
            return {}
        answers = {op: ModularArithmetic(self.task.p, op).labels()[:, 0] for op in OPERATIONS}
        given = self.given.cpu()
        return {op: float((given == right)[right >= 0].double().mean()) for op, right in answers.items()}

    @cached_property
    def labels(self) -> Int[Tensor, "input output"]:
        """The right answers to every input, with one column for each question of the task."""
        return self.task.labels()

    @cached_property
    def grokking(self) -> phases.Grokking:
        """The epochs at which the run memorised and grokked. [epochs]

        Raises:
            NotRecorded: the network is an external checkpoint, whose training is unknown.
        """
        if not len(self.run.history):
            raise NotRecorded(f"the training settings of {self.name} are not known")
        return phases.grokking(self.run.history, self.p)

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {self.run!r}"
