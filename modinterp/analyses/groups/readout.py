"""How the matrix elements of rho(a b) in the neurons become logits."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.groups.irreps import Irrep
from modinterp.analyses.groups.products import mean_by_product
from modinterp.tasks import Group

LEAST_DIRECTION = 0.01  # of the largest singular value, above which a direction counts


def readoff_share(
    post: Float[Tensor, "a b neuron"], W_L: Float[Tensor, "neuron output"], task: Group, rho: Irrep
) -> float:
    """Share of the map from matrix elements of rho(a b) in the neurons to logits that is tr rho(a b) rho(c^-1).

    Source: Chughtai et al. 2023, section 5.4.
    """
    found = _readoff(post, W_L, task, rho)
    along = (found * rho.matrices).sum() ** 2 / rho.matrices.square().sum()  # rho(c^-1)_ji is rho(c)_ij
    return float(along / found.square().sum())


def readoff_rank(
    post: Float[Tensor, "a b neuron"], W_L: Float[Tensor, "neuron output"], task: Group, rho: Irrep
) -> int:
    """Independent directions, among the d^2 of the matrix elements of rho(a b), that the neurons pass on to the logits.

    All d^2 where the map is tr rho(a b) rho(c^-1); fewer where neurons hold only a part of the representation. A
    direction counts from `LEAST_DIRECTION` of the largest singular value of the map on.
    """
    singular = torch.linalg.svdvals(_readoff(post, W_L, task, rho).flatten(1))
    return int((singular > LEAST_DIRECTION * singular[0]).sum())


def _readoff(
    post: Float[Tensor, "a b neuron"], W_L: Float[Tensor, "neuron output"], task: Group, rho: Irrep
) -> Float[Tensor, "output row column"]:
    """What each matrix element of rho(a b) in the neurons adds to each logit, less the mean over logits.

    The neurons are fitted by the matrix elements (least squares).
    """
    means = mean_by_product(post, task).cpu()
    fitted = rho.dim / task.n * torch.einsum("gij,gm->ijm", rho.matrices, means)
    found = (fitted @ W_L.double().cpu()).permute(2, 0, 1)
    return found - found.mean(dim=0)
