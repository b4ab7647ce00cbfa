"""What is to be learned: inputs, labels, splits."""

from modinterp.tasks.modular import ModularArithmetic, addition, multiplication, quadratic_form, subtraction
from modinterp.tasks.ordering import Ordering
from modinterp.tasks.primes import PrimeRemainders, primes_below
from modinterp.tasks.sequences import DigitAddition, RepeatedSubsequence, SkipTrigram
from modinterp.tasks.task import Examples, Split, Task

__all__ = [
    "DigitAddition",
    "Examples",
    "ModularArithmetic",
    "Ordering",
    "PrimeRemainders",
    "RepeatedSubsequence",
    "SkipTrigram",
    "Split",
    "Task",
    "addition",
    "multiplication",
    "primes_below",
    "quadratic_form",
    "subtraction",
]
