"""Find when each output of a multi-task network is memorised, and when it generalises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.meanings import Holds
from modinterp.analyses.printing import printable
from modinterp.analyses.training.phases import LEARNED, Table, Time, first_epoch


@printable
@dataclass(frozen=True)
class LearningTimes:
    """Epochs at which the accuracy of each output of a multi-task network first reached 0.99; NaN for never.

    Attributes:
        outputs: names of the outputs, such as `mod_2`.
        memorised: first epoch with an accuracy of at least 0.99 on the training inputs, by output.
        generalised: first epoch with an accuracy of at least 0.99 on the held-out inputs, by output.
    """

    outputs: tuple[str, ...]
    memorised: tuple[float, ...]
    generalised: tuple[float, ...]

    def delayed_count(self, delay: float = 500) -> int:
        """Return the number of outputs that generalised at least `delay` epochs after they were memorised."""
        return sum(late - early >= delay for early, late in zip(self.memorised, self.generalised, strict=True))

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each output, with its two epochs."""
        return pd.DataFrame({"output": self.outputs, "memorised": self.memorised, "generalised": self.generalised})


@checked
def output_curves(history: pd.DataFrame, outputs: Sequence[str], column: str) -> Float[Tensor, "epoch output"]:
    """Return the loss or accuracy of every output of a multi-task network over training.

    Args:
        history: table with columns such as `test_accuracy_mod_2`, one row for each logged epoch.
        outputs: names of the outputs, such as `mod_2`.
        column: `train_accuracy`, `test_accuracy`, `train_loss` [nats] or `test_loss` [nats].
    Raises:
        ValueError: the history has no column for one of the outputs.
    """
    columns = [f"{column}_{name}" for name in outputs]
    Holds(tuple(columns)).check("history", history)
    return torch.tensor(history[columns].to_numpy(), dtype=torch.float64)


@checked
def learning_times(history: Table, outputs: Sequence[str]) -> LearningTimes:
    """Return the epochs at which each output of a multi-task network was memorised and generalised, from its history.

    Args:
        history: table with columns such as `test_accuracy_mod_2`, one row for each logged epoch.
        outputs: names of the outputs, such as `mod_2`.
    Raises:
        ValueError: the history has no column for one of the outputs.
    Source: Syrkis & Søgaard 2024, figure 5 (definition D15, output by output).
    """
    needed = tuple(f"{split}_accuracy_{name}" for split in ("train", "test") for name in outputs)
    Holds(needed).check("history", history)
    memorised, generalised = (
        tuple(first_epoch(history["epoch"], history[f"{split}_accuracy_{name}"] >= LEARNED) for name in outputs)
        for split in ("train", "test")
    )
    return LearningTimes(tuple(outputs), memorised, generalised)


@checked
def infinite_if_never(times: Sequence[Time]) -> list[float]:
    """Replace NaN by infinity in times, so that a task that is never learned ranks later than all others.

    >>> infinite_if_never([64.0, float("nan")])
    [64.0, inf]
    """
    return [math.inf if time != time else time for time in times]


@checked
def inversions(times: Sequence[Time]) -> int:
    """Return the number of pairs in the wrong order, which equals the number of neighbour swaps that sorting needs.

    >>> inversions([1, 3, 2, 4]), inversions([2, 1, 0])
    (1, 3)
    """
    return sum(earlier > later for i, earlier in enumerate(times) for later in times[i + 1 :])


@checked
def spread(times: Sequence[Time]) -> float:
    """Interquartile range of the decimal logarithm of times. [decades]

    The spread is infinite if the upper quartile is infinite, and NaN without times; times below 1 count as 1.

    >>> spread([100, 1000, 1000, 1000, 10000])
    0.0
    """
    logs = [math.log10(max(time, 1)) for time in times]
    if not logs:
        return math.nan
    low, high = (_quantile(sorted(logs), q) for q in (0.25, 0.75))
    return high - low if low < math.inf else math.nan


def _quantile(ordered: Sequence[float], q: float) -> float:
    """Return a linearly interpolated quantile of ascending numbers; infinite if the upper neighbour is infinite."""
    place = q * (len(ordered) - 1)
    below = math.floor(place)
    if place == below or ordered[below + 1] == math.inf:
        return ordered[math.ceil(place)]
    return ordered[below] + (place - below) * (ordered[below + 1] - ordered[below])
