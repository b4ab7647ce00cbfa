"""Scores of a network under other assumptions than those made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from modinterp.measurements.score import Score


@dataclass(frozen=True)
class Trial:
    """The score of a network under other assumptions than those made.

    Attributes:
        assumption: the arguments of these assumptions, such as `attention_rate=0, causal=False`.
        score: accuracy and loss over the inputs of the trial.
        margin_variation: standard deviation of the margins of right answers over these inputs, divided by their mean.
        inputs: how many these are.
        alignment: how nearly the weights lie along the gradient of the loss, as training leaves them. NaN if the
            network is mostly wrong under the first assumptions, since its answers alone decide then.
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
        """The arguments as they are typed in a call."""
        return ", ".join(f"{name}={value!r}" for name, value in self.said.items())


def in_words(said: Mapping[str, Any]) -> str:
    """Arguments in words, such as `attention_rate=0, causal=False`."""
    quoted = ("act_fn", "joined", "inputs")
    return ", ".join(f"{name}={value!r}" if name in quoted or " " in str(value) else f"{name}={value}"
                     for name, value in said.items())  # fmt: skip
