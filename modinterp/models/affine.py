"""Compute affine maps and ReLU with the fastest library of torch; training spends most of its time here.

A CPU build of torch contains two libraries for matrix products, MKL and oneDNN. `x @ W` in float32 uses MKL, which
leaves AVX-512 instructions unused on processors that are not Intel's. oneDNN uses AVX-512 on every processor that has
it. On one core of an EPYC processor, oneDNN takes 2.4 ms for the matrix product of an MLP, and MKL takes 6.0 ms. For
the gradient of the weights on an EPYC processor, oneDNN takes 3.8 ms and MKL 6.0 ms. On a Xeon processor, MKL is 1.1 to
1.4 times faster than oneDNN in the forward and the backward pass. On a GPU, one kernel computes the matrix product, the
bias and ReLU. The gradient of the bias is computed as a product with ones, which takes a third of the time of a sum
over many rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

HAS_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


@cache
def _is_intel() -> bool:
    """Return True if the processor is made by Intel; False if the system does not say."""
    cpuinfo = Path("/proc/cpuinfo")
    return cpuinfo.is_file() and "GenuineIntel" in cpuinfo.read_text(encoding="utf-8")


def _onednn(x: Tensor, y: Tensor, b: Tensor | None = None, then: str = "none") -> Tensor:
    """Compute x @ y + b, followed by ReLU if `then` is `relu`, in one pass of oneDNN."""
    return torch.ops.mkldnn._linear_pointwise(x, y.T, b, then, [], "")


def _mkl(x: Tensor, y: Tensor, b: Tensor | None = None, then: str = "none") -> Tensor:
    """Compute x @ y + b with MKL; with ReLU use oneDNN, which saves a pass and is faster in total."""
    if then != "none":
        return _onednn(x, y, b, then)
    return x @ y if b is None else (x @ y).add_(b)  # faster than `torch.addmm`, which copies b first


def _by_torch(x: Tensor, y: Tensor, b: Tensor | None = None, then: str = "none") -> Tensor:
    """Compute x @ y + b, followed by ReLU if `then` is `relu`, with torch's own operations."""
    if b is None:
        return x @ y if then == "none" else (x @ y).relu_()
    return torch.addmm(b, x, y) if then == "none" else torch.ops.aten._addmm_activation(b, x, y)


@cache
def _ones(rows: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.ones(1, rows, dtype=dtype, device=device)


def _sum_of_rows(grad: Tensor) -> Tensor:
    """Return the sum over the first axis of a matrix."""
    return (_ones(len(grad), grad.dtype, grad.device) @ grad).squeeze(0) if grad.is_cuda else grad.sum(dim=0)


def _through_relu(grad: Tensor, post: Tensor) -> Tensor:
    """Multiply a gradient, in place, by the derivative of the ReLU that gave the outputs."""
    return torch.ops.aten.threshold_backward.grad_input(grad, post, 0, grad_input=grad)


class _Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, W: Tensor, b: Tensor | None, product: Callable[..., Tensor], then: str) -> Tensor:
        out = product(x, W, b, then)
        ctx.product, ctx.then = product, then
        ctx.save_for_backward(x, W, out if then == "relu" else None)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor | None, None, None]:
        (grad,), (x, W, post), product = grads, ctx.saved_tensors, ctx.product
        if ctx.then == "relu":
            grad = _through_relu(grad, post)
        wide = W.shape[1] >= W.shape[0]  # both libraries like the longer side of the result last
        W_grad = product(x.T, grad) if wide else product(grad.T, x).T
        return product(grad, W.T), W_grad, _sum_of_rows(grad) if ctx.needs_input_grad[2] else None, None, None


def affine(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """Compute x @ W + b with torch's own operations, which support `vmap` and any device."""
    return x @ W if b is None else x @ W + b


def affine_relu(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """Compute ReLU of x @ W + b with torch's own operations, which support `vmap` and any device."""
    return F.relu(affine(x, W, b))


def onednn_affine(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """Compute x @ W + b, differentiably, with oneDNN, for float32 on a CPU if torch includes oneDNN (`HAS_ONEDNN`)."""
    return _Affine.apply(x, W, b, _onednn, "none")  # type: ignore[return-value]


def fast_affine(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """Compute x @ W + b, differentiably, with the fastest library for float32."""
    return _by_fastest_library(x, W, b, "none")


def fast_affine_relu(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """Compute ReLU of x @ W + b, differentiably, in one pass; the backward pass overwrites the incoming gradient."""
    return _by_fastest_library(x, W, b, "relu")


def _by_fastest_library(x: Tensor, W: Tensor, b: Tensor | None, then: str) -> Tensor:
    onednn = HAS_ONEDNN and x.device.type == "cpu" and x.dtype == W.dtype == torch.float32
    product = (_mkl if _is_intel() else _onednn) if onednn else _by_torch
    return _Affine.apply(x, W, b, product, then)  # type: ignore[return-value]


class _ReluInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.mark_dirty(x)
        ctx.save_for_backward(x.relu_())
        return x

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (grad,), (post,) = grads, ctx.saved_tensors
        return _through_relu(grad, post)


def relu_in_place(x: Float[Tensor, "*batch neuron"]) -> Float[Tensor, "*batch neuron"]:
    """Compute ReLU in place; use this function only if nothing else reads the input, or the gradient of the output."""
    return _ReluInPlace.apply(x) if x.requires_grad else x.relu_()  # type: ignore[return-value]
