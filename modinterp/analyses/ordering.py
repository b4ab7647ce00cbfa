"""How a network that is read at CLS finds the largest of several numbers, and how an idealised one would.

Source: "Circuit engineering", the max transformer.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.lines import Lines
from modinterp.analyses.lookups import Reading
from modinterp.analyses.shown import shown


def gaps(numbers: Int[Tensor, "input n"]) -> Int[Tensor, " input"]:
    """The largest number less the next largest; 0 where the largest stands twice, and of a single number itself.

    >>> gaps(torch.tensor([[4, 9, 3], [5, 5, 1]])).tolist()
    [5, 0]
    """
    ordered = numbers.sort(dim=1).values
    return ordered[:, -1] - ordered[:, -2] if ordered.shape[1] > 1 else ordered[:, -1]


def by_gap(values: Tensor, gap: Int[Tensor, " input"], edges: tuple[int, ...]) -> pd.DataFrame:
    """Means over inputs whose gap lies from one edge up to the next, the last one open.

    Args:
        values: one number an input, such as whether the answer is right.
    """
    rows = []
    for low, high in zip(edges, (*edges[1:], None), strict=True):
        own = values[(gap >= low) & (gap < high if high is not None else True)].double()
        rows.append((low, len(own), float(own.mean()) if len(own) else float("nan")))
    return pd.DataFrame(rows, columns=["gap", "inputs", "mean"])


def mass_on(pattern: Float[Tensor, "input head pos"], chosen: Bool[Tensor, "input n"]) -> Float[Tensor, "input head"]:
    """Attention to the chosen ones of the first n positions together."""
    return (pattern[:, :, : chosen.shape[1]] * chosen[:, None]).sum(dim=2)


@shown
@dataclass(frozen=True, eq=False)
class Exclusive:
    """Attention to the largest number, wherever it stands.

    Attributes:
        mass: mean over inputs, by head.
        first: share of inputs in which the most attended position holds the largest number, by head.
    """

    mass: Float[Tensor, " head"]
    first: Float[Tensor, " head"]


def attention_to_largest(pattern: Float[Tensor, "input head pos"], numbers: Int[Tensor, "input n"]) -> Exclusive:
    """How far every head attends to the largest number alone; positions behind the numbers count as others."""
    largest = numbers == numbers.amax(dim=1, keepdim=True)
    best = pattern.argmax(dim=2)
    held = torch.cat([largest, largest.new_zeros(len(numbers), pattern.shape[2] - numbers.shape[1])], dim=1)
    return Exclusive(mass_on(pattern, largest).mean(dim=0), held.gather(1, best).double().mean(dim=0))


def scored_by_lines(reading: Reading, fitted: Lines, n: int) -> Reading:
    """The reading with the scores of all numbers at the first `n` positions on their lines; other scores stay.

    As CLS has one query, that is what keys on their lines come to.

    Args:
        fitted: one line a head.
    """
    scores, limit = reading.scores.clone(), reading.head.W_U.shape[1]
    scores[:n, :limit] = fitted.at(limit)
    return reading.scored_by(scores)


def perfect_copy(
    pattern: Float[Tensor, "input head pos"], numbers: Int[Tensor, "input n"], limit: int
) -> Float[Tensor, "input output"]:
    """Every number's attention, averaged over heads: the logits of a circuit that copies what it attends to.

    >>> perfect_copy(torch.tensor([[[0.25, 0.75, 0.0]]]), torch.tensor([[1, 3]]), limit=4).tolist()
    [[0.0, 0.25, 0.0, 0.75]]
    """
    mass = pattern[:, :, : numbers.shape[1]].mean(dim=1)
    return torch.zeros(len(numbers), limit, dtype=mass.dtype).scatter_add(1, numbers, mass)
