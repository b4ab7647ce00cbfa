"""Determine how two trainings of the same recipe differ: in seed, rounding, or initialisation order."""

from __future__ import annotations

from enum import StrEnum

from modinterp.training.spec import RunSpec


class Relation(StrEnum):
    """The relation between two networks of one recipe; its value is the name of the relation in text."""

    SAME = "itself"
    ROUNDING = "rounding"
    SEED = "seed"
    DRAW = "draw order"


def relation(spec: RunSpec, other: RunSpec) -> Relation | None:
    """Return how another training differs from a training; None if their recipes differ."""
    if spec.shared_recipe != other.shared_recipe:
        return None
    if spec.model != other.model:
        return Relation.DRAW
    if spec.seed != other.seed:
        return Relation.SEED
    return Relation.SAME if spec.nudge == other.nudge else Relation.ROUNDING


def replicate(spec: RunSpec) -> tuple[object, ...]:
    """Return the settings that numerical replicates share: recipe, seed, and initialisation order.

    Trainings with equal keys differ only by rounding, so they count as one independent sample of the recipe.
    """
    return spec.shared_recipe, spec.model, spec.seed
