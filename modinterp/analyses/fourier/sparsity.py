"""Measure sparsity, how few Fourier components hold most of a matrix, with a Gini coefficient."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.transforms import component_norms
from modinterp.analyses.statistics.explained import varies


@checked
def gini(x: Float[Tensor, " component"]) -> float:
    """Return the Gini coefficient of n non-negative numbers: 0 if all are equal, 1 - 1/n if all but one are zero.

    G = 1 - 2 sum_i (x_(i) / sum x) (n - i + 1/2) / n over the sorted numbers. The coefficient is NaN if all numbers are
    zero.

    Raises:
        ValueError: a number is negative.
    Source: Hurley and Rickard 2009; Nanda et al. 2023, section 5.1 (definition D7).

    >>> gini(torch.tensor([0.0, 0.0, 0.0, 1.0]))
    0.75
    """
    ordered = x.double().sort().values
    if (ordered < 0).any():
        raise ValueError("the Gini coefficient is defined for non-negative numbers only")
    n, total = len(ordered), ordered.sum()
    rank = torch.arange(1, n + 1, dtype=torch.float64, device=x.device)
    return float(1 - 2 * (ordered / total * (n - rank + 0.5) / n).sum())


@checked
def fourier_gini(x: Float[Tensor, "a *rest"]) -> float:
    """Return the Gini coefficient of the norms of a matrix's Fourier components over its rows, without the constant.

    The coefficient is NaN if all rows are equal up to rounding.

    Args:
        x: any matrix whose rows belong to the residues mod p, such as W_E or W_L transposed.
    Source: Nanda et al. 2023, figure 7 bottom left (definition D7).
    """
    norms = component_norms(x)
    return gini(norms[1:]) if varies(norms[1:], norms) else float("nan")
