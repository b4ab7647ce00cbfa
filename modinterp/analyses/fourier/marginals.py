"""Sums of functions of (a, b) over one variable at a time: over b, over a, and over all pairs of one a + b or a - b.

Linear terms and products of one frequency are waves of a, of b, of a + b and of a - b alone. Their energies therefore
follow from four sums of p numbers, where a 2D transform takes p times as many multiplications.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.transforms import transform
from modinterp.analyses.printing import printable


@printable
@dataclass(frozen=True)
class Marginals:
    """Functions of (a, b), each about its mean, summed over one variable, in float64.

    Attributes:
        of_a, of_b: sums over the other number.
        of_sum, of_difference: sums over all pairs of one a + b mod p, and of one b - a mod p.
        energy: sum of the squares over all pairs.
        mean: mean over all pairs.
    """

    of_a: Float64[Tensor, "a *rest"]
    of_b: Float64[Tensor, "b *rest"]
    of_sum: Float64[Tensor, "sum *rest"]
    of_difference: Float64[Tensor, "difference *rest"]
    energy: Float64[Tensor, " *rest"]
    mean: Float64[Tensor, " *rest"]

    @property
    def linear(self) -> Float64[Tensor, "freq *rest"]:
        """Energy in waves of a alone and of b alone, by frequency; entry k - 1 belongs to frequency k."""
        return _energies(self.of_a) + _energies(self.of_b)

    @property
    def products(self) -> Float64[Tensor, "freq *rest"]:
        """Energy in products of a wave of a and a wave of b of one frequency; entry k - 1 belongs to frequency k."""
        of_sum, of_difference = _energies(self.of_sum), _energies(self.of_difference)
        if len(self.of_a) % 2 == 0:
            of_difference[-1] = 0  # (-1)^(a + b) and (-1)^(a - b) are one wave
        return of_sum + of_difference

    @property
    def is_constant(self) -> torch.Tensor:
        """Whether each function varies by rounding alone."""
        return ~(self.energy > 1e-20 * len(self.of_a) ** 2 * self.mean.square() + 1e-300)


def _energies(sums: Float64[Tensor, "x *rest"]) -> Float64[Tensor, "freq *rest"]:
    p = len(sums)
    squares = transform(sums)[1:].square() / p
    return torch.stack([squares[2 * k : 2 * k + 2].sum(dim=0) for k in range(p // 2)])


@checked
def marginals(x: Float[Tensor, "a b *rest"]) -> Marginals:
    """Sums of functions of (a, b) over one variable at a time, each function about its mean.

    Use it for energies of linear terms and of products of one frequency; `transform_2d` has all other terms as well.

    Args:
        x: values for every pair (a, b), whatever the further axes.

    >>> a = torch.arange(5.0)
    >>> x = torch.cos(2 * torch.pi * (a[:, None] + 2 * a) / 5) + torch.cos(2 * torch.pi * (a[:, None] + a) / 5)
    >>> marginals(x).products.round(decimals=4).tolist(), round(float(marginals(x).energy), 4)
    ([12.5, 0.0], 25.0)
    """
    p, centre = len(x), x[0].double().mean(dim=0)  # near the mean, so that little is taken off below
    of_a, of_b, of_sum, of_difference = (centre.new_zeros(p, *centre.shape) for _ in range(4))
    energy = torch.zeros_like(centre)
    for a in range(p):
        row = x[a].double() - centre
        of_a[a] = row.sum(dim=0)
        of_b += row
        of_sum[a:] += row[: p - a]
        of_sum[:a] += row[p - a :]
        of_difference[: p - a] += row[a:]
        of_difference[p - a :] += row[:a]
        energy += row.square_().sum(dim=0)
    off = of_b.mean(dim=0) / p
    for each in (of_a, of_b, of_sum, of_difference):
        each -= p * off
    return Marginals(of_a, of_b, of_sum, of_difference, energy - (p * off).square(), centre + off)
