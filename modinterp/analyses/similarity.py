"""How alike vectors are: cosines, and the squared distance on the scale of their lengths."""

from __future__ import annotations

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def cosines(vectors: Float[Tensor, "item d"]) -> Float[Tensor, "item item"]:
    """Cosine of every vector with every other. Source: "Circuit engineering", the heat-maps of positions."""
    unit = F.normalize(vectors.detach().double(), dim=1)
    return unit @ unit.T


def relative_difference(v: Tensor, w: Tensor) -> float:
    """`|v - w|^2 / (|v| |w|)`, over all entries; 0 for equal ones, 2 for orthogonal ones of one length.

    Source: "Circuit engineering", closeness of positional encodings (definition D14).

    >>> import torch
    >>> relative_difference(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    2.0
    """
    v, w = v.detach().double(), w.detach().double()
    return float((v - w).square().sum() / (v.norm() * w.norm()))
