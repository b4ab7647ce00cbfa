"""Fit lines and polynomials to quantities that depend on a number, such as scores, and compute correlations."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.printing import printable


@printable
@dataclass(frozen=True, eq=False)
class Lines:
    """Least-squares lines slope x + intercept for values at the numbers x, one line for each trailing index of the
    values.

    Attributes:
        slope: change of the line from one number to the next.
        intercept: value of the line at the number 0.
        explained: R squared over the numbers of the fit; NaN if the values do not vary.
        first: the smallest number of the fit.
    """

    slope: Float[Tensor, "*rest"]
    intercept: Float[Tensor, "*rest"]
    explained: Float[Tensor, "*rest"]
    first: int

    @property
    def centre(self) -> Float[Tensor, "*rest"]:
        """The real number x at which each line is 0."""
        return -self.intercept / self.slope

    def at(self, numbers: int) -> Float[Tensor, "token *rest"]:
        """Return the values of the lines at the numbers 0, 1, ..., numbers - 1, including numbers below `first`."""
        x = torch.arange(numbers, dtype=torch.float64).view(-1, *([1] * self.slope.ndim))
        return x * self.slope + self.intercept

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each line: its indices, slope, intercept, centre and R squared."""
        columns = {"slope": self.slope, "intercept": self.intercept, "centre": self.centre, "R squared": self.explained}
        rank = self.slope.ndim
        names = ("position", "head")[2 - rank :] if rank <= 2 else ()
        index = torch.ones(self.slope.shape, dtype=torch.bool).nonzero()
        keys = {name: index[:, i].tolist() for i, name in enumerate(names)}
        return pd.DataFrame(keys | {name: x.flatten().tolist() for name, x in columns.items()})


@checked
def lines(y: Float[Tensor, "token *rest"], first: int = 0) -> Lines:
    """Fit least-squares lines to values at the numbers from `first` on, one line for each trailing index.

    Args:
        y: entry x of the first axis is the value at the number x.
    Raises:
        ValueError: fewer than 3 numbers are left, too few for a meaningful line.
    Source: "Circuit engineering", the linear regression of scores and of key and query dimensions.

    >>> line = lines(torch.tensor([1.0, 3.0, 5.0]))
    >>> float(line.slope), float(line.intercept), float(line.centre)
    (2.0, 1.0, -0.5)
    """
    x, own = torch.arange(first, len(y), dtype=torch.float64), y[first:].double()
    if len(x) < 3:
        raise ValueError(f"a line needs at least 3 numbers, got the numbers from {first} to {len(y) - 1}")
    about_x, about_y = x - x.mean(), own - own.mean(dim=0)
    slope = torch.tensordot(about_x, about_y, dims=1) / about_x.square().sum()
    rest = about_y - about_x.view(-1, *([1] * slope.ndim)) * slope
    return Lines(slope, own.mean(dim=0) - slope * x.mean(), _explained(rest, about_y), first)


@checked
def polynomial_explained(y: Float[Tensor, "token *rest"], degree: int, first: int = 0) -> Float[Tensor, "*rest"]:
    """Return R squared of the best polynomial for values at the numbers from `first` on, by trailing index.

    Args:
        y: entry x of the first axis is the value at the number x.
        degree: degree of the polynomial.
    Raises:
        ValueError: there are no more numbers than coefficients.
    Source: the report "Circuit engineering", its section on the sort's attention scores.
    """
    own = y[first:].double()
    if len(own) <= degree + 1:
        raise ValueError(
            f"a polynomial of degree {degree} fits any {len(own)} numbers exactly; give a lower degree or more numbers"
        )
    x = torch.linspace(-1, 1, len(own), dtype=torch.float64)
    basis = torch.linalg.qr(torch.stack([x**power for power in range(degree + 1)], dim=1)).Q
    flat = own.flatten(1) if own.ndim > 1 else own.unsqueeze(1)
    rest = flat - basis @ (basis.T @ flat)
    return _explained(rest, flat - flat.mean(dim=0)).view(own.shape[1:])


def _explained(rest: Tensor, about: Tensor) -> Tensor:
    """Return R squared along the first axis from residuals and centred values; NaN if the values do not vary."""
    total = about.square().sum(dim=0)
    return torch.where(total > 0, 1 - rest.square().sum(dim=0) / total, torch.nan)


@checked
def correlation(x: Float[Tensor, "*input"], y: Float[Tensor, "*input"]) -> float:
    """Return Pearson's correlation of two tensors of one shape over all entries; NaN if one tensor is constant."""
    x, y = (z.double() - z.double().mean() for z in (x, y))
    size = x.norm() * y.norm()
    return float((x * y).sum() / size) if size > 0 else float("nan")
