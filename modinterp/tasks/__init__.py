"""What is to be learned: inputs, labels, splits."""

from modinterp.tasks.modular import (
    ModularArithmetic,
    addition,
    multiplication,
    quadratic_form,
    subtraction,
)
from modinterp.tasks.task import Split, Task

__all__ = [
    "ModularArithmetic",
    "Split",
    "Task",
    "addition",
    "multiplication",
    "quadratic_form",
    "subtraction",
]
