"""Large activations a block at a time, so that what is computed of them takes no copy of the whole.

Whatever is a sum over pairs goes by rows, and whatever is done to each neuron or class goes by columns. Activations of
some hundred numbers are one block, whose results are those of the whole to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch
from jaxtyping import Float, Float64, Shaped
from torch import Tensor

INPUTS = 2**14  # inputs in one forward pass, 16,384: all pairs up to p = 128
ROWS, COLUMNS = 2**21, 2**23  # numbers in a block: 16 and 64 MiB in float64, of which some copies are held at a time


def row_blocks(shape: Sequence[int]) -> Iterator[slice]:
    """Blocks of the first axis of tensors of a shape."""
    whole = 1
    for size in shape[1:]:
        whole *= size
    return _slices(shape[0], ROWS // max(1, whole))


def joined(blocks: Iterable[Shaped[Tensor, "some *rest"]], size: int) -> Shaped[Tensor, "size *rest"]:
    """Blocks of rows as one tensor, of which none is held beside it."""
    found, began = None, 0
    for block in blocks:
        found = block.new_empty(size, *block.shape[1:]) if found is None else found
        found[began : began + len(block)] = block
        began += len(block)
    if found is None:
        raise ValueError("there is no block to join")
    return found


def mean_over_pairs(x: Float[Tensor, "a b *rest"]) -> Float64[Tensor, " *rest"]:
    """The mean over all pairs (a, b), in float64; torch copies all of a float32 tensor for that."""
    return torch.stack([x[a].double().sum(dim=(0, 1)) for a in row_blocks(x.shape)]).sum(dim=0) / (len(x) * x.shape[1])


def column_blocks(x: Shaped[Tensor, "a b *rest"]) -> Iterator[Shaped[Tensor, "a b some"]]:
    """Functions of (a, b), some of them at a time, their further axes made one."""
    flat = x.reshape(*x.shape[:2], -1)
    return (flat[..., some] for some in _slices(flat.shape[-1], COLUMNS // (x.shape[0] * x.shape[1])))


def _slices(size: int, step: int) -> Iterator[slice]:
    step = max(1, step)
    return (slice(began, min(size, began + step)) for began in range(0, size, step))
