"""Train runs of one shape as one computation (a program): all weights are in one tensor `[run, weight]`, with one step
for all runs.

The loss of a run is defined in one place for all programs. For large networks, a program computes the gradients of each
run separately, with the faster operations. On a CPU, the gradients of the runs are computed one after the other; on a
GPU, on parallel streams. For small networks, a program maps over the runs (`torch.func.vmap`), or has torch compile the
mapped step. On a GPU, the step is captured as a CUDA graph. All execution modes give a run the same numbers, up to
rounding. In one execution mode, a run gets the same bits beside any other runs. Only with `vmap` on a GPU do the bits
depend on the other runs, since matrix products depend on the number of runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from math import prod
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils._pytree import tree_map

from modinterp.models import Config, Drop, Weights, no_dropout, read_logits
from modinterp.models.operations import FAST, MAPPABLE
from modinterp.training.batches import Batch, batches_of, stack_batches, unread_and_read
from modinterp.training.captured import Captured, beside_one_another
from modinterp.training.loss import OutputLayout, correct, fast_losses, losses, mean_loss
from modinterp.training.noise import dropout_mask, splitmix64
from modinterp.training.optimiser import Moments, Optimiser
from modinterp.training.spec import RunSpec

Row = dict[str, int | float]


class ExecutionMode(Enum):
    """The modes in which a program computes the gradients of several runs."""

    SEQUENTIAL = "one by one"
    VMAPPED = "vmapped"
    COMPILED = "vmapped and compiled"


def flatten_weights(weights: Weights, config: Config) -> Float[Tensor, " weight"]:
    """Concatenate all weights of a network into one row, in the order of `config.shapes()`."""
    return torch.cat([weights[name].flatten() for name in config.shapes()])


def unflatten_weights(row: Float[Tensor, " weight"], config: Config) -> Weights:
    """Return the weights by name, as views of the row that `flatten_weights` returned."""
    shapes = config.shapes()
    parts = row.split([prod(shape) for shape in shapes.values()])
    return {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}


class Program:
    """The weights and moments of runs of one shape, and the step that trains all of them.

    Attributes:
        weights: the weights of each run in one row, `[run, weight]`.
        epoch: number of steps so far, the same for all runs.
    """

    def __init__(
        self,
        specs: Sequence[RunSpec],
        weights: Float[Tensor, "run weight"],
        moments: Moments,
        epoch: int,
        device: torch.device,
        mode: ExecutionMode,
    ):
        mapped = mode is not ExecutionMode.SEQUENTIAL
        self.spec, self.mapped, self.epoch = specs[0], mapped, epoch
        _, self._n_read = unread_and_read(specs[0])
        self.weights = weights.to(device, torch.float32, copy=True)  # a shipped snapshot may be in float16
        self.optimiser = Optimiser([s.recipe for s in specs], moments, weights.shape[1], device)
        self._seeds = splitmix64(torch.tensor([s.seed for s in specs], device=device))
        self._settings = {
            "dropout": torch.tensor([s.recipe.dropout for s in specs], device=device),
            "residual_dropout": torch.tensor([s.recipe.residual_dropout for s in specs], device=device),
            "loss_weights": torch.tensor([s.task.loss_weights for s in specs], dtype=torch.float64, device=device),
        }
        self._dropping = {name for name in ("dropout", "residual_dropout") if self._settings[name].any()}
        self._layout = OutputLayout.of(specs[0].task.output_sizes, device)
        self._operations, self._losses = (MAPPABLE, losses) if mapped else (FAST, fast_losses)
        self._batches = batches_of(specs, device, mapped, self._operations)
        self._epoch = torch.tensor(epoch, device=device)
        self._held_out = self._joined([b.held_out for b in self._batches])
        self._batch = self._joined([b.at(epoch) for b in self._batches])
        self._sample = self._joined([b.train_sample(epoch) for b in self._batches])
        self._mapped_each = torch.compile(self._each, dynamic=False) if mode is ExecutionMode.COMPILED else self._each
        captured = device.type == "cuda"
        self._take_step = Captured(self._step, device) if captured else self._step
        self._measure = Captured(self._row_values, device) if captured else self._row_values

    @classmethod
    def at_start(cls, specs: Sequence[RunSpec], device: torch.device, mode: ExecutionMode) -> Program:
        """Return the program of runs of one shape before their first step."""
        rows = torch.stack([flatten_weights(spec.initial_weights(), spec.model) for spec in specs])
        return cls(specs, rows, {}, 0, device, mode)

    def _joined(self, batches: list[Batch]) -> Batch | list[Batch]:
        return stack_batches(batches) if self.mapped else batches

    def advance(self, steps: int) -> None:
        """Train all runs for a number of steps."""
        for _ in range(steps):
            if self.spec.recipe.batches != "full":
                self._batch = _replaced(self._batch, self._joined([b.at(self.epoch) for b in self._batches]))
            self._take_step()
            self.epoch += 1

    def _step(self) -> None:
        keys = splitmix64(self._seeds + self._epoch) if self._dropping else self._seeds
        self.optimiser.step(self.weights, self._gradients(keys), self._epoch)
        self._epoch += 1

    def _gradients(self, keys: Int[Tensor, " run"]) -> Float[Tensor, "run weight"]:
        """Return the gradient of every run's loss with respect to the run's weights.

        In mapped modes, this is the gradient of the sum of all losses, since each run's weights affect only its own
        loss.
        """
        if not self.mapped:
            return self._each(self._gradient, self.weights, self._batch, keys, self._settings)
        leaves = self.weights.detach().requires_grad_()
        each = self._mapped_each(self._loss, leaves, self._batch, keys, self._settings)
        return torch.autograd.grad(each.sum(), leaves)[0]

    def _each(self, function: Callable[..., Any], rows: Tensor, batch: Batch | list[Batch], *settings: Any) -> Any:
        """Apply a function of one run's weights, batch and settings to every run; results have a leading axis `run`."""
        if isinstance(batch, Batch):
            return torch.func.vmap(function)(rows, batch.index, batch.labels, batch.times, *settings)
        calls = [
            partial(function, row, run.index, run.labels, run.times, *tree_map(lambda x, i=i: x[i], settings))
            for i, (row, run) in enumerate(zip(rows, batch, strict=True))
        ]
        return tree_map(lambda *each: torch.stack(each), *beside_one_another(calls, rows.device))

    def _gradient(self, row: Tensor, *batch_and_settings: Any) -> Float[Tensor, " weight"]:
        """Return the gradient of the loss of one run with respect to its weights."""
        leaf = row.detach().requires_grad_()
        return torch.autograd.grad(self._loss(leaf, *batch_and_settings), leaf)[0]

    def _loss(
        self,
        row: Tensor,
        index: dict[str, Tensor],
        labels: Tensor,
        times: Tensor,
        key: Tensor,
        settings: dict[str, Tensor],
    ) -> Float[Tensor, ""]:
        """Return the loss of one run on one batch [nats], with dropout."""
        spec = self.spec
        weights, drop = (
            unflatten_weights(row, spec.model),
            self._dropout(key, settings) if self._dropping else no_dropout,
        )
        logits = read_logits(spec.model, weights, index, self._n_read, drop, self._operations)
        each = self._losses(logits, labels, self._layout, getattr(torch, spec.recipe.loss_dtype)) * times
        return mean_loss(each.sum(dim=0), ((labels >= 0) * times).sum(dim=0), settings["loss_weights"])

    def _dropout(self, key: Int[Tensor, ""], settings: dict[str, Tensor]) -> Drop:
        """Return the dropout function of one run at one step.

        Neurons are dropped separately for each input, and residual dimensions are dropped for all inputs alike.
        """

        def drop(place: str, layer: int, x: Tensor) -> Tensor:
            name, rows, stream = ("dropout", x.shape[0], 0) if place == "neurons" else ("residual_dropout", 1, 4)
            if name not in self._dropping:
                return x
            mask = dropout_mask(key + (8 * layer + stream), rows, x.shape[-1], settings[name])
            return x * (mask / (1 - settings[name]))

        return drop

    def rows(self) -> list[Row]:
        """Return the current row of history of every run: losses [nats] and accuracies without dropout, and squared
        weights.
        """
        if self.spec.recipe.batches == "fresh":
            sample = self._joined([b.train_sample(self.epoch) for b in self._batches])
            self._sample = _replaced(self._sample, sample)
        columns = self._measure()
        values = torch.stack(list(columns.values()), dim=1).tolist()
        return [{"epoch": self.epoch} | dict(zip(columns, map(_rounded, row), strict=True)) for row in values]

    @torch.no_grad()
    def _row_values(self) -> dict[str, Float[Tensor, " run"]]:
        """Return the columns of history at the current weights, each with one value per run, in float64."""
        batches = {"train": self._sample, "test": self._held_out}
        parts = {part: self._each(self._answer_sums, self.weights, batch) for part, batch in batches.items()}
        weights = self._settings["loss_weights"]
        columns = {f"{part}_loss": mean_loss(s["loss"], s["count"], weights) for part, s in parts.items()}
        columns |= {f"{part}_accuracy": s["correct"].sum(dim=1) / s["count"].sum(dim=1) for part, s in parts.items()}
        columns["sum_of_squared_weights"] = self.weights.double().square().sum(dim=1)
        for part, sums in parts.items():
            for kind, summed in (("loss", "loss"), ("accuracy", "correct")):
                means = sums[summed] / sums["count"]
                columns |= {f"{part}_{kind}_{name}": means[:, i] for i, name in enumerate(self.spec.task.output_names)}
        return {name: x.double() for name, x in columns.items()}

    def _answer_sums(self, row: Tensor, index: dict[str, Tensor], labels: Tensor, times: Tensor) -> dict[str, Tensor]:
        """Return, for each answer of one run, sums over a batch: losses, correct answers, and inputs with an answer."""
        model = self.spec.model
        logits = read_logits(model, unflatten_weights(row, model), index, self._n_read, operations=self._operations)
        each = {
            "loss": self._losses(logits, labels, self._layout),
            "correct": correct(logits, labels, self._layout),
            "count": labels >= 0,
        }
        return {name: (x * times).sum(dim=0) for name, x in each.items()}


def _replaced(old: Batch | list[Batch], new: Batch | list[Batch]) -> Batch | list[Batch]:
    """Copy the values of one batch into the tensors of another batch, which a captured step reads."""
    for to, source in zip(*([b] if isinstance(b, Batch) else b for b in (old, new)), strict=True):
        tree_map(lambda x, y: x.copy_(y), to.index, source.index)
        to.labels.copy_(source.labels)
        to.times.copy_(source.times)
    return old


def _rounded(x: float) -> float:
    """Round a number to nine significant digits, the precision of a history."""
    return float(f"{x:.9g}")
