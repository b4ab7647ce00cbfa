"""How the matrix elements of rho(a b) in the neurons become logits."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.groups.irreps import Irrep
from modinterp.analyses.groups.products import mean_by_product
from modinterp.tasks import Group


def readoff_share(
    post: Float[Tensor, "a b neuron"], W_L: Float[Tensor, "neuron output"], task: Group, rho: Irrep
) -> float:
    """Share of the map from matrix elements of rho(a b) in the neurons to logits that is tr rho(a b) rho(c^-1).

    The neurons are fitted by the matrix elements (least squares); the mean of the map over outputs is taken out.

    Source: Chughtai et al. 2023, section 5.4.
    """
    means = mean_by_product(post, task).cpu()
    fitted = rho.dim / task.n * torch.einsum("gij,gm->ijm", rho.matrices, means)
    found = (fitted @ W_L.double().cpu()).permute(2, 0, 1)
    found = found - found.mean(dim=0)
    along = (found * rho.matrices).sum() ** 2 / rho.matrices.square().sum()  # rho(c^-1)_ji is rho(c)_ij
    return float(along / found.square().sum())
