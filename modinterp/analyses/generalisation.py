"""When each of several questions, learned side by side, is memorised and when it generalises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.phases import LEARNED, first_epoch
from modinterp.analyses.shown import shown


@shown
@dataclass(frozen=True)
class LearningTimes:
    """When each question was learned; the first epoch with an accuracy of at least 0.99, NaN for never.

    Attributes:
        outputs: names of the questions.
        memorised: on the inputs trained on. [epochs]
        generalised: on the others. [epochs]
    """

    outputs: tuple[str, ...]
    memorised: tuple[float, ...]
    generalised: tuple[float, ...]

    def delayed(self, least: float = 500) -> int:
        """Questions that generalised so many epochs after they were memorised, or later."""
        return sum(late - early >= least for early, late in zip(self.memorised, self.generalised, strict=True))

    def table(self) -> pd.DataFrame:
        """One row a question."""
        return pd.DataFrame({"output": self.outputs, "memorised": self.memorised, "generalised": self.generalised})


def by_output(history: pd.DataFrame, outputs: Sequence[str], column: str) -> Float[Tensor, "epoch output"]:
    """One measure of every question over training.

    Args:
        history: with columns such as `test_accuracy_mod_2`, one row an epoch that was logged.
        outputs: names of the questions, such as `mod_2`.
        column: `train_accuracy`, `test_accuracy`, `train_loss` or `test_loss`.
    Raises:
        KeyError: the history does not follow every question.
    """
    return torch.tensor(history[[f"{column}_{name}" for name in outputs]].to_numpy(), dtype=torch.float64)


def learning_times(history: pd.DataFrame, outputs: Sequence[str]) -> LearningTimes:
    """Read off a history when each question was learned.

    Raises:
        KeyError: the history does not follow every question.
    Source: Syrkis & Søgaard 2024, figure 5 (definition D15, question by question).
    """
    memorised, generalised = (
        tuple(first_epoch(history["epoch"], history[f"{split}_accuracy_{name}"] >= LEARNED) for name in outputs)
        for split in ("train", "test")
    )
    return LearningTimes(tuple(outputs), memorised, generalised)


def never_last(times: Sequence[float]) -> list[float]:
    """The same with infinity for never (NaN), so that what was not learned comes last.

    >>> never_last([64.0, float("nan")])
    [64.0, inf]
    """
    return [math.inf if time != time else time for time in times]


def inversions(times: Sequence[float]) -> int:
    """Pairs that stand in the wrong order: swaps of neighbours that it takes to sort them.

    >>> inversions([1, 3, 2, 4]), inversions([2, 1, 0])
    (1, 3)
    """
    return sum(earlier > later for i, earlier in enumerate(times) for later in times[i + 1 :])


def spread(times: Sequence[float]) -> float:
    """Interquartile range of the decimal logarithm of times; infinite where a quarter was never reached, NaN for none.

    >>> spread([100, 1000, 1000, 1000, 10000])
    0.0
    """
    logs = [math.log10(max(time, 1)) for time in times]
    if not logs:
        return math.nan
    low, high = (_quantile(sorted(logs), q) for q in (0.25, 0.75))
    return high - low if low < math.inf else math.nan


def _quantile(ordered: Sequence[float], q: float) -> float:
    """Linear between neighbours, and infinite as soon as the upper one is."""
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    if place == below or ordered[below + 1] == math.inf:
        return ordered[math.ceil(place)]
    return ordered[below] + (place - below) * (ordered[below + 1] - ordered[below])
