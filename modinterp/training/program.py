"""Runs of one shape as one program: all weights in one tensor `[run, weight]`, one step for all of them.

There is one definition of a run's loss. A program takes the runs in turn, with the faster products, which suits large
networks on a CPU; or it maps over them (`torch.func.vmap`), which suits small ones and a GPU, where the step is
captured as a graph too; or it has torch compile the mapped step. A run gets the same numbers in all ways, up to
rounding, and in each whoever its neighbours are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from math import prod
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils._pytree import tree_map

from modinterp.models import Config, Drop, Weights, no_dropout, read_logits
from modinterp.models.affine import affine, fast_affine
from modinterp.training.batches import Batch, batches_of, stacked
from modinterp.training.loss import Heads, losses, mean_loss, right
from modinterp.training.noise import kept, mixed
from modinterp.training.optimiser import Moments, Optimiser
from modinterp.training.recipe import RunSpec

Row = dict[str, int | float]


class Way(Enum):
    """How a program takes a step for several runs."""

    IN_TURN = "in turn"
    MAPPED = "mapped"
    COMPILED = "mapped and compiled"


_WARM_UP = 3


def flat(weights: Weights, config: Config) -> Float[Tensor, " weight"]:
    """All weights of a network in one row, in the order of the config."""
    return torch.cat([weights[name].flatten() for name in config.shapes()])


def named(row: Float[Tensor, " weight"], config: Config) -> Weights:
    """The weights in a row by name, as views of it."""
    shapes = config.shapes()
    parts = row.split([prod(shape) for shape in shapes.values()])
    return {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}


class Program:
    """The weights and moments of some runs, and what moves them on.

    Attributes:
        weights: `[run, weight]`.
        epoch: steps done, the same for all.
    """

    def __init__(
        self,
        specs: Sequence[RunSpec],
        weights: Float[Tensor, "run weight"],
        moments: Moments,
        epoch: int,
        device: torch.device,
        way: Way,
    ):
        mapped = way is not Way.IN_TURN
        self.spec, self.device, self.mapped, self.epoch = specs[0], device, mapped, epoch
        self.weights = weights.to(device, copy=True)
        self.optimiser = Optimiser([s.recipe for s in specs], moments, weights.shape[1], device)
        self._batches = batches_of(specs, device, pad=mapped)
        self._seeds = mixed(torch.tensor([s.seed for s in specs], device=device))
        self._settings = {
            "dropout": torch.tensor([s.recipe.dropout for s in specs], device=device),
            "residual_dropout": torch.tensor([s.recipe.residual_dropout for s in specs], device=device),
            "loss_weights": torch.tensor([s.task.loss_weights for s in specs], dtype=torch.float64, device=device),
        }
        self._dropping = {name for name in ("dropout", "residual_dropout") if self._settings[name].any()}
        self._heads = Heads.of(specs[0].task.heads, device)
        self._affine = affine if mapped else fast_affine
        self._epoch = torch.tensor(epoch, device=device)
        self._held_out = self._joined([b.held_out for b in self._batches])
        self._batch = self._joined([b.at(epoch) for b in self._batches])
        self._gradients = torch.compile(self._each, dynamic=False) if way is Way.COMPILED else self._each
        self._graph: torch.cuda.CUDAGraph | None = None
        self._until_captured = _WARM_UP

    def _joined(self, batches: list[Batch]) -> Batch | list[Batch]:
        return stacked(batches) if self.mapped else batches

    def advance(self, steps: int) -> None:
        """Train for so many steps."""
        for _ in range(steps):
            if self.spec.recipe.batches != "full":
                self._see(self._joined([b.at(self.epoch) for b in self._batches]))
            if self.mapped and self.device.type == "cuda":
                self._captured_step()
            else:
                self._step()
            self.epoch += 1

    def _see(self, batch: Batch | list[Batch]) -> None:
        """Take the next batch; where runs are mapped over, into the same tensors, which a captured step reads."""
        if isinstance(batch, Batch) and isinstance(self._batch, Batch):
            tree_map(lambda old, new: old.copy_(new), self._batch.index, batch.index)
            self._batch.labels.copy_(batch.labels)
        else:
            self._batch = batch

    def _step(self) -> None:
        keys = mixed(self._seeds + self._epoch)
        gradients = self._gradients(self._gradient, self._batch, keys, self._settings)
        self.optimiser.step(self.weights, gradients, self._epoch)
        self._epoch += 1

    def _captured_step(self) -> None:
        """The step as a CUDA graph, captured after a few that were taken one operation at a time."""
        if self._until_captured:
            self._until_captured -= 1
            here, aside = torch.cuda.current_stream(self.device), torch.cuda.Stream(self.device)
            aside.wait_stream(here)
            with torch.cuda.stream(aside):
                self._step()
            here.wait_stream(aside)
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph, stream=torch.cuda.Stream(self.device)):
                self._step()
        self._graph.replay()

    def _each(self, function: Callable[..., Any], batch: Batch | list[Batch], *settings: Any) -> Any:
        """The function of every run's row of weights, batch and settings; results stacked along `run`."""
        if isinstance(batch, Batch):
            return torch.func.vmap(function)(self.weights, batch.index, batch.labels, *settings)
        results = [
            function(row, run.index, run.labels, *tree_map(lambda x, i=i: x[i], settings))
            for i, (row, run) in enumerate(zip(self.weights, batch, strict=True))
        ]
        return tree_map(lambda *each: torch.stack(each), *results)

    def _gradient(self, row: Tensor, *batch_and_settings: Any) -> Float[Tensor, " weight"]:
        """Of one run's loss."""
        if self.mapped:
            return torch.func.grad(self._loss)(row, *batch_and_settings)
        leaf = row.detach().requires_grad_()
        return torch.autograd.grad(self._loss(leaf, *batch_and_settings), leaf)[0]

    def _loss(
        self, row: Tensor, index: dict[str, Tensor], labels: Tensor, key: Tensor, settings: dict[str, Tensor]
    ) -> Float[Tensor, ""]:
        """Of one run on one batch, with dropout."""
        spec = self.spec
        weights, drop = named(row, spec.model), self._dropout(key, settings) if self._dropping else no_dropout
        logits = read_logits(spec.model, weights, index, spec.task.n_read, drop, self._affine)
        each = losses(logits, labels, self._heads, getattr(torch, spec.recipe.loss_dtype))
        return mean_loss(each.sum(dim=0), (labels >= 0).sum(dim=0), settings["loss_weights"])

    def _dropout(self, key: Int[Tensor, ""], settings: dict[str, Tensor]) -> Drop:
        """Neurons are dropped for each input, places in the residual stream for all inputs at once."""

        def drop(place: str, layer: int, x: Tensor) -> Tensor:
            name, rows, stream = ("dropout", x.shape[0], 0) if place == "neurons" else ("residual_dropout", 1, 4)
            if name not in self._dropping:
                return x
            keep = kept(key + (8 * layer + stream), rows, x.shape[-1], settings[name])
            return x * (keep / (1 - settings[name]))

        return drop

    @torch.no_grad()
    def rows(self) -> list[Row]:
        """Losses, accuracies and size of every run as it is now, without dropout, in float64: rows of history."""
        seen = self._joined([b.seen(self.epoch) for b in self._batches])
        parts = {"train": self._each(self._answers, seen), "test": self._each(self._answers, self._held_out)}
        squares = self.weights.double().square().sum(dim=1)
        rows: list[Row] = []
        for run, weights in enumerate(self._settings["loss_weights"]):
            row: dict[str, Tensor] = {}
            for part, sums in parts.items():
                row[f"{part}_loss"] = mean_loss(sums["loss"][run], sums["asked"][run], weights)
            for part, sums in parts.items():
                row[f"{part}_accuracy"] = sums["right"][run].sum() / sums["asked"][run].sum()
            row["sum_of_squared_weights"] = squares[run]
            for part, sums in parts.items():
                for kind, column in (("loss", "loss"), ("accuracy", "right")):
                    for answer, name in enumerate(self.spec.task.output_names):
                        row[f"{part}_{kind}_{name}"] = sums[column][run, answer] / sums["asked"][run, answer]
            values = torch.stack([x.double() for x in row.values()]).tolist()
            rows.append({"epoch": self.epoch} | {k: _rounded(v) for k, v in zip(row, values, strict=True)})
        return rows

    def _answers(self, row: Tensor, index: dict[str, Tensor], labels: Tensor) -> dict[str, Tensor]:
        """Of one run on a batch, for every answer: the sum of its losses, how often it was right and asked for."""
        task, model = self.spec.task, self.spec.model
        logits = read_logits(model, named(row, model), index, task.n_read, affine=self._affine)
        each = {
            "loss": losses(logits, labels, self._heads),
            "right": right(logits, labels, self._heads),
            "asked": labels >= 0,
        }
        return {name: x.sum(dim=0) for name, x in each.items()}


def _rounded(x: float) -> float:
    """To the nine significant digits that a history keeps."""
    return float(f"{x:.9g}")
