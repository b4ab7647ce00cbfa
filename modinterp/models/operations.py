"""Provide the operations of the training pass in two forms: a fast form, and a form that supports `vmap` over runs."""

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
    """The operations of the training pass that have a fast and a mappable form.

    Attributes:
        affine: function that computes x W + b for large products.
        relu: function that computes ReLU.
        affine_relu: function that computes ReLU of x W + b.
        index: function that prepares the row indices of a batch for `rows`, `row_sums` and `mixed_rows`.
        rows, row_sums: functions that return the table rows that each input looks up, and the sum of these rows.
        mixed_rows: function that returns, for each head, the sum of the looked-up rows weighted by its attention
            pattern.
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
