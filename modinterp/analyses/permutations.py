"""What the order of the inputs changes, where it should change nothing.

Source: "Circuit engineering", activations across permutations.
"""

from __future__ import annotations

from itertools import permutations
from math import factorial

import torch
from jaxtyping import Float, Int
from torch import Tensor

MOST = 720


def orders(n: int, seed: int = 0) -> Int[Tensor, "order n"]:
    """All n! orders of n things, the first slowest; above 720, so many drawn at random, the identity first.

    >>> orders(3).tolist()
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    """
    if factorial(n) <= MOST:
        return torch.tensor(list(permutations(range(n))))
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.arange(n), *(torch.randperm(n, generator=generator) for _ in range(MOST - 1))])


def in_all_orders(numbers: Int[Tensor, "input n"]) -> Int[Tensor, "input order n"]:
    """Every input in every order."""
    return numbers[:, orders(numbers.shape[1])]


def neighbour_contrast(similarity: Float[Tensor, "order order"], shuffled: Int[Tensor, " order"]) -> float:
    """How much of the pattern in a similarity matrix belongs to the sequence of its rows.

    The mean absolute step between neighbouring entries, over the same after rows and columns were put in another
    sequence; below 1 where neighbours are alike, 1 where the sequence means nothing.
    """

    def step(matrix: Tensor) -> Tensor:
        return matrix.diff(dim=0).abs().mean() + matrix.diff(dim=1).abs().mean()

    return float(step(similarity) / step(similarity[shuffled][:, shuffled]))
