"""Analyse how the matrix elements of rho(a b) in the neurons become logits."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.groups.irreps import Irrep
from modinterp.tasks import Group

LEAST_DIRECTION = 0.01  # of the largest singular value, above which a direction counts


@dataclass(frozen=True)
class GroupReadoff:
    """The map from the matrix elements of rho(a b) in the neurons to the logits, compared with tr rho(a b) rho(c^-1).

    Attributes:
        share: share of the map explained by tr rho(a b) rho(c^-1), in [0, 1].
        rank: number of independent directions of the d^2 matrix elements that reach the logits. The rank is d^2 if the
            map is the trace, and less if neurons hold only a part of the representation. A direction counts if its
            singular value is at least `LEAST_DIRECTION` of the largest.
    """

    share: float
    rank: int


@checked
def group_readoff(
    means: Float[Tensor, "element neuron"], W_L: Float[Tensor, "neuron output"], task: Group, rho: Irrep
) -> GroupReadoff:
    """Measure how the matrix elements of rho(a b), fitted to the neurons by least squares, become logits.

    The mean of the map over outputs is subtracted.

    Args:
        means: mean of every neuron over the pairs of each product, from `products.mean_by_product`.
    Source: Chughtai et al. 2023, section 5.4.
    """
    fitted = rho.dim / task.n * torch.einsum("gij,gm->ijm", rho.matrices, means.double().cpu())
    found = (fitted @ W_L.double().cpu()).permute(2, 0, 1)
    found = found - found.mean(dim=0)
    along = (found * rho.matrices).sum() ** 2 / rho.matrices.square().sum()  # rho(c^-1)_ji is rho(c)_ij
    singular = torch.linalg.svdvals(found.flatten(1))
    return GroupReadoff(float(along / found.square().sum()), int((singular > LEAST_DIRECTION * singular[0]).sum()))
