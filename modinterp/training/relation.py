"""How two trainings are related: one recipe, and another seed, another rounding, or another order of the draws."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from functools import lru_cache
from typing import Any

from modinterp.training.spec import RunSpec

_DRAW = ("init", "unlabelled_outputs")
_LENGTH = ("epochs", "stop_at", "settle", "log_every", "snapshot_every", "spectra_every")


class Relation(StrEnum):
    """What tells two networks of one recipe apart; the value is how it is told."""

    SAME = "itself"
    ROUNDING = "rounding"
    SEED = "seed"
    DRAW = "draw order"


@lru_cache(maxsize=4096)  # every run is compared with every other
def recipe_of(spec: RunSpec) -> tuple[Any, ...]:
    """What networks of one recipe share.

    All but the seed, the nudge, the way in which the initial weights are drawn (with the outputs that no input asks
    for), how long the training goes on, and what of it is logged.
    """
    return spec.task, type(spec.model), _fields_but(_DRAW, spec.model), _fields_but(_LENGTH, spec.recipe)


def _fields_but(left_out: tuple[str, ...], instance: Any) -> tuple[Any, ...]:
    """The values of a dataclass' fields, but for those of these names."""
    return tuple(getattr(instance, f.name) for f in fields(instance) if f.name not in left_out)


def relation(spec: RunSpec, other: RunSpec) -> Relation | None:
    """How another training is related to this one; None where it follows another recipe."""
    if recipe_of(spec) != recipe_of(other):
        return None
    if spec.model != other.model:
        return Relation.DRAW
    if spec.seed != other.seed:
        return Relation.SEED
    return Relation.SAME if spec.nudge == other.nudge else Relation.ROUNDING
