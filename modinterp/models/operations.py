"""Operations of the training pass in two forms: a fast one, and one that can be mapped over runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor

from modinterp.models.affine import affine, affine_relu, fast_affine, fast_affine_relu, relu_in_place
from modinterp.models.lookup import (
    Index,
    fast_index,
    fast_mixed_rows,
    fast_row_sums,
    fast_rows,
    mappable_index,
    mappable_mixed_rows,
    mappable_row_sums,
    mappable_rows,
)


class Operations(NamedTuple):
    """Operations of the training pass beside torch's own.

    Attributes:
        affine: the function x W + b of the large products.
        relu: the nonlinearity of networks with ReLU.
        affine_relu: both together.
        index: function that prepares the lookups of a batch for `rows`, `row_sums` and `mixed_rows`.
        rows, row_sums: the rows of a table that each input looks up, and their sum.
        mixed_rows: their sum by each head, weighted by its pattern.
    """

    affine: Callable[[Tensor, Tensor, Tensor | None], Tensor]
    relu: Callable[[Tensor], Tensor]
    affine_relu: Callable[[Tensor, Tensor, Tensor | None], Tensor]
    index: Callable[[Tensor, int, int], Index]
    rows: Callable[[Tensor, Index], Tensor]
    row_sums: Callable[[Tensor, Index], Tensor]
    mixed_rows: Callable[[Tensor, Tensor, Index], Tensor]


MAPPABLE = Operations(
    affine, F.relu, affine_relu, mappable_index, mappable_rows, mappable_row_sums, mappable_mixed_rows
)
FAST = Operations(fast_affine, relu_in_place, fast_affine_relu, fast_index, fast_rows, fast_row_sums, fast_mixed_rows)
