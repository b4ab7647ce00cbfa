"""Represent activations that are too large for memory: each row is computed when it is read, and not stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.utils._pytree import tree_map

from modinterp.activations.blocks import Factors, row_blocks

aten = torch.ops.aten
Rows = Callable[[slice | Tensor], Float[Tensor, "some *rest"]]


class ByRows(Tensor):
    """A tensor `[input, ...]` or `[a, b, ...]` that computes slices along its first axis when they are read.

    A `ByRows` can be used like any tensor. Slices of a `ByRows`, single rows and rows selected by index are ordinary
    tensors. Sums of a `ByRows`, and views that fold or flatten the inputs, need no memory. Every other operation on a
    `ByRows` first computes the whole tensor.

    Args:
        rows: function that returns the rows of some inputs, given as a slice or as indices.
        shape: shape of the stored tensor; the last axes are those of one row.
        n_grid: number of axes of the inputs: 1, or 2 for pairs.
        factors: a narrower tensor `[*grid, inner]` and a matrix `[inner, outer]`, if the tensor is their product.
    """

    rows: Rows
    n_grid: int
    factors: Factors | None

    @staticmethod
    def __new__(
        cls, rows: Rows, shape: Sequence[int], n_grid: int, dtype: torch.dtype, factors: Factors | None = None
    ) -> ByRows:
        """Create the tensor without computing any row."""
        made = torch.Tensor._make_wrapper_subclass(cls, tuple(shape), dtype=dtype)
        made.rows, made.n_grid, made.factors = rows, n_grid, factors
        return made

    @classmethod
    def product(cls, left: Float[Tensor, "*grid inner"], right: Float[Tensor, "inner outer"]) -> ByRows:
        """Return the product of a tensor and a matrix, whose rows are computed when they are read."""
        grid = left.shape[:-1]
        flat = left.reshape(-1, left.shape[-1])
        return cls(lambda some: flat[some] @ right, (*grid, right.shape[1]), len(grid), right.dtype, (left, right))

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"ByRows(shape={tuple(self.shape)}, dtype={self.dtype})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Compute only the needed rows if the operation allows it; otherwise compute the whole tensor."""
        lazily = _SERVED.get(func)
        if lazily is not None and isinstance(args[0], ByRows):
            found = lazily(*args, **(kwargs or {}))
            if found is not NotImplemented:
                return found

        def whole(x: Any) -> Any:
            return x._some(0, len(x)) if isinstance(x, ByRows) else x

        return func(*tree_map(whole, args), **tree_map(whole, kwargs or {}))

    def _some(self, start: int, end: int) -> Tensor:
        """Return some rows along the first axis as an ordinary tensor."""
        each = 1 if self.n_grid == 1 else self.shape[1]
        found = self.rows(slice(start * each, end * each))
        return found if self.n_grid == 1 else found.unflatten(0, (end - start, each))


def renamed(x: Float[Tensor, "a b *rest"], order: Int[Tensor, " a"]) -> Float[Tensor, "a b *rest"]:
    """Permute the values of both a and b in a function of (a, b); for a `ByRows`, rows are permuted when they are
    read.
    """
    p = len(order)

    def rows(some: slice | Tensor) -> Tensor:
        pairs = torch.arange(p * p)[some] if isinstance(some, slice) else some
        return x[order[pairs // p], order[pairs % p]]

    return ByRows(rows, x.shape, 2, x.dtype)


def _same(x: ByRows, shape: Sequence[int] | None = None, n_grid: int | None = None) -> ByRows:
    """Return a tensor with the same rows, in which the inputs may be folded to another shape."""
    shape, n_grid, factors = shape or tuple(x.shape), n_grid or x.n_grid, x.factors
    if factors is not None:
        left, right = factors
        factors = left.view(*shape[:n_grid], left.shape[-1]), right
    return ByRows(x.rows, shape, n_grid, x.dtype, factors)


def _slice(x: ByRows, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    size = x.shape[dim]
    first, last, _ = slice(start, end).indices(size)
    if step == 1 and first == 0 and last == size:
        return _same(x)
    return x._some(first, max(first, last)) if dim == 0 and step == 1 else NotImplemented


def _select(x: ByRows, dim: int, index: int) -> Any:
    index = index + len(x) if index < 0 else index
    return x._some(index, index + 1)[0] if dim == 0 else NotImplemented


def _view(x: ByRows, shape: Sequence[int]) -> Any:
    rest = tuple(x.shape[x.n_grid :])
    lead = list(shape)[: len(shape) - len(rest)]
    if tuple(shape)[len(lead) :] != rest or len(lead) not in (1, 2):
        return NotImplemented
    inputs = x.numel() // max(1, torch.Size(rest).numel())
    if -1 in lead:
        known = torch.Size([n for n in lead if n != -1]).numel()
        lead = [inputs // known if n == -1 else n for n in lead]
    return _same(x, (*lead, *rest), len(lead))


def _sum(x: ByRows, *, dtype: torch.dtype | None = None) -> Any:
    total = torch.zeros((), dtype=torch.float64)
    for some in row_blocks(x.shape):
        total += x[some].double().sum()
    return total.to(dtype or x.dtype)


def _index(x: ByRows, indices: Sequence[Tensor | None]) -> Any:
    """Return the rows of some inputs of a flat tensor, selected by index."""
    wanted = indices[0]
    if x.n_grid != 1 or len(indices) != 1 or wanted is None or wanted.dtype != torch.int64:
        return NotImplemented
    return x.rows(wanted)


def _new_zeros(x: ByRows, size: Sequence[int], dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return torch.zeros(*size, dtype=dtype or x.dtype)


_SERVED: dict[Any, Callable[..., Any]] = {
    aten.slice.Tensor: _slice,
    aten.select.int: _select,
    aten.view.default: _view,
    aten._unsafe_view.default: _view,
    aten.sum.default: _sum,
    aten.index.Tensor: _index,
    aten.new_zeros.default: _new_zeros,
    aten.new_empty.default: _new_zeros,
    aten.detach.default: _same,
    aten.alias.default: _same,
}
