"""Look up smallest values over intervals of an axis in a precomputed table."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor


class Extremes:
    """Sparse table that gives the smallest value over any interval of the first axis from two stored values."""

    def __init__(self, x: Float[Tensor, "token *rest"]):
        self.levels = [x]
        while 2 ** len(self.levels) <= len(x):
            last, step = self.levels[-1], 2 ** (len(self.levels) - 1)
            self.levels.append(torch.minimum(last[:-step], last[step:]))

    def minima(self, low: Int[Tensor, "*batch"], high: Int[Tensor, "*batch"]) -> Float[Tensor, "*batch *rest"]:
        """Return the smallest values over the indices from `low` to `high`, both included, elementwise."""
        smallest = self.levels[0].new_empty(*low.shape, *self.levels[0].shape[1:])
        level = (high - low + 1).double().log2().floor().long()
        for k in level.unique().tolist():
            own = level == k
            smallest[own] = torch.minimum(self.levels[k][low[own]], self.levels[k][high[own] - 2**k + 1])
        return smallest
