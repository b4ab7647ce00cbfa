"""Look up rows of tables for many inputs, with an order of gradient sums that is computed once per batch.

Torch sorts the index of looked-up rows at every step to sum their gradients. In this module, the positions at which
each table row is looked up are listed once per batch. One pass over these positions then adds the gradients of each
row, always in the same order. Summing gradients in this order takes a third to a tenth of torch's time on a CPU, and
one kernel instead of about thirty on a GPU.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

Index = dict[str, Any]  # tensors by name; what one part of a forward pass alone looks up is a mapping of its own


def mappable_index(rows: Int[Tensor, "input place"], n_rows: int, n_heads: int = 0) -> Index:
    """Return the row indices of a batch in the form that torch's own operations need: only `rows`, unchanged.

    Args:
        rows, n_rows, n_heads: the looked-up rows, number of table rows, and number of heads; see `fast_index`.
    """
    return {"rows": rows}


def fast_index(rows: Int[Tensor, "input place"], n_rows: int, n_heads: int = 0) -> Index:
    """Return the row indices of a batch in three forms: `rows`, the positions `order` sorted by row, and where each row
    starts in `order`, `starts`.

    Args:
        rows: indices of the table rows that each input looks up.
        n_rows: number of rows of the table.
        n_heads: number of heads that mix the rows, for `fast_mixed_rows`; 0 without heads.
    """
    found, order = rows.flatten().sort(stable=True)
    starts = torch.searchsorted(found, torch.arange(n_rows, device=rows.device))
    index = {"rows": rows, "order": order, "starts": starts}
    return index | {"mixing": _mixing_index(index, n_rows, n_heads)} if n_heads else index


def _mixing_index(index: Index, n_rows: int, n_heads: int) -> Index:
    """Return the lookups of a batch if every head has its own table, with all tables stacked.

    A bag is the set of rows that one head looks up for one input. The index holds `rows` `[bag, place]`, `order` and
    `starts`, as in `fast_index`. It also holds `bags`, the bag of each place, and `ordered_bags`, the same in the
    sorted order.
    """
    rows, order, starts = index["rows"], index["order"], index["starts"]
    heads, places = torch.arange(n_heads, device=rows.device).unsqueeze(1), rows.shape[1]
    ordered_bags = (order // places * n_heads + heads).flatten()
    rows = (rows.unsqueeze(1) + n_rows * heads).flatten(0, 1)
    return {
        "rows": rows,
        "order": ordered_bags * places + (order % places).repeat(n_heads),
        "starts": (starts + len(order) * heads).flatten(),
        "bags": torch.arange(len(rows), device=rows.device).repeat_interleave(places),
        "ordered_bags": ordered_bags,
    }


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, rows: Tensor, order: Tensor, starts: Tensor, summed: bool) -> Tensor:
        ctx.save_for_backward(order, starts)
        ctx.per_gradient = rows.shape[1] if summed else 1
        return F.embedding_bag(rows, table, mode="sum") if summed else F.embedding(rows, table)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None, None]:
        (grad,), (order, starts) = grads, ctx.saved_tensors
        added = order if ctx.per_gradient == 1 else order // ctx.per_gradient
        return F.embedding_bag(added, grad.flatten(0, -2), starts, mode="sum"), None, None, None, None


class _MixedRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, pattern: Tensor, index: Index) -> Tensor:
        ctx.save_for_backward(table, pattern)
        ctx.index = index
        return F.embedding_bag(index["rows"], table, mode="sum", per_sample_weights=pattern)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        (grad,), (table, pattern), index = grads, ctx.saved_tensors, ctx.index
        ordered = pattern.flatten().take(index["order"])
        of_table = F.embedding_bag(index["ordered_bags"], grad, index["starts"], mode="sum", per_sample_weights=ordered)
        rows, bags = index["rows"].flatten(), index["bags"]
        of_pattern = torch.ops.aten._embedding_bag_per_sample_weights_backward(grad, table, rows, bags, bags, 0)
        return of_table, of_pattern.view_as(pattern), None


def fast_rows(table: Float[Tensor, "row column"], index: Index) -> Float[Tensor, "input place column"]:
    """Return the table rows that each input looks up; the function does not support `vmap`.

    Args:
        index: the result of `fast_index`.
    """
    return _Rows.apply(table, index["rows"], index["order"], index["starts"], False)  # type: ignore[return-value]


def fast_row_sums(table: Float[Tensor, "row column"], index: Index) -> Float[Tensor, "input column"]:
    """Return the sum of the table rows that each input looks up; the function does not support `vmap`.

    Args:
        index: the result of `fast_index`.
    """
    return _Rows.apply(table, index["rows"], index["order"], index["starts"], True)  # type: ignore[return-value]


def fast_mixed_rows(
    table: Float[Tensor, "row head d_head"], pattern: Float[Tensor, "place input head"], index: Index
) -> Float[Tensor, "input head d_head"]:
    """Return, for each head, the attention-weighted sum of the looked-up rows; the function does not support `vmap`.

    Args:
        index: the result of `fast_index` for the number of heads.
    """
    stacked, by_bag = table.transpose(0, 1).flatten(0, 1), pattern.permute(1, 2, 0).flatten(0, 1)
    return _MixedRows.apply(stacked, by_bag, index["mixing"]).unflatten(0, (-1, table.shape[1]))  # type: ignore


def mappable_rows(table: Float[Tensor, "row column"], index: Index) -> Float[Tensor, "input place column"]:
    """Return the table rows that each input looks up, as `fast_rows` does, with torch operations that support
    `vmap`.
    """
    return F.embedding(index["rows"], table)


def mappable_row_sums(table: Float[Tensor, "row column"], index: Index) -> Float[Tensor, "input column"]:
    """Return the sum of the table rows that each input looks up, as `fast_row_sums` does, with torch operations that
    support `vmap`.
    """
    return mappable_rows(table, index).sum(dim=1)


def mappable_mixed_rows(
    table: Float[Tensor, "row head d_head"], pattern: Float[Tensor, "place input head"], index: Index
) -> Float[Tensor, "input head d_head"]:
    """Return the attention-weighted sums of looked-up rows, as `fast_mixed_rows` does, with torch operations that
    support `vmap`.
    """
    looked_up = mappable_rows(table.flatten(1), index).unflatten(-1, table.shape[1:])
    return (pattern.transpose(0, 1).unsqueeze(-1) * looked_up).sum(dim=1)
