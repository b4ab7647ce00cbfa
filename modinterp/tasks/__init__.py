"""Define tasks: inputs, labels and splits into training and held-out inputs."""

from modinterp.tasks.cyclic import Cyclic, cyclic
from modinterp.tasks.given import GivenInputs
from modinterp.tasks.group import Group
from modinterp.tasks.lists import ListQuestion
from modinterp.tasks.modular import (
    ModularArithmetic,
    ModularSum,
    RenamedAddition,
    addition,
    division,
    multiplication,
    quadratic_form,
    subtraction,
)
from modinterp.tasks.ordering import Ordering
from modinterp.tasks.primes import PrimeRemainders, primes_below
from modinterp.tasks.random_labels import RandomLabels
from modinterp.tasks.renaming import Renaming
from modinterp.tasks.repeats import FirstUnique, Palindromes
from modinterp.tasks.sequences import DigitAddition, RepeatedSubsequence, SkipTrigram
from modinterp.tasks.streams import ColumnSum, SignOfSum, SortedList, StreamTask
from modinterp.tasks.task import Examples, Split, Task

__all__ = [
    "ColumnSum",
    "Cyclic",
    "DigitAddition",
    "Examples",
    "FirstUnique",
    "GivenInputs",
    "Group",
    "ListQuestion",
    "ModularArithmetic",
    "ModularSum",
    "Ordering",
    "Palindromes",
    "PrimeRemainders",
    "RandomLabels",
    "RenamedAddition",
    "Renaming",
    "RepeatedSubsequence",
    "SignOfSum",
    "SkipTrigram",
    "SortedList",
    "Split",
    "StreamTask",
    "Task",
    "addition",
    "cyclic",
    "division",
    "multiplication",
    "primes_below",
    "quadratic_form",
    "subtraction",
]
