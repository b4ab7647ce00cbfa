"""Similarity of vectors: cosines, and squared distances over the product of their norms."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked


@checked
def cosines(vectors: Float[Tensor, "input d"]) -> Float[Tensor, "input input"]:
    """Cosine of the angle between every two of the vectors, which are the rows of a matrix; NaN with a vector of zeros.

    Source: "Circuit engineering", the heat-maps of positions.
    """
    unit = vectors.detach().double()
    unit = unit / unit.norm(dim=1, keepdim=True)
    return unit @ unit.T


@checked
def relative_difference(v: Float[Tensor, "*input"], w: Float[Tensor, "*input"]) -> float:
    """Squared distance of two vectors over the product of their norms, `|v - w|^2 / (|v| |w|)`.

    The distance is 0 for equal vectors and 2 for orthogonal vectors of one norm; tensors of any one shape count as
    vectors.

    Source: "Circuit engineering", closeness of positional encodings (definition D14).

    >>> import torch
    >>> relative_difference(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    2.0
    """
    v, w = v.detach().double(), w.detach().double()
    return float((v - w).square().sum() / (v.norm() * w.norm()))
