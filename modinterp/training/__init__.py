"""Train networks: recipes, the loss, and the engine that turns a spec into a sequence of training states."""

from modinterp.training.cpu import prepare_cpu
from modinterp.training.engine import TrainingState, faster_mode, resolved_device, shape_of, training_states
from modinterp.training.loss import accuracy, cross_entropy
from modinterp.training.outcome import Outcome, OutcomeKind
from modinterp.training.program import ExecutionMode, Row
from modinterp.training.recipe import Recipe
from modinterp.training.spec import Nudge, RunSpec

__all__ = [
    "ExecutionMode",
    "Nudge",
    "Outcome",
    "OutcomeKind",
    "Recipe",
    "Row",
    "RunSpec",
    "TrainingState",
    "accuracy",
    "cross_entropy",
    "faster_mode",
    "prepare_cpu",
    "resolved_device",
    "shape_of",
    "training_states",
]
