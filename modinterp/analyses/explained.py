"""Fractions of variance explained, as everything else here means them (ledger D4)."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def fraction_explained(y: Tensor, fit: Tensor) -> float:
    """1 - sum (y - fit)^2 / sum (y - mean y)^2 over all entries; NaN where y does not vary."""
    y, fit = y.double(), fit.double()
    total = (y - y.mean()).square().sum()
    return float(1 - (y - fit).square().sum() / total) if total > 0 else float("nan")


def energy_share(part: Tensor, whole: Tensor) -> float:
    """Sum of squares of a part over that of the whole; NaN where the whole is zero."""
    total = whole.double().square().sum()
    return float(part.double().square().sum() / total) if total > 0 else float("nan")


def least_squares(
    regressors: Float[Tensor, "row term"], y: Float[Tensor, " row"]
) -> tuple[Float[Tensor, " term"], Float[Tensor, " row"]]:
    """Coefficients of ordinary least squares without intercept, and the fitted values."""
    X = regressors.double()
    coefficients = torch.linalg.lstsq(X, y.double().unsqueeze(1), driver="gelsd" if X.device.type == "cpu" else None)
    solution = coefficients.solution[:, 0]
    return solution, X @ solution
