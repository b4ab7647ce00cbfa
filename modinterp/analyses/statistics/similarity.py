"""Measure the similarity of vectors by cosines, and by squared distances divided by the product of norms."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked


@checked
def cosines(vectors: Float[Tensor, "input d"]) -> Float[Tensor, "input input"]:
    """Return the cosine of the angle between every two rows of a matrix; NaN for a row of zeros.

    Source: "Circuit engineering", the heat-maps of positions.
    """
    unit = vectors.detach().double()
    unit = unit / unit.norm(dim=1, keepdim=True)
    return unit @ unit.T


@checked
def relative_difference(v: Float[Tensor, "*input"], w: Float[Tensor, "*input"]) -> float:
    """Return the squared distance of two vectors divided by the product of their norms, `|v - w|^2 / (|v| |w|)`.

    The result is 0 for equal vectors, and 2 for orthogonal vectors of equal norm. Tensors of any shape count as
    vectors.

    Source: "Circuit engineering", closeness of positional encodings (definition D14).

    >>> import torch
    >>> relative_difference(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    2.0
    """
    v, w = v.detach().double(), w.detach().double()
    return float((v - w).square().sum() / (v.norm() * w.norm()))
