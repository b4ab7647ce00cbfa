"""Define specs, which hold everything that determines a training: task, network, recipe and seed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

import torch

from modinterp.arguments import SEED, Limits, check_fields
from modinterp.models import Config, Weights, initial_weights
from modinterp.models.base_config import CONFIGS
from modinterp.models.initial import is_bias
from modinterp.tasks import Split, Task
from modinterp.tasks.description import (
    TaskNotImportable,
    describes,
    description,
    from_fields,
    kind_of,
    task_from_description,
)
from modinterp.tasks.task import REGISTERED
from modinterp.training.recipe import Recipe

_DRAW = ("init", "unlabelled_outputs")
_LENGTH = ("epochs", "stop_at", "settle", "log_every", "snapshot_every", "spectra_every")
MOST_ULPS = 1000  # a nudge is a rounding error, not another start
# Fields that records of the first versions do not have; their defaults are what those versions did.
LATER_FIELDS = {
    "ModularArithmetic": ("vocabularies",),
    "RandomLabels": ("mirrored",),
    "TransformerConfig": ("attention_rate", "causal", "unlabelled_outputs", "normalization_type"),
    "MLPConfig": ("init", "joined", "mlp_biases", "unembed_bias", "one_hot", "init_scale"),
    "Recipe": ("spectra_every", "optimiser", "decay", "lr_end", "lr_stairs", "decay_until"),
    "Ordering": ("asked",),
}
_FIELDS = {"task", "model", "recipe", "seed", "ours", "nudge", "start"}  # of a description
_HOW_TO_RESTORE = (
    "define its class in a module that can be imported, as a frozen dataclass whose fields are numbers, strings, or "
    "tuples of them"
)


@dataclass(frozen=True)
class Nudge:
    """A change of a run's initial weights by rounding only: one matrix moves by units in the last place (float32).

    Attributes:
        weight: name of the matrix, such as `unembed.W_U`.
        ulps: number of units in the last place, away from zero if positive, toward zero if negative. Weights that are
            zero stay zero under a nudge.
    """

    weight: str
    ulps: int

    def __post_init__(self) -> None:
        check_fields(self, ulps=Limits(-MOST_ULPS, MOST_ULPS))
        if self.ulps == 0:
            raise ValueError(f"ulps must be a whole number other than 0, got {self.ulps!r}")

    def moved(self, weights: Weights) -> Weights:
        """Return the weights with the matrix `weight` moved; all other weights are the same tensors."""
        w = weights[self.weight]
        target = w.sign() * torch.inf if self.ulps > 0 else torch.zeros_like(w)
        target = torch.where(w == 0, w, target)
        for _ in range(abs(self.ulps)):
            w = torch.nextafter(w, target)
        return {**weights, self.weight: w}


@dataclass(frozen=True)
class RunSpec:
    """A spec that fully determines a training: the same spec gives the same network on the same machine.

    Attributes:
        seed: seed of the split, the initial weights, and all random numbers of the training.
        unstated: names of fields that the source leaves open and that we chose, such as `recipe.epochs`. The source or
            its released code states all fields that are not in `unstated`.
        nudge: change of the initial weights in their last place, so that runs of one seed differ only by rounding.
        start: name of the published run whose final weights are this run's initial weights; "" to draw weights by the
            seed.
    """

    task: Task
    model: Config
    recipe: Recipe
    seed: int = 0
    unstated: tuple[str, ...] = field(default=(), compare=False)
    nudge: Nudge | None = None
    start: str = ""

    def __post_init__(self) -> None:
        check_fields(self, seed=SEED)
        if self.start and self.nudge is not None:
            raise ValueError("a run that begins with the weights of another run cannot have a nudge")
        self.model.check(self.task)
        if self.recipe.spectra_every and len(self.task.grid or ()) != 2:
            raise ValueError(f"spectra are defined for pairs (a, b), and the inputs of {self.task.name} are not pairs")
        if self.nudge is not None:
            matrices = [name for name in self.model.shapes() if not is_bias(name)]
            if self.nudge.weight not in matrices:
                raise ValueError(
                    f"there is no matrix {self.nudge.weight!r} to nudge; choose one of {', '.join(matrices)}"
                )

    @cached_property  # every run is compared with every other
    def shared_recipe(self) -> tuple[Any, ...]:
        """The settings that all trainings of one recipe share.

        The shared settings are all except the seed, the nudge, the initialisation with its unlabelled outputs, the
        length of the training, and the settings of logging.
        """
        return self.task.of_any_seed(), *self.shape, _fields_but(_LENGTH, self.recipe), self.start

    @property
    def shape(self) -> tuple[Any, ...]:
        """The settings that networks of one shape share: the model without its initialisation."""
        return type(self.model), _fields_but(_DRAW, self.model)

    @property
    def split(self) -> Split:
        """The rows of the task's inputs for training, and the held-out rows."""
        return self.task.split(self.recipe.fraction, self.seed, self.recipe.shuffle)

    def initial_weights(self) -> Weights:
        """Return the initial weights that the seed gives, in float32 on the CPU.

        Raises:
            ValueError: the run starts from another run's weights, which only `modinterp.runs.start` can read.
        """
        if self.start:
            raise ValueError(f"the run begins with the weights of {self.start}, so they do not follow from its seed")
        weights = initial_weights(self.model, self.seed)
        return weights if self.nudge is None else self.nudge.moved(weights)

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers, strings and dicts, from which `from_json` restores the spec."""
        data = {
            "task": description(self.task),
            "model": {"kind": type(self.model).__name__} | asdict(self.model),
            "recipe": asdict(self.recipe),
            "seed": self.seed,
            "ours": list(self.unstated),
        }
        data |= {"start": self.start} if self.start else {}
        return data if self.nudge is None else data | {"nudge": asdict(self.nudge)}

    @classmethod
    def from_json(cls, data: dict[str, Any], task: Task | None = None) -> RunSpec:
        """Restore a spec from the result of `to_json`.

        Args:
            task: task to use if the class of the described task cannot be imported; the given task must have the same
                class name and fields.
        Raises:
            TaskNotImportable: the class of the task cannot be imported, and no matching `task` was given.
            ValueError: the description has an unknown kind of object or an unknown field, or lacks a field that every
                version writes.
        """
        try:
            if unknown := sorted(set(data) - _FIELDS):
                raise ValueError(f"a run has no field {', '.join(unknown)}")
            return cls(
                _task(data["task"], task),
                _model(data["model"]),
                from_fields(Recipe, _whole(Recipe, data["recipe"])),
                data["seed"],
                tuple(data.get("ours", ())),
                from_fields(Nudge, data["nudge"]) if "nudge" in data else None,
                str(data.get("start", "")),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"the data are not the description of a run: {error}") from error

    def check_restorable(self) -> None:
        """Raise ValueError if a run of this spec could be trained and written, but not loaded again."""
        kind = kind_of(type(self.task))
        if kind.startswith("__main__:"):
            raise ValueError(f"a run of the task {kind} could not be loaded by another program; {_HOW_TO_RESTORE}")
        try:
            again = RunSpec.from_json(json.loads(json.dumps(self.to_json())))
        except (TypeError, ValueError) as error:
            reason = f"a run of the task {kind} could not be loaded again: {error}"
            raise ValueError(f"{reason}; {_HOW_TO_RESTORE}") from error
        if again != self:
            raise ValueError(f"a run of the task {kind} would be loaded as one of another task; {_HOW_TO_RESTORE}")


def _fields_but(left_out: tuple[str, ...], instance: Any) -> tuple[Any, ...]:
    """Return the values of a dataclass' fields, except the fields with the given names."""
    return tuple(getattr(instance, f.name) for f in fields(instance) if f.name not in left_out)


def _whole(cls: type, values: dict[str, Any]) -> dict[str, Any]:
    """Check that all required fields of a dataclass exist, and return the fields unchanged.

    Raises:
        ValueError: a field that every version writes is missing, so its default would be a guess.
    """
    written = [known.name for known in fields(cls) if known.name not in LATER_FIELDS.get(cls.__name__, ())]
    if missing := [name for name in written if name not in values]:
        raise ValueError(f"{cls.__name__} lacks the field {', '.join(missing)}")
    return values


def _task(data: dict[str, Any], given: Task | None) -> Task:
    try:
        kind = REGISTERED.get(data["kind"])  # the fields of anybody's own task are their own concern
        return task_from_description(data if kind is None else _whole(kind, data))
    except TaskNotImportable as error:
        if given is not None and describes(data, given):
            return given
        but = f"; {given.name} is another task" if given is not None else ""
        raise TaskNotImportable(
            f"{error}; a task of the same class and fields can be given in its place{but}"
        ) from error


def _model(data: dict[str, Any]) -> Config:
    if data["kind"] not in CONFIGS:
        raise ValueError(f"unknown kind {data['kind']!r}; known are {', '.join(CONFIGS)}")
    config = CONFIGS[data["kind"]]
    return from_fields(config, {name: value for name, value in _whole(config, data).items() if name != "kind"})
