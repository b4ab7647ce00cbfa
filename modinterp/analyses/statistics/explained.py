"""Compute fractions of variance explained, shares of energy, and least-squares fits (definition D4)."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked

ROUNDING = 1e-7  # norm of what varies over that of the whole, at most, where it is rounding; weights are float32


@checked
def fraction_explained(y: Float[Tensor, "*input"], fit: Float[Tensor, "*input"]) -> float:
    """Return the fraction of variance explained: 1 - sum (y - fit)^2 / sum (y - mean y)^2 over all entries; NaN for
    constant y.

    >>> fraction_explained(torch.tensor([0.0, 4.0]), torch.tensor([1.0, 3.0]))
    0.75
    """
    y, fit = y.double(), fit.double()
    about = y - y.mean()
    return float(1 - (y - fit).square().sum() / about.square().sum()) if varies(about, y) else float("nan")


@checked
def varies(rest: Float[Tensor, "*rest"], whole: Float[Tensor, "*whole"]) -> bool:
    """Return True if a residual of a tensor, such as its distance from its mean, exceeds the rounding of float32.

    >>> varies(torch.tensor([1e-9, -1e-9]), torch.tensor([1.0, 1.0]))
    False
    """
    return bool(rest.double().norm() > ROUNDING * whole.double().norm())


@checked
def fraction_explained_by_column(y: Float[Tensor, "*input output"], fit: Float[Tensor, "*input output"]) -> float:
    """Return the fraction of variance explained of all columns together, each about its own mean; NaN for constant
    columns.
    """
    y, fit = y.double().flatten(0, -2), fit.double().flatten(0, -2)
    about = y - y.mean(dim=0)
    return 1 - energy_share(y - fit, about) if varies(about, y) else float("nan")


@checked
def energy_share(part: Tensor, whole: Tensor) -> float:
    """Return the share of energy: the sum of squares of a part over the sum of squares of the whole; NaN for a whole of
    zeros.

    >>> energy_share(torch.tensor([1.0]), torch.tensor([1.0, 1.0, 1.0, 1.0]))
    0.25
    """
    total = whole.double().square().sum()
    return float(part.double().square().sum() / total) if total > 0 else float("nan")


@checked
def least_squares(
    regressors: Float[Tensor, "input component"], y: Float[Tensor, " input"]
) -> tuple[Float[Tensor, " component"], Float[Tensor, " input"]]:
    """Return the coefficients of ordinary least squares of y on the regressors, without intercept, and the values of
    the fit.
    """
    X = regressors.double()
    coefficients = torch.linalg.lstsq(X, y.double().unsqueeze(1), driver="gelsd" if X.device.type == "cpu" else None)
    solution = coefficients.solution[:, 0]
    return solution, X @ solution


@checked
def affine_fit(x: Float[Tensor, "*input d"], y: Float[Tensor, "*input output"]) -> Float[Tensor, "*input output"]:
    """Return the values of the affine function of x that fits y best by least squares over all inputs."""
    rows = x.double().flatten(0, -2)
    with_one = torch.cat([rows, torch.ones_like(rows[:, :1])], dim=1)
    # by the pseudo-inverse: what a network reads in need not have full rank
    return (with_one @ (torch.linalg.pinv(with_one) @ y.double().flatten(0, -2))).view_as(y)
