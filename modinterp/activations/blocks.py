"""Process large activations in blocks, so that no computation copies the whole tensor.

Sums over pairs are computed in blocks of rows. Computations for each neuron or class use blocks of columns. A small
tensor is a single block, so results computed in blocks equal those of the whole tensor in every bit. The results of
blocks are written into one preallocated tensor. A list of separate results would fragment the memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch
from jaxtyping import Float, Float64, Shaped
from torch import Tensor

INPUTS = 2**14  # inputs in one forward pass, 16,384: all pairs up to p = 128
Factors = tuple[Float[Tensor, "*grid inner"], Float[Tensor, "inner outer"]]
ROWS, COLUMNS = 2**21, 2**23  # numbers in a block: 16 and 64 MiB in float64, of which some copies are held at a time


def row_blocks(shape: Sequence[int]) -> Iterator[slice]:
    """Split the first axis of tensors of a shape into slices, one for each block of rows."""
    whole = 1
    for size in shape[1:]:
        whole *= size
    return _slices(shape[0], ROWS // max(1, whole))


def joined(blocks: Iterable[Shaped[Tensor, "some *rest"]], size: int) -> Shaped[Tensor, "size *rest"]:
    """Join blocks of rows into one tensor, and free each block once it is copied."""
    found, began = None, 0
    for block in blocks:
        found = block.new_empty(size, *block.shape[1:]) if found is None else found
        found[began : began + len(block)] = block
        began += len(block)
    if found is None:
        raise ValueError("no blocks were given to join; give at least one block")
    return found


def factors_of(x: Tensor) -> Factors | None:
    """Return two factors `(narrow, matrix)` whose product is the tensor `x`; None if `x` was not made as a product.

    Use the factors for sums over inputs: sum the narrow tensor `[*grid, inner]`, then multiply by the matrix.
    """
    return getattr(x, "factors", None)


def mean_over_pairs(x: Float[Tensor, "a b *rest"]) -> Float64[Tensor, " *rest"]:
    """Return the mean over all pairs (a, b) in float64, without making a float64 copy of the whole tensor."""
    factors = factors_of(x)
    if factors is not None:
        return mean_over_pairs(factors[0]) @ factors[1].double()
    total = x.new_zeros(x.shape[2:], dtype=torch.float64)
    for a in row_blocks(x.shape):
        total += x[a].double().sum(dim=(0, 1))
    return total / (len(x) * x.shape[1])


def not_finite(x: Float[Tensor, "input output"]) -> int:
    """Return how many inputs have an infinite or NaN value; a product of small finite factors need not be computed."""
    factors = factors_of(x)
    if factors is not None:
        left, right = factors
        rows = joined((left[some].float().norm(dim=-1) for some in row_blocks(left.shape)), len(left))
        bound = rows.max() * right.float().norm(dim=0).max()  # on the size of any number
        if bound < 1e-3 * torch.finfo(torch.float32).max:
            return 0
    return sum(int((~x[some].isfinite()).any(dim=1).sum()) for some in row_blocks(x.shape))


def column_blocks(x: Shaped[Tensor, "a b *rest"]) -> Iterator[Shaped[Tensor, "a b some"]]:
    """Yield functions of (a, b) in blocks of columns, with all axes after a and b flattened into one."""
    flat = x.reshape(*x.shape[:2], -1)
    return (flat[..., some] for some in _slices(flat.shape[-1], COLUMNS // (x.shape[0] * x.shape[1])))


def _slices(size: int, step: int) -> Iterator[slice]:
    step = max(1, step)
    return (slice(began, min(size, began + step)) for began in range(0, size, step))
