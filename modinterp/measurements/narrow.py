"""Multiply fast by matrices of low rank, such as W_L, whose rank is at most the width of the residual stream."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

NEGLIGIBLE = 1e-7  # of the largest singular value: what float32 rounds off


def product_with(matrix: Float[Tensor, "feature output"]) -> Callable[[Tensor], Tensor]:
    """Return a function that multiplies by a matrix; it replaces a float32 matrix of low rank by two narrow factors."""
    if matrix.dtype == torch.float32:
        U, S, V = torch.linalg.svd(matrix.double(), full_matrices=False)
        rank = int((NEGLIGIBLE * S[0] < S).sum())
        if rank * sum(matrix.shape) < matrix.numel():
            first, second = (U[:, :rank] * S[:rank]).to(matrix), V[:rank].to(matrix)
            return lambda x: x @ first @ second
    return lambda x: x @ matrix
