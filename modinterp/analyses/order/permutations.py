"""Permute inputs: all orders of several numbers, and patterns in similarities between these orders.

Source: "Circuit engineering", activations across permutations.
"""

from __future__ import annotations

from itertools import permutations
from math import factorial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked

MOST_ORDERS = 720  # 6!; of more, a sample is drawn


@checked
def orders(n: int, seed: int = 0) -> Int[Tensor, "order n"]:
    """Return all n! permutations of 0 .. n - 1 in lexicographic order; above 720, a random sample of 720.

    The identity is always first; a sample may hold a permutation twice.

    >>> orders(3).tolist()
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    """
    if factorial(n) <= MOST_ORDERS:
        return torch.tensor(list(permutations(range(n))))
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.arange(n), *(torch.randperm(n, generator=generator) for _ in range(MOST_ORDERS - 1))])


@checked
def in_all_orders(numbers: Int[Tensor, "input n"]) -> Int[Tensor, "input order n"]:
    """Return the numbers of every input in every order, with the orders from `orders`."""
    return numbers[:, orders(numbers.shape[1])]


@checked
def neighbour_contrast(similarity: Float[Tensor, "order order"], shuffle: Int[Tensor, " order"]) -> float:
    """Measure how much of the pattern in a similarity matrix depends on the order of its rows.

    The measure is the mean absolute difference of neighbouring entries, divided by the same mean for a shuffled matrix.
    It is below 1 if neighbours are similar, and 1 if the order is meaningless.

    Args:
        shuffle: a permutation of the rows and columns for the comparison.
    """

    def step(matrix: Tensor) -> Tensor:
        return matrix.diff(dim=0).abs().mean() + matrix.diff(dim=1).abs().mean()

    return float(step(similarity) / step(similarity[shuffle][:, shuffle]))
