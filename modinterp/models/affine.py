"""What the training step spends its time in: the affine map, by the faster of torch's two libraries, and ReLU.

A CPU build of torch carries both libraries. `x @ W` in float32 goes to MKL, which leaves AVX-512 unused on processors
that are not Intel's; oneDNN uses it everywhere. On an EPYC the product of this project's MLP takes 2.4 ms that way
instead of 6.0 on one core, and its weights' gradient 3.8 instead of 6.0. On a Xeon MKL is faster, forwards and
backwards by 1.1 to 1.4 times.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

HAS_ONEDNN = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


@cache
def _is_intel() -> bool:
    """Whether the processor is Intel's; false where the system does not say."""
    cpuinfo = Path("/proc/cpuinfo")
    return cpuinfo.is_file() and "GenuineIntel" in cpuinfo.read_text()


def _onednn_product(x: Tensor, y: Tensor, b: Tensor | None = None) -> Tensor:
    """x @ y.T + b, computed by oneDNN."""
    return torch.ops.mkldnn._linear_pointwise(x, y, b, "none", [], "")


class _Affine(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, W)
        return _onednn_product(x, W.T, b)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        (grad,), (x, W) = grads, ctx.saved_tensors
        wide = W.shape[1] >= W.shape[0]  # oneDNN likes the longer side of the result last
        W_grad = _onednn_product(x.T, grad.T) if wide else _onednn_product(grad.T, x.T).T
        return _onednn_product(grad, W), W_grad, grad.sum(dim=0) if ctx.needs_input_grad[2] else None


def affine(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """x @ W + b by torch's own operations, which can be mapped over and run on any device."""
    return x @ W if b is None else x @ W + b


def onednn_affine(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """x @ W + b, differentiable, by oneDNN: for float32 on a CPU, where torch has it (`HAS_ONEDNN`)."""
    return _Affine.apply(x, W, b)  # type: ignore[return-value]


def fast_affine(
    x: Float[Tensor, "batch d_in"], W: Float[Tensor, "d_in d_out"], b: Float[Tensor, " d_out"] | None = None
) -> Float[Tensor, "batch d_out"]:
    """x @ W + b, differentiable; for float32 on a CPU with oneDNN where torch has it and it is the faster."""
    if HAS_ONEDNN and x.device.type == "cpu" and x.dtype == W.dtype == torch.float32 and not _is_intel():
        return onednn_affine(x, W, b)
    return x @ W if b is None else torch.addmm(b, x, W)


class _ReluInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.mark_dirty(x)
        ctx.save_for_backward(x.relu_())
        return x

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (grad,), (post,) = grads, ctx.saved_tensors
        return torch.ops.aten.threshold_backward.grad_input(grad, post, 0, grad_input=grad)


def relu_in_place(x: Float[Tensor, "*batch neuron"]) -> Float[Tensor, "*batch neuron"]:
    """ReLU that overwrites x and, backwards, the gradient that comes to it, where nothing else reads these.

    Without new memory for either it takes a third of the time of torch's own.
    """
    return _ReluInPlace.apply(x) if x.requires_grad else x.relu_()  # type: ignore[return-value]


class Operations(NamedTuple):
    """What the training pass computes with.

    Attributes:
        affine: the function x W + b of the large products.
        relu: the nonlinearity of networks with ReLU.
    """

    affine: Callable[[Tensor, Tensor, Tensor | None], Tensor]
    relu: Callable[[Tensor], Tensor]


MAPPABLE = Operations(affine, F.relu)
FAST = Operations(fast_affine, relu_in_place)
