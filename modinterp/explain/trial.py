"""Hold the score of a network under alternative assumptions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from modinterp.measurements.score import Score


@dataclass(frozen=True)
class Trial:
    """The score of a network under alternative assumptions.

    Attributes:
        assumption: the alternative assumptions as arguments, such as `attention_rate=0, causal=False`.
        score: accuracy and loss over the inputs of the trial.
        margin_variation: standard deviation of the margins of right answers over the inputs of the trial, divided by
            the mean margin.
        inputs: number of inputs of the trial.
        alignment: cosine between the weights and the negative gradient of the loss, which is large after training. The
            alignment is NaN if the network is mostly wrong under the first assumptions, since then accuracy alone
            decides.
        said: the arguments of `assumption` by name.
    """

    assumption: str
    score: Score
    margin_variation: float
    inputs: int
    alignment: float = math.nan
    said: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def typed(self) -> str:
        """The arguments as the user would type them in a call."""
        return ", ".join(f"{name}={value!r}" for name, value in self.said.items())


def in_words(said: Mapping[str, Any]) -> str:
    """Write arguments as text, such as `attention_rate=0, causal=False`."""
    quoted = ("act_fn", "joined", "inputs")
    return ", ".join(f"{name}={value!r}" if name in quoted or " " in str(value) else f"{name}={value}"
                     for name, value in said.items())  # fmt: skip
