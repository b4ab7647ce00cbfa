"""The affine map, by the fastest library of torch, and ReLU: the training step spends most of its time here.

A CPU build of torch carries two of them. `x @ W` in float32 goes to MKL, which leaves AVX-512 unused on processors
that are not Intel's; oneDNN uses it everywhere. On one core of an EPYC, oneDNN takes 2.4 ms for the product of an MLP
here, and MKL 6.0. For the gradient of its weights, oneDNN takes 3.8 ms and MKL 6.0. On a Xeon MKL is faster, forwards
and backwards by 1.1 to 1.4 times. On a GPU the product includes bias and ReLU. The gradient of the bias is a product
with ones, which takes a third of the time of a sum over many rows.
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
    """Whether the processor is Intel's; false where the system does not say."""
    cpuinfo = Path("/proc/cpuinfo")
    return cpuinfo.is_file() and "GenuineIntel" in cpuinfo.read_text(encoding="utf-8")


def _onednn(x: Tensor, y: Tensor, b: Tensor | None = None, then: str = "none") -> Tensor:
    """x @ y + b and what comes `then`, `none` or `relu`, in one pass of oneDNN."""
    return torch.ops.mkldnn._linear_pointwise(x, y.T, b, then, [], "")


def _mkl(x: Tensor, y: Tensor, b: Tensor | None = None, then: str = "none") -> Tensor:
    """x @ y + b by MKL; with ReLU by oneDNN, which makes up there for the slower product."""
    if then != "none":
        return _onednn(x, y, b, then)
    return x @ y if b is None else (x @ y).add_(b)  # faster than `torch.addmm`, which copies b first


def _by_torch(x: Tensor, y: Tensor, b: Tensor | None = None, then: str = "none") -> Tensor:
    """x @ y + b and what comes `then` by torch's own operations, on a GPU in one kernel where there is a bias."""
    if b is None:
        return x @ y if then == "none" else (x @ y).relu_()
    return torch.addmm(b, x, y) if then == "none" else torch.ops.aten._addmm_activation(b, x, y)


@cache
def _ones(rows: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.ones(1, rows, dtype=dtype, device=device)


def _sum_of_rows(grad: Tensor) -> Tensor:
    """The sum over the first axis."""
    return (_ones(len(grad), grad.dtype, grad.device) @ grad).squeeze(0) if grad.is_cuda else grad.sum(dim=0)


def _through_relu(grad: Tensor, post: Tensor) -> Tensor:
    """The gradient that comes to a ReLU with these outputs, overwritten by the one that it hands on."""
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
    """x @ W + b by torch's own operations, which can be mapped over and run on any device."""
    return x @ W if b is None else x @ W + b


def affine_relu(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """ReLU of x @ W + b by torch's own operations, which can be mapped over and run on any device."""
    return F.relu(affine(x, W, b))


def onednn_affine(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """x @ W + b, differentiable, by oneDNN: for float32 on a CPU, where torch has it (`HAS_ONEDNN`)."""
    return _Affine.apply(x, W, b, _onednn, "none")  # type: ignore[return-value]


def fast_affine(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """x @ W + b, differentiable; for float32 by the fastest library."""
    return _by_fastest_library(x, W, b, "none")


def fast_affine_relu(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """ReLU of x @ W + b, differentiable, in one pass, which overwrites the gradient that comes."""
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
    """ReLU that overwrites its input and, backwards, its gradient; use it only where nothing else reads these."""
    return _ReluInPlace.apply(x) if x.requires_grad else x.relu_()  # type: ignore[return-value]
