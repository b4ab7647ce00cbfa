"""All that a training needs: the task, the shape of the network, how to train it, and a seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from modinterp.models import Config, MLPConfig, TransformerConfig
from modinterp.tasks import ModularArithmetic, Task

LOSS_DTYPES = ("float64", "float32", "float16")
KINDS: dict[str, type] = {kind.__name__: kind for kind in (ModularArithmetic, TransformerConfig, MLPConfig)}


@dataclass(frozen=True)
class Recipe:
    """How a network is trained. The defaults are those of Nanda et al. 2023, section 3 and its released code.

    Attributes:
        epochs: optimiser steps on the full batch.
        fraction: share of the pairs to train on, in (0, 1].
        lr, weight_decay, betas, eps: of AdamW, decay decoupled and on every weight.
        warmup: steps over which the learning rate rises linearly from 0.
        dropout: share of the neurons that a step sets to 0 (the others are scaled up), drawn anew each step.
        loss_dtype: in which the log-softmax of the loss is taken.
        log_every, snapshot_every: epochs between two rows of history, and between two snapshots.
    """

    epochs: int = 40_000
    fraction: float = 0.3
    lr: float = 1e-3
    weight_decay: float = 1.0
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-8
    warmup: int = 10
    dropout: float = 0.0
    loss_dtype: str = "float64"
    log_every: int = 20
    snapshot_every: int = 100

    def __post_init__(self) -> None:
        for name in ("epochs", "warmup", "log_every", "snapshot_every"):
            if not isinstance(getattr(self, name), int) or isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be a whole number, got {getattr(self, name)!r}")
        for name in ("lr", "weight_decay", "eps"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be a number of at least 0, got {getattr(self, name)!r}")
        if not 0 < self.fraction <= 1:
            raise ValueError(f"fraction of the data to train on must lie in (0, 1], got {self.fraction}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must lie in [0, 1), got {self.dropout}")
        if self.loss_dtype not in LOSS_DTYPES:
            raise ValueError(f"loss_dtype must be one of {', '.join(LOSS_DTYPES)}, got {self.loss_dtype!r}")
        if self.epochs < 0:
            raise ValueError(f"epochs must not be negative, got {self.epochs}")
        for name in ("log_every", "snapshot_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")


@dataclass(frozen=True)
class RunSpec:
    """One training, fully determined: the same spec gives the same network on the same machine."""

    task: Task
    model: Config
    recipe: Recipe
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("d_vocab", "d_vocab_out", "n_ctx"):
            needed, have = getattr(self.task, name), getattr(self.model, name)
            if needed != have:
                raise ValueError(f"{self.task.name} needs {name} {needed}, but the network has {have}")

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, strings and dicts, from which `from_json` makes an equal spec."""
        return {
            "task": {"kind": type(self.task).__name__} | asdict(self.task),
            "model": {"kind": type(self.model).__name__} | asdict(self.model),
            "recipe": asdict(self.recipe),
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RunSpec:
        """The spec that `to_json` described.

        Raises:
            ValueError: an unknown kind, or fields that do not belong to it.
        """
        try:
            recipe = dict(data["recipe"])
            recipe["betas"] = tuple(recipe["betas"])
            return cls(_made(data["task"]), _made(data["model"]), _checked(Recipe, recipe), int(data["seed"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not the description of a run: {error}") from error


def _made(data: dict[str, Any]) -> Any:
    kind = KINDS.get(data["kind"])
    if kind is None:
        raise ValueError(f"unknown kind {data['kind']!r}; known are {', '.join(KINDS)}")
    return _checked(kind, {name: value for name, value in data.items() if name != "kind"})


def _checked(kind: type, values: dict[str, Any]) -> Any:
    unknown = set(values) - {field.name for field in fields(kind)}
    if unknown:
        raise ValueError(f"{kind.__name__} has no field {', '.join(sorted(unknown))}")
    return kind(**values)
