"""How it learns: recipes, the loss, and the engine that turns a spec into states."""

from modinterp.training.cpu import prepare_cpu
from modinterp.training.engine import (
    TrainingState,
    diverged,
    over,
    resolved_device,
    shape_of,
    training_states,
)
from modinterp.training.loss import accuracy, cross_entropy
from modinterp.training.program import Row, Way
from modinterp.training.recipe import Recipe, RunSpec

__all__ = [
    "Recipe",
    "Row",
    "RunSpec",
    "TrainingState",
    "Way",
    "accuracy",
    "cross_entropy",
    "diverged",
    "over",
    "prepare_cpu",
    "resolved_device",
    "shape_of",
    "training_states",
]
