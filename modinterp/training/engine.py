"""How networks learn: one generator of the states of many runs, which whoever runs it may store, show or stop.

`training_states(specs)` yields the state of each run at every epoch of a snapshot or of spectra, the first and the last
included. Feeding states back in continues from there with the same numbers to the last bit, on the same machine and
number of threads. The engine writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, prod
from typing import Any

import torch
from torch import Tensor

from modinterp.models import Weights, initial_weights
from modinterp.training.cpu import prepare_cpu
from modinterp.training.program import Program, Row, Way, flat, named
from modinterp.training.recipe import RunSpec

_DIVERGED = ", not finite"
SMALL = 3 * 10**8  # weights x inputs x positions


@dataclass(frozen=True)
class TrainingState:
    """A training between two steps.

    Attributes:
        epoch: steps done so far.
        weights: after those steps.
        moments: the optimiser's, one row for all weights; empty before the first step.
        history: one row per logged epoch, losses in nats; the last row may be older than `epoch`.
        ended: why the training ended here; empty while it goes on.
    """

    epoch: int
    weights: Weights
    moments: dict[str, Tensor] = field(default_factory=dict)
    history: tuple[Row, ...] = ()
    ended: str = ""


def resolved_device(device: str | torch.device = "auto") -> torch.device:
    """The device asked for; `auto` means the GPU where there is one.

    Raises:
        ValueError: a device that torch does not know, or that this machine lacks.
    """
    if str(device) == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        why = str(error).splitlines()[0]
        why = "cpu, cuda and auto are known" if why.startswith("Expected one of") else why  # one of twenty
        raise ValueError(f"device {str(device)!r} is not to be had here: {why}") from error
    if chosen.type == "mps":
        raise ValueError("device 'mps' has no float64, in which losses and analyses are taken; cpu and cuda do")
    return chosen


def shape_of(spec: RunSpec) -> tuple[Any, ...]:
    """What runs must share to train as one program. All else may differ: seed, split, fraction of the data, labels,
    learning rate, weight decay, dropout rates, penalties, gradient filter, number of epochs."""
    task, recipe = spec.task, spec.recipe
    batches = (recipe.batches, recipe.batch_size, recipe.loss_dtype)
    events = (recipe.log_every, recipe.snapshot_every, recipe.spectra_every)
    return spec.model, task.heads, task.n_read, task.output_names, *batches, *events


def suited_way(spec: RunSpec, device: torch.device) -> Way:
    """The faster way to take a step for runs of a shape, without waiting for a compiler.

    On a CPU that is to map over small networks, where Python's own time counts, and to take large ones in turn, where
    the products do; the border was measured with `benchmarks/engine.py`. What may differ within a group has no
    say, so that a group goes on in the way it began.
    """
    rows = spec.recipe.batch_size or len(spec.task.inputs())
    products = rows * spec.task.n_ctx * sum(prod(shape) for shape in spec.model.shapes().values())
    return Way.IN_TURN if device.type == "cpu" and products > SMALL else Way.MAPPED


class _Together:
    """The runs that are still training: their program, and what each has been so far."""

    def __init__(self, specs: Sequence[RunSpec], states: Sequence[TrainingState], device: torch.device, way: Way):
        self.specs, self.device, self.way = specs, device, way
        self.histories = [[row for row in state.history if row["epoch"] < state.epoch] for state in states]
        self.last_good = list(states)
        self.active = list(range(len(specs)))
        weights = torch.stack([flat(state.weights, spec.model) for spec, state in zip(specs, states, strict=True)])
        names = {name for state in states for name in state.moments}
        zeros = torch.zeros(weights.shape[1])
        moments = {name: torch.stack([state.moments.get(name, zeros) for state in states]) for name in names}
        self.program = self._program(weights, moments, states[0].epoch)

    def _program(self, weights: Tensor, moments: dict[str, Tensor], epoch: int) -> Program:
        return Program([self.specs[i] for i in self.active], weights, moments, epoch, self.device, self.way)

    def frozen(self, place: int) -> TrainingState:
        """A copy on the CPU, which later steps do not change, of the run in this place of the program."""
        run, program = self.active[place], self.program
        moments = {name: m[place].detach().cpu().clone() for name, m in program.optimiser.moments.items()}
        row = program.weights[place].detach().cpu().clone()
        weights = {name: w.clone() for name, w in named(row, self.specs[run].model).items()}
        state = TrainingState(program.epoch, weights, moments, tuple(self.histories[run]))
        self.last_good[run] = state
        return state

    def leave(self, places: set[int]) -> None:
        """Go on without the runs in these places."""
        stay = [place for place in range(len(self.active)) if place not in places]
        self.active = [self.active[place] for place in stay]
        if self.active and places:
            old = self.program
            moments = {name: m[stay] for name, m in old.optimiser.moments.items()}
            self.program = self._program(old.weights[stay], moments, old.epoch)


def training_states(
    specs: Sequence[RunSpec],
    states: Sequence[TrainingState] | None = None,
    device: str | torch.device = "auto",
    on_rows: Callable[[int, list[tuple[int, Row]]], object] | None = None,
    way: Way | None = None,
) -> Iterator[tuple[int, TrainingState]]:
    """Train runs of one shape as one program, yielding (number of the run, its state).

    Every run yields at each epoch of a snapshot or of spectra, and a last time with `ended` set: when its epochs are
    over, when its test loss has been as low as asked for, or, with its last good state, when a number is no longer
    finite. The others go on.

    Args:
        states: where to go on from, all at one epoch; None for the beginning.
        device: `cpu`, `cuda`, ... or `auto`.
        on_rows: called at every logged epoch with it and every new (number of the run, row of history); what it
            answers, where it is true, asks for the states of that epoch as well.
        way: to take a step; None for the one of `suited_way`.
    Raises:
        ValueError: runs of different shapes, states of different epochs, a device that is not there.
    """
    if len({shape_of(spec) for spec in specs}) != 1:
        raise ValueError("only runs of one shape can train as one program")
    where = resolved_device(device)
    if where.type == "cpu":
        prepare_cpu()
    states = states or [TrainingState(0, initial_weights(spec.model, spec.seed)) for spec in specs]
    if len({state.epoch for state in states}) != 1:
        raise ValueError("only runs that stand at the same epoch can go on as one program")
    recipe = specs[0].recipe
    group = _Together(specs, states, where, way or suited_way(specs[0], where))
    while group.active:
        epoch = group.program.epoch
        last = [epoch == specs[run].recipe.epochs for run in group.active]
        wanted = epoch % recipe.snapshot_every == 0 or (recipe.spectra_every and epoch % recipe.spectra_every == 0)
        gone = set()
        if wanted or any(last) or epoch % recipe.log_every == 0:
            rows = list(zip(group.active, group.program.rows(), strict=True))
            if on_rows is not None and on_rows(epoch, rows):
                wanted = True
            for place, (run, row) in enumerate(rows):
                group.histories[run].append(row)
                ended = _ended(specs[run], group.histories[run])
                if diverged(ended):
                    yield run, replace(group.last_good[run], ended=ended)
                elif ended or wanted:
                    yield run, replace(group.frozen(place), ended=ended)
                if ended:
                    gone.add(place)
        group.leave(gone)
        if group.active:
            ends = [specs[run].recipe.epochs for run in group.active]
            # spectra are taken at epochs that are logged
            events = [epoch - epoch % every + every for every in (recipe.log_every, recipe.snapshot_every)]
            group.program.advance(min(*events, *ends) - epoch)


def _ended(spec: RunSpec, history: list[Row]) -> str:
    """Why a run ends with the last row of its history; empty if it goes on."""
    recipe, row = spec.recipe, history[-1]
    epoch = int(row["epoch"])
    for name in ("train_loss", "sum_of_squared_weights"):
        if not isfinite(row[name]):
            return f"{name} is {row[name]} at epoch {epoch:,}{_DIVERGED}"
    if recipe.stop_at:
        low = next((int(r["epoch"]) for r in history if r["test_loss"] <= recipe.stop_at), None)
        if low is not None and epoch >= low + recipe.settle:
            return f"test loss {recipe.stop_at:g} or less since epoch {low:,}"
    return over(epoch) if epoch == recipe.epochs else ""


def diverged(ended: str) -> bool:
    """Whether that is why a run ended."""
    return ended.endswith(_DIVERGED)


def over(epoch: int) -> str:
    """What is said of a run that has had all its epochs."""
    return f"all {epoch:,} epochs are over"
