"""How two trainings are related: one recipe, and another seed, another rounding, or another order of the draws."""

from __future__ import annotations

from enum import StrEnum

from modinterp.training.spec import RunSpec


class Relation(StrEnum):
    """The relation between two networks of one recipe; the value is its name in text."""

    SAME = "itself"
    ROUNDING = "rounding"
    SEED = "seed"
    DRAW = "draw order"


def relation(spec: RunSpec, other: RunSpec) -> Relation | None:
    """Return the relation of another training to this one; None where it follows another recipe."""
    if spec.shared_recipe != other.shared_recipe:
        return None
    if spec.model != other.model:
        return Relation.DRAW
    if spec.seed != other.seed:
        return Relation.SEED
    return Relation.SAME if spec.nudge == other.nudge else Relation.ROUNDING


def replicate(spec: RunSpec) -> tuple[object, ...]:
    """The settings that numerical replicates share: recipe, seed, and initialisation order.

    Trainings with equal keys differ by rounding alone, so that they are one independent draw of the recipe.
    """
    return spec.shared_recipe, spec.model, spec.seed
