"""Find the columns of a sum to which each first-layer head attends, and the digit that the head prefers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.measurements import SequenceMeasurements

HIERARCHY = (0, 9, 1, 8, 2, 7, 3, 6, 4, 5)  # the earlier of two digits decides whether there is a carry
RANK = torch.tensor([HIERARCHY.index(digit) for digit in range(10)])
LOOKS = 0.5  # mean attention to both digits of a column


@dataclass(frozen=True)
class Look:
    """A first-layer head that attends to both digits of one column of a sum from one query position.

    Attributes:
        head, position: the head, and the position of its query.
        agreement: share of the inputs with two different digits where the head attends more to the digit that comes
            earlier in the hierarchy.
        weights: mean attention of the head to the first and to the second digit.
        uneven: mean distance from 1/2 of the first digit's share of the attention to both digits, in [0, 0.5].
    """

    head: int
    position: int
    agreement: float
    weights: tuple[float, float]
    uneven: float


def digits_of(m: SequenceMeasurements, column: int) -> tuple[int, int]:
    """Return the positions of the two digits of a column; column 0 holds the most significant digits."""
    return column, m.task.digits + 1 + column


def read_at(m: SequenceMeasurements, column: int) -> int:
    """Return the position at which the network gives the sum's digit of a column."""
    return m.task.read_positions[column]


def own_sum(m: SequenceMeasurements, column: int) -> list[Look]:
    """Return the heads that attend to a column from the position at which the network gives this column's digit of the
    sum.
    """
    return looks_at(m, column, [read_at(m, column)])


def for_carry(m: SequenceMeasurements, column: int) -> list[Look]:
    """Return the heads that attend to a column from any position up to the digit that receives the column's carry."""
    return looks_at(m, column, range(digits_of(m, column)[1], read_at(m, column - 1) + 1))


def own_sum_or_nearest(m: SequenceMeasurements, column: int) -> list[Look]:
    """Return the heads that attend to a column from the position of its digit of the sum; without such heads, return
    the head that attends most.

    In networks that did not learn, which are controls, the head that attends most takes the place of such heads.
    """
    return own_sum(m, column) or [max(looks_at(m, column, [read_at(m, column)], 0.0), key=lambda x: sum(x.weights))]


def nearest_for_carry(m: SequenceMeasurements, column: int) -> Look:
    """Return the head whose attention agrees most with the carry of a column, at any position up to the digit that
    receives the carry.
    """
    positions = range(digits_of(m, column)[1], read_at(m, column - 1) + 1)
    return max(looks_at(m, column, positions, 0.0), key=lambda look: look.agreement)


def looks_at(m: SequenceMeasurements, column: int, positions: Iterable[int], least: float = LOOKS) -> list[Look]:
    """Return the first-layer heads that attend to a column from some of the given positions.

    Args:
        least: smallest sum of the mean attention to both digits for which a head is returned.
    """
    first, second = digits_of(m, column)
    a, b = m.sampled.inputs[:, first], m.sampled.inputs[:, second]
    pattern, differ, found = _pattern(m), a != b, []
    for position in positions:
        for head in range(pattern.shape[1]):
            to_a, to_b = (pattern[:, head, position, digit] for digit in (first, second))
            weights = float(to_a.mean()), float(to_b.mean())
            if sum(weights) < least:
                continue
            agrees = (to_a > to_b) == (RANK[a] < RANK[b])
            uneven = (to_a / (to_a + to_b) - 0.5).abs().mean()
            found.append(Look(head, position, float(agrees[differ].double().mean()), weights, float(uneven)))
    return found


def _pattern(m: SequenceMeasurements) -> Float[Tensor, "input head query key"]:
    """Return the attention of the first layer, cached with the measurements."""
    known = vars(m)
    if "_first_pattern" not in known:
        known["_first_pattern"] = m.pattern_of(m.sampled.inputs)[0].double()
    return known["_first_pattern"]


def written(m: SequenceMeasurements, looks: Iterable[Look]) -> Float[Tensor, "head input d_model"]:
    """Return the outputs of first-layer heads at their query positions, for the sampled inputs."""
    hook, W_O = "blocks.0.attn.hook_z", m.precise.blocks[0].attn.W_O.detach()
    with torch.no_grad():
        _, cache = m.precise.run_with_cache(m.sampled.inputs, names_filter=[hook])
    return torch.stack([cache[hook][:, look.position, look.head] @ W_O[look.head] for look in looks])


def targets_of_sum(m: SequenceMeasurements, column: int, step: int) -> Float[Tensor, "input 2"]:
    """Return the point of each input's digit sum on a circle with `step` turns for ten digits, for one column."""
    return torch.view_as_real(torch.exp(2j * torch.pi * step * sums(m, column).double() / 10))


def sums(m: SequenceMeasurements, column: int) -> Int[Tensor, " input"]:
    """Return the sum of the two digits of a column."""
    first, second = digits_of(m, column)
    return m.sampled.inputs[:, first] + m.sampled.inputs[:, second]


def foretold_share(x: Float[Tensor, "input d"], y: Float[Tensor, "input k"]) -> float:
    """Return R squared of a linear fit of y from x: fitted on the first half of the inputs, evaluated on the second
    half.
    """
    half = len(x) // 2
    with_one = torch.cat([x.double(), torch.ones(len(x), 1, dtype=torch.float64)], dim=1)
    fit = with_one @ (torch.linalg.pinv(with_one[:half]) @ y[:half].double())
    rest, about = y[half:] - fit[half:], y[half:] - y[half:].mean(dim=0)
    return 1 - float(rest.square().sum() / about.square().sum())
