"""How a network learns: one generator of states, which whoever runs it may store, show or stop.

`training_states(spec)` yields the state at every snapshot epoch, the first and the last included. Feeding a state
back in continues from there with the same numbers to the last bit, on the same machine and number of threads.
The engine writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from modinterp.models import Weights, initial_weights, last_position_logits
from modinterp.training.cpu import prepare_cpu
from modinterp.training.loss import accuracy, cross_entropy
from modinterp.training.recipe import Recipe, RunSpec

Row = dict[str, int | float]


@dataclass(frozen=True)
class TrainingState:
    """A training between two steps.

    Attributes:
        epoch: steps done so far.
        weights: after those steps.
        moments: AdamW's running means, `exp_avg/NAME` and `exp_avg_sq/NAME`; empty before the first step.
        history: one row per logged epoch, losses in nats; the last row may be older than `epoch`.
    """

    epoch: int
    weights: Weights
    moments: Weights = field(default_factory=dict)
    history: tuple[Row, ...] = ()


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
        raise ValueError(f"device {str(device)!r} is not to be had here: {str(error).splitlines()[0]}") from error
    return chosen


def dropout_on_neurons(recipe: Recipe, generator: torch.Generator) -> Callable[[Tensor], Tensor] | None:
    """Zeroes each neuron of each input with probability `recipe.dropout`, scaling the rest up; None without dropout."""
    if recipe.dropout == 0:
        return None

    def dropped(post: Tensor) -> Tensor:
        kept = torch.rand(post.shape, generator=generator, device=post.device) >= recipe.dropout
        return post * kept / (1 - recipe.dropout)

    return dropped


def _optimizer(state: TrainingState, weights: Weights, recipe: Recipe) -> torch.optim.AdamW:
    optimizer = torch.optim.AdamW(weights.values(), lr=recipe.lr, betas=recipe.betas, eps=recipe.eps,
                                  weight_decay=recipe.weight_decay, fused=True)  # fmt: skip
    if state.moments:
        for name, weight in weights.items():
            optimizer.state[weight] = {
                "step": torch.tensor(float(state.epoch), device=weight.device),
                **{m: state.moments[f"{m}/{name}"].to(weight.device, copy=True) for m in ("exp_avg", "exp_avg_sq")},
            }
    return optimizer


def _frozen(epoch: int, weights: Weights, optimizer: torch.optim.AdamW, history: list[Row]) -> TrainingState:
    """A copy on the CPU that later steps do not change."""
    moments = {
        f"{moment}/{name}": optimizer.state[weight][moment].detach().cpu().clone()
        for name, weight in weights.items()
        for moment in ("exp_avg", "exp_avg_sq")
        if weight in optimizer.state
    }
    copies = {name: weight.detach().cpu().clone() for name, weight in weights.items()}
    return TrainingState(epoch, copies, moments, tuple(history))


def training_states(
    spec: RunSpec,
    state: TrainingState | None = None,
    device: str | torch.device = "auto",
    on_epoch: Callable[[int, Row], None] | None = None,
) -> Iterator[TrainingState]:
    """Train, yielding the state at every snapshot epoch from `state` (or the start) to the last epoch.

    Args:
        state: where to go on from; None for the beginning.
        device: `cpu`, `cuda`, ... or `auto`.
        on_epoch: called after every step with the epoch and the newest row of history; for a progress bar.
    Raises:
        ValueError: a device that is not there.
        FloatingPointError: the loss is no longer finite.
    """
    recipe, where = spec.recipe, resolved_device(device)
    if where.type == "cpu":
        prepare_cpu()
    state = state or TrainingState(0, initial_weights(spec.model, spec.seed))
    inputs, labels = spec.task.inputs().to(where), spec.task.labels()[:, 0].to(where)
    train, test = (rows.to(where) for rows in spec.task.split(recipe.fraction, spec.seed))
    generator = torch.Generator(where)
    logits_train = last_position_logits(spec.model, inputs[train], dropout_on_neurons(recipe, generator))
    logits_test = last_position_logits(spec.model, inputs[test])
    logits_clean = last_position_logits(spec.model, inputs[train]) if recipe.dropout else None
    loss_dtype = getattr(torch, recipe.loss_dtype)

    # in the order of the config, whatever the order in a file: sums over weights depend on it in the last bit
    weights = {name: state.weights[name].to(where, copy=True).requires_grad_() for name in spec.model.shapes()}
    optimizer = _optimizer(state, weights, recipe)
    history = [row for row in state.history if row["epoch"] < state.epoch]

    @torch.no_grad()
    def row(epoch: int, logits: Tensor) -> Row:
        """Losses and accuracies of the whole network, without dropout, in float64."""
        shown = logits.detach() if logits_clean is None else logits_clean(weights)
        held_out = logits_test(weights)
        return {
            "epoch": epoch,
            "train_loss": cross_entropy(shown, labels[train]).item(),
            "test_loss": cross_entropy(held_out, labels[test]).item() if len(test) else float("nan"),
            "train_accuracy": accuracy(shown, labels[train]),
            "test_accuracy": accuracy(held_out, labels[test]) if len(test) else float("nan"),
            "sum_of_squared_weights": sum(w.double().square().sum().item() for w in weights.values()),
        }

    for epoch in range(state.epoch, recipe.epochs + 1):
        generator.manual_seed(spec.seed * 1_000_003 + epoch)
        logits = logits_train(weights)
        loss = cross_entropy(logits, labels[train], loss_dtype)
        if not torch.isfinite(loss):
            raise FloatingPointError(f"the training loss is {loss.item()} at epoch {epoch}")
        if epoch % recipe.log_every == 0 or epoch == recipe.epochs:
            history.append(row(epoch, logits))
        if epoch % recipe.snapshot_every == 0 or epoch == recipe.epochs:
            yield _frozen(epoch, weights, optimizer, history)
        if epoch < recipe.epochs:
            for group in optimizer.param_groups:
                group["lr"] = recipe.lr * min(1.0, epoch / recipe.warmup) if recipe.warmup else recipe.lr
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if on_epoch is not None:
            on_epoch(epoch, history[-1] if history else {})
