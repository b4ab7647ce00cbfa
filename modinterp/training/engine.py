"""Train many runs with one generator of training states, which the caller may store, show or stop.

`training_states(specs)` yields the state of each run at every epoch of a snapshot or of spectra, including the first
and the last epoch. If states are passed to `training_states`, training continues from these states. On the same machine
with the same number of threads, a continued training gives the same numbers to the last bit. The training engine writes
nothing to disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, prod
from typing import Any

import torch
from torch import Tensor

from modinterp.models import Weights
from modinterp.training.cpu import prepare_cpu
from modinterp.training.outcome import Outcome, OutcomeKind
from modinterp.training.program import ExecutionMode, Program, Row, flatten_weights, unflatten_weights
from modinterp.training.recipe import Recipe
from modinterp.training.spec import RunSpec

MOST_VMAPPED = 3 * 10**8  # weights x inputs x positions, above which each run is computed by itself


@dataclass(frozen=True)
class TrainingState:
    """The state of a training between two steps.

    Attributes:
        epoch: number of training steps so far.
        weights: the weights after `epoch` steps, by name.
        moments: the optimiser's moments by name, each with one row for all weights; empty before the first step.
        history: one row per logged epoch, losses in nats; the last row may be older than `epoch`.
        ended: how the training ended; None while it continues.
    """

    epoch: int
    weights: Weights
    moments: dict[str, Tensor] = field(default_factory=dict)
    history: tuple[Row, ...] = ()
    ended: Outcome | None = None


def resolved_device(device: str | torch.device = "auto") -> torch.device:
    """Return the torch device of a name; `auto` means the GPU if one exists.

    Raises:
        ValueError: torch does not know the device, or this machine does not have it.
    """
    if str(device) == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        if chosen.type == "meta":
            raise ValueError("the device 'meta' holds no numbers; use cpu, cuda or auto")
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        why = str(error).splitlines()[0]
        why = "use cpu, cuda or auto" if why.startswith("Expected one of") else why  # one of twenty
        raise ValueError(f"device {str(device)!r} is not available here: {why}") from error
    if chosen.type == "mps":
        raise ValueError("the device 'mps' has no float64, which losses and analyses need; use cpu or cuda")
    return chosen


def shape_of(spec: RunSpec) -> tuple[Any, ...]:
    """Return the settings that runs must share to train as one computation.

    All other settings may differ: seed, split, fraction of the data, labels, learning rate, weight decay, dropout
    rates, penalties, gradient filter, number of epochs.
    """
    task, recipe = spec.task, spec.recipe
    batches = (recipe.batches, recipe.batch_size, recipe.loss_dtype, recipe.optimiser)
    events = (recipe.log_every, recipe.snapshot_every, recipe.spectra_every)
    return spec.model, task.output_sizes, task.n_read, task.output_names, *batches, *events


def faster_mode(spec: RunSpec) -> ExecutionMode:
    """Return the faster execution mode for runs with the shape of a spec, without compilation.

    Small networks are computed together by `vmap`, because Python's own time dominates. Large networks are computed one
    by one, because matrix products dominate. The limit between small and large networks was measured with
    `benchmarks/engine.py` on a CPU. On a GPU, a few large networks are also faster one by one. On a GPU, 64 large
    networks lose a fifth of their speed, but each result then does not depend on the other runs. The execution mode
    depends only on properties that all runs of a group share. A group therefore always continues in the execution mode
    in which it began.
    """
    rows = spec.recipe.batch_size or len(spec.task.inputs())
    if getattr(spec.model, "normalization_type", None) is not None:  # whose lookups take their time mapped over
        return ExecutionMode.SEQUENTIAL
    products = rows * spec.task.n_ctx * sum(prod(shape) for shape in spec.model.shapes().values())
    return ExecutionMode.SEQUENTIAL if products > MOST_VMAPPED else ExecutionMode.VMAPPED


class RunGroup:
    """The runs that train as one computation: the runs that are still training, and the history of each run.

    Attributes:
        active: indices of the runs that are still training, in the order of the rows of the program's tensors.
        histories: the history of every run, as a list of rows.
        last_good: for every run, the last state with finite numbers.
    """

    def __init__(
        self, specs: Sequence[RunSpec], states: Sequence[TrainingState], device: torch.device, mode: ExecutionMode
    ):
        self.specs, self.device, self.mode = specs, device, mode
        self.histories = [[row for row in state.history if row["epoch"] < state.epoch] for state in states]
        self.last_good = list(states)
        self.active = list(range(len(specs)))
        rows = [flatten_weights(state.weights, spec.model) for spec, state in zip(specs, states, strict=True)]
        weights = torch.stack(rows)
        names = {name for state in states for name in state.moments}
        zeros = torch.zeros(weights.shape[1])
        moments = {name: torch.stack([state.moments.get(name, zeros) for state in states]) for name in names}
        self.program = self._program(weights, moments, states[0].epoch)

    def _program(self, weights: Tensor, moments: dict[str, Tensor], epoch: int) -> Program:
        return Program([self.specs[i] for i in self.active], weights, moments, epoch, self.device, self.mode)

    @property
    def runs_ahead(self) -> bool:
        """True if steps begin before earlier states are yielded, so that a GPU computes while the caller writes."""
        return self.device.type == "cuda"

    def state_at(self, place: int) -> TrainingState:
        """Copy the state of one run to the CPU, so that later steps do not change it."""
        run, program = self.active[place], self.program
        moments = {name: m[place].detach().cpu().clone() for name, m in program.optimiser.moments.items()}
        row = program.weights[place].detach().cpu().clone()
        weights = {name: w.clone() for name, w in unflatten_weights(row, self.specs[run].model).items()}
        state = TrainingState(program.epoch, weights, moments, tuple(self.histories[run]))
        self.last_good[run] = state
        return state

    def drop(self, places: set[int]) -> None:
        """Remove some runs, given by their rows, from the computation."""
        rest = [place for place in range(len(self.active)) if place not in places]
        self.active = [self.active[place] for place in rest]
        if self.active and places:
            old = self.program
            moments = {name: m[rest] for name, m in old.optimiser.moments.items()}
            self.program = self._program(old.weights[rest], moments, old.epoch)

    def advance(self) -> None:
        """Train until the next epoch at which something is logged or stored, or at which a run ends.

        Activation spectra are computed at logged epochs.
        """
        epoch, recipe = self.program.epoch, self.specs[0].recipe
        ends = [self.specs[run].recipe.epochs for run in self.active]
        events = [epoch - epoch % every + every for every in (recipe.log_every, recipe.snapshot_every)]
        self.program.advance(min(*events, *ends) - epoch)

    def last_states(self, rows: Sequence[tuple[int, Row]], all_states: bool) -> Iterator[tuple[int, TrainingState]]:
        """Add the rows of an epoch to the histories, and yield the states of the runs that end at this epoch.

        Args:
            all_states: True to yield the states of the other runs, too.
        """
        for place, (run, row) in enumerate(rows):
            self.histories[run].append(row)
            ended = _outcome(self.specs[run], self.histories[run])
            if ended is not None and not ended.is_finite:
                yield run, replace(self.last_good[run], ended=ended)
            elif ended is not None or all_states:
                yield run, replace(self.state_at(place), ended=ended)


def training_states(
    specs: Sequence[RunSpec],
    states: Sequence[TrainingState] | None = None,
    device: str | torch.device = "auto",
    on_rows: Callable[[int, list[tuple[int, Row]]], object] | None = None,
    mode: ExecutionMode | None = None,
) -> Iterator[tuple[int, TrainingState]]:
    """Train runs of one shape as one computation; yield pairs (index of the run, its state).

    The state of a run is yielded at each epoch of a snapshot or of spectra, and a last time with `ended` set. A run
    ends after its last epoch, or when its test loss is as low as its recipe demands. If a loss or weight is no longer
    finite, the run ends with its last finite state. Other runs continue after one run ends.

    Args:
        states: the states from which to continue, all at the same epoch; None to begin new trainings.
        device: `cpu`, `cuda`, ... or `auto`.
        on_rows: function called at every logged epoch with the epoch and the new rows, as pairs (index of the run, row
            of history). If `on_rows` returns True, the states of that epoch are yielded as well.
        mode: execution mode, which decides how the gradients of several runs are computed; None for `faster_mode`.
    Raises:
        ValueError: runs have different shapes, states have different epochs, or the device does not exist.
    """
    group = _group(specs, states, device, mode)
    recipe = specs[0].recipe
    while group.active:
        epoch, given = group.program.epoch, []
        due = _is_due(epoch, recipe)
        is_last = any(epoch == specs[run].recipe.epochs for run in group.active)
        if due or is_last or epoch % recipe.log_every == 0:
            places = {run: place for place, run in enumerate(group.active)}
            rows = list(zip(group.active, group.program.rows(), strict=True))
            wanted = on_rows is not None and bool(on_rows(epoch, rows))
            given = list(group.last_states(rows, due or wanted))
            if not group.runs_ahead:
                yield from given
            group.drop({places[run] for run, state in given if state.ended is not None})
        if group.active:
            group.advance()
        if group.runs_ahead:
            yield from given


def _group(
    specs: Sequence[RunSpec],
    states: Sequence[TrainingState] | None,
    device: str | torch.device,
    mode: ExecutionMode | None,
) -> RunGroup:
    """Return the group of runs at their start, or at the states from which they continue."""
    if len({shape_of(spec) for spec in specs}) != 1:
        raise ValueError("only runs of one shape can train as one program")
    where = resolved_device(device)
    if where.type == "cpu":
        prepare_cpu()
    states = states or [TrainingState(0, spec.initial_weights()) for spec in specs]
    if len({state.epoch for state in states}) != 1:
        raise ValueError("only runs at the same epoch can continue as one program")
    return RunGroup(specs, states, where, mode or faster_mode(specs[0]))


def _is_due(epoch: int, recipe: Recipe) -> bool:
    """Return True if the states of an epoch are yielded, because a snapshot or spectra are due."""
    return epoch % recipe.snapshot_every == 0 or (recipe.spectra_every > 0 and epoch % recipe.spectra_every == 0)


def _outcome(spec: RunSpec, history: Sequence[Row]) -> Outcome | None:
    """Return how a run ends, from the last row of its history; None if the run continues."""
    recipe, row = spec.recipe, history[-1]
    epoch = int(row["epoch"])
    for name in ("train_loss", "sum_of_squared_weights"):
        if not isfinite(row[name]):
            return Outcome(OutcomeKind.NOT_FINITE, epoch, f"{name} is {row[name]}")
    if recipe.stop_at:
        low = next((int(r["epoch"]) for r in history if r["test_loss"] <= recipe.stop_at), None)
        if low is not None and epoch >= low + recipe.settle:
            return Outcome(OutcomeKind.TEST_LOSS_REACHED, low, f"{recipe.stop_at:g}")
    return Outcome(OutcomeKind.EPOCHS_OVER, epoch) if epoch == recipe.epochs else None
