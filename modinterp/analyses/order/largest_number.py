"""Analyse networks that find the largest number at CLS: gaps, attention to it, and the idealised circuit.

Source: "Circuit engineering", the max transformer.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.order.lookups import QueryPosition
from modinterp.analyses.printing import printable
from modinterp.analyses.statistics.lines import Lines


@checked
def gaps(numbers: Int[Tensor, "input n"]) -> Int[Tensor, " input"]:
    """Return the gap of each input: its largest number minus the second largest, 0 if the largest occurs twice.

    The gap of a single number is the number itself.

    >>> gaps(torch.tensor([[4, 9, 3], [5, 5, 1]])).tolist()
    [5, 0]
    """
    ordered = numbers.sort(dim=1).values
    return ordered[:, -1] - ordered[:, -2] if ordered.shape[1] > 1 else ordered[:, -1]


@checked
def gap_means(
    values: Float[Tensor, " input"] | Bool[Tensor, " input"], gap: Int[Tensor, " input"], edges: tuple[int, ...]
) -> pd.DataFrame:
    """Return means of a quantity over inputs by their gap, with one row for each interval of gaps.

    Args:
        values: one number for each input, such as 1 for a correct answer and 0 for a wrong one.
        gap: gap of each input, from `gaps`.
        edges: lower ends of the intervals, ascending; the last interval has no upper end.
    Returns:
        table with the columns gap (lower end), inputs (their number) and mean (NaN without inputs).
    """
    rows = []
    for low, high in zip(edges, (*edges[1:], None), strict=True):
        own = values[(gap >= low) & (gap < high if high is not None else True)].double()
        rows.append((low, len(own), float(own.mean()) if len(own) else float("nan")))
    return pd.DataFrame(rows, columns=["gap", "inputs", "mean"])


@checked
def mass_on(pattern: Float[Tensor, "input head pos"], mask: Bool[Tensor, "input n"]) -> Float[Tensor, "input head"]:
    """Return the total attention of each head to some of the first n positions, in [0, 1].

    Args:
        pattern: attention pattern of one query position.
        mask: True for the positions that count, among the first n positions.
    """
    return (pattern[:, :, : mask.shape[1]] * mask[:, None]).sum(dim=2)


@printable
@dataclass(frozen=True, eq=False)
class LargestAttention:
    """Attention of each head to the largest number, at any position.

    Attributes:
        mass: mean attention to the largest number over inputs, by head, in [0, 1].
        first: share of inputs in which the most attended position holds the largest number, by head, in [0, 1].
    """

    mass: Float[Tensor, " head"]
    first: Float[Tensor, " head"]


@checked
def attention_to_largest(pattern: Float[Tensor, "input head pos"], numbers: Int[Tensor, "input n"]) -> LargestAttention:
    """Measure how far each head attends only to the largest number; positions after the numbers count as other
    positions.

    Args:
        pattern: attention pattern of one query position.
        numbers: the tokens at the first n positions.
    """
    largest = numbers == numbers.amax(dim=1, keepdim=True)
    best = pattern.argmax(dim=2)
    mask = torch.cat([largest, largest.new_zeros(len(numbers), pattern.shape[2] - numbers.shape[1])], dim=1)
    return LargestAttention(mass_on(pattern, largest).mean(dim=0), mask.gather(1, best).double().mean(dim=0))


@checked
def with_line_scores(query: QueryPosition, score_lines: Lines, n: int) -> QueryPosition:
    """Return a copy of a query position in which the scores at the first `n` positions are linear functions of the
    number.

    CLS has only one query, so keys that are linear in the number give scores that are linear in it. All other scores
    stay unchanged.

    Args:
        score_lines: line of the scores as a function of the number, one for each head.
    """
    scores, limit = query.scores.clone(), query.logit_map.W_U.shape[1]
    scores[:n, :limit] = score_lines.at(limit)
    return query.with_scores(scores)


@checked
def perfect_copy(
    pattern: Float[Tensor, "input head pos"], numbers: Int[Tensor, "input n"], limit: int
) -> Float[Tensor, "input output"]:
    """Return the logits of a circuit that copies attended numbers: the attention to each number, averaged over heads.

    Args:
        pattern: attention pattern of one query position.
        numbers: the tokens at the first n positions.
        limit: upper bound of the numbers, not included.

    >>> perfect_copy(torch.tensor([[[0.25, 0.75, 0.0]]]), torch.tensor([[1, 3]]), limit=4).tolist()
    [[0.0, 0.25, 0.0, 0.75]]
    """
    mass = pattern[:, :, : numbers.shape[1]].mean(dim=1)
    return torch.zeros(len(numbers), limit, dtype=mass.dtype).scatter_add(1, numbers, mass)
