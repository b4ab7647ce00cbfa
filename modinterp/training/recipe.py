"""All that a training needs: the task, the shape of the network, how to train it, and a seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from modinterp.models import Config, MLPConfig, TransformerConfig
from modinterp.tasks import (
    DigitAddition,
    ModularArithmetic,
    Ordering,
    PrimeRemainders,
    RepeatedSubsequence,
    SkipTrigram,
    Split,
    Task,
)
from modinterp.tasks.task import SHUFFLES

KINDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        ModularArithmetic, PrimeRemainders, Ordering, DigitAddition, RepeatedSubsequence, SkipTrigram,
        TransformerConfig, MLPConfig,
    )
}  # fmt: skip
CHOICES = {
    "shuffle": tuple(SHUFFLES),
    "batches": ("full", "fixed", "shuffled", "fresh"),
    "loss_dtype": ("float64", "float32", "float16"),
    "l1_of": ("sum", "mean"),
    "grokfast_start": ("zero", "gradient"),
}
MOST_SPECTRA = 1000


@dataclass(frozen=True)
class Recipe:
    """How a network is trained. The defaults are those of Nanda et al. 2023, section 3 and its released code.

    Attributes:
        epochs: optimiser steps; on the full batch a step is an epoch.
        fraction: share of the task's inputs to train on, in (0, 1]; the others are held out.
        shuffle: by which the inputs are put in order before they are split; see `modinterp.tasks.task.SHUFFLES`.
        batches: `full`, everything at every step; `fixed`, cut once and taken in turn; `shuffled`, drawn anew from what
            is trained on; `fresh`, drawn anew from the task itself.
        batch_size: inputs in a batch, where it is not full.
        lr, weight_decay, betas, eps: of AdamW, decay decoupled and on every weight.
        warmup: steps over which the learning rate rises linearly from 0.
        l1, l1_of: times the `sum` or the `mean` of all weights' absolute values, added to the loss.
        dropout: share of the neurons that a step sets to 0 (the others are scaled up), drawn for every input.
        residual_dropout: the same in the residual stream after each sub-layer, drawn once for all inputs.
        grokfast, grokfast_alpha, grokfast_start: the gradient's moving average (of memory alpha, begun at `zero` or at
            the first `gradient`), so many times, is added to the gradient.
        loss_dtype: in which the log-softmax of the loss is taken.
        stop_at, settle: where `stop_at` is not 0, training ends `settle` epochs after a test loss that low.
        log_every, snapshot_every: epochs between two rows of history, and between two snapshots.
        spectra_every: epochs, a multiple of log_every, between two entries of the log of activations
            (`modinterp.activations.spectra`); 0 for none. It is no part of how a network is trained: recipes that
            differ in it alone are equal.
    """

    epochs: int = 40_000
    fraction: float = 0.3
    shuffle: str = "python"
    batches: str = "full"
    batch_size: int = 0
    lr: float = 1e-3
    weight_decay: float = 1.0
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-8
    warmup: int = 10
    l1: float = 0.0
    l1_of: str = "sum"
    dropout: float = 0.0
    residual_dropout: float = 0.0
    grokfast: float = 0.0
    grokfast_alpha: float = 0.98
    grokfast_start: str = "zero"
    loss_dtype: str = "float64"
    stop_at: float = 0.0
    settle: int = 0
    log_every: int = 20
    snapshot_every: int = 100
    spectra_every: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "warmup", "settle", "log_every", "snapshot_every", "spectra_every"):
            value, least = getattr(self, name), 1 if name in ("log_every", "snapshot_every") else 0
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
        for name in ("lr", "weight_decay", "eps", "l1", "grokfast", "stop_at"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be a number of at least 0, got {getattr(self, name)!r}")
        if not 0 < self.fraction <= 1:
            raise ValueError(f"fraction of the data to train on must lie in (0, 1], got {self.fraction}")
        for name in ("dropout", "residual_dropout", "grokfast_alpha"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must lie in [0, 1), got {getattr(self, name)}")
        if not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"betas must lie in [0, 1), got {self.betas}")
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        if (self.batches == "full") != (self.batch_size == 0):
            raise ValueError(f"{self.batches} batches do not go with a batch_size of {self.batch_size}")
        if self.spectra_every % self.log_every:
            raise ValueError(
                f"spectra_every must be a multiple of log_every, got {self.spectra_every}, {self.log_every}"
            )
        if self.epochs > self.spectra_every * MOST_SPECTRA > 0:
            raise ValueError(
                f"spectra are logged at most {MOST_SPECTRA:,} times; "
                f"{self.epochs:,} epochs with one every {self.spectra_every:,} would be more"
            )


@dataclass(frozen=True)
class RunSpec:
    """One training, fully determined: the same spec gives the same network on the same machine.

    Attributes:
        seed: of the split, of the initial weights, and of all that is drawn in training.
        ours: fields that the source of a run leaves open and that are our choice, such as `recipe.epochs`; all others
            are stated in it or in its released code.
    """

    task: Task
    model: Config
    recipe: Recipe
    seed: int = 0
    ours: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        self.model.check(self.task)
        if self.recipe.spectra_every and len(self.task.grid or ()) != 2:
            raise ValueError(f"spectra are those of pairs (a, b), which the inputs of {self.task.name} are not")

    @property
    def split(self) -> Split:
        """Rows of the task's inputs that are trained on, and those held out."""
        return self.task.split(self.recipe.fraction, self.seed, self.recipe.shuffle)

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, strings and dicts, from which `from_json` makes an equal spec."""
        return {
            "task": {"kind": type(self.task).__name__} | asdict(self.task),
            "model": {"kind": type(self.model).__name__} | asdict(self.model),
            "recipe": asdict(self.recipe),
            "seed": self.seed,
            "ours": list(self.ours),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RunSpec:
        """The spec that `to_json` described.

        Raises:
            ValueError: an unknown kind, or fields that do not belong to it.
        """
        try:
            parts = _made(data["task"]), _made(data["model"]), _checked(Recipe, data["recipe"])
            return cls(*parts, int(data["seed"]), tuple(data.get("ours", ())))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not the description of a run: {error}") from error


def _made(data: dict[str, Any]) -> Any:
    kind = KINDS.get(data["kind"])
    if kind is None:
        raise ValueError(f"unknown kind {data['kind']!r}; known are {', '.join(KINDS)}")
    return _checked(kind, {name: value for name, value in data.items() if name != "kind"})


def _checked(kind: type, values: dict[str, Any]) -> Any:
    unknown = set(values) - {known.name for known in fields(kind)}
    if unknown:
        raise ValueError(f"{kind.__name__} has no field {', '.join(sorted(unknown))}")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
