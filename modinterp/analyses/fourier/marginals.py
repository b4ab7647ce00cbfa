"""Sum functions of (a, b) over b, over a, over all pairs with the same a + b, and over all pairs with the same a - b.

Linear terms and products of one frequency are sums of waves of a, of b, of a + b and of a - b. Their energies therefore
follow from four sums with p values each. A 2D transform would need p times as many multiplications.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from modinterp.activations.blocks import factors_of, row_blocks
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.transforms import transform
from modinterp.analyses.printing import printable

COLUMNS = 128  # functions at a time


@printable
@dataclass(frozen=True)
class Marginals:
    """Sums of centred functions of (a, b) over one variable at a time, in float64.

    Attributes:
        of_a, of_b: the sum over b as a function of a, and the sum over a as a function of b.
        of_sum, of_difference: sums over all pairs with the same a + b mod p, and over all pairs with the same b - a mod
            p.
        energy: sum of the squares over all pairs.
        mean: mean over all pairs.
    """

    of_a: Float64[Tensor, "a *rest"]
    of_b: Float64[Tensor, "b *rest"]
    of_sum: Float64[Tensor, "sum *rest"]
    of_difference: Float64[Tensor, "difference *rest"]
    energy: Float64[Tensor, " *rest"]
    mean: Float64[Tensor, " *rest"]

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Marginals:
        """Return the sums after applying a linear map to every tensor."""
        return Marginals(**{name: change(sums) for name, sums in vars(self).items()})

    @property
    def linear(self) -> Float64[Tensor, "freq *rest"]:
        """Return the energy in waves of a alone and of b alone, by frequency; entry k - 1 belongs to frequency k."""
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
        """True for each function that varies only by rounding."""
        return ~(self.energy > 1e-20 * len(self.of_a) ** 2 * self.mean.square() + 1e-300)


def _energies(sums: Float64[Tensor, "x *rest"]) -> Float64[Tensor, "freq *rest"]:
    p = len(sums)
    squares = transform(sums)[1:].square() / p
    return torch.stack([squares[2 * k : 2 * k + 2].sum(dim=0) for k in range(p // 2)])


@checked
def marginals(x: Float[Tensor, "a b *rest"]) -> Marginals:
    """Sum centred functions of (a, b) over one variable at a time.

    Use `marginals` for energies of linear terms and of products of one frequency; `transform_2d` also has all other
    terms.

    Args:
        x: values for every pair (a, b), with any further axes.

    >>> a = torch.arange(5.0)
    >>> x = torch.cos(2 * torch.pi * (a[:, None] + 2 * a) / 5) + torch.cos(2 * torch.pi * (a[:, None] + a) / 5)
    >>> marginals(x).products.round(decimals=4).tolist(), round(float(marginals(x).energy), 4)
    ([12.5, 0.0], 25.0)
    """
    factors = factors_of(x)
    if factors is not None:
        return _of_product(*factors)
    shape = x.shape[2:]
    found, _ = _in_one_pass(x.reshape(*x.shape[:2], x[0, 0].numel()))
    return found.mapped(lambda sums: sums.view((*sums.shape[:-1], *shape)))


def _of_product(left: Float[Tensor, "a b inner"], right: Float[Tensor, "inner outer"]) -> Marginals:
    """Return the marginals of a product of a narrower tensor and a matrix, from sums and covariance of the narrower
    tensor.
    """
    W = right.double()
    found, covariance = _in_one_pass(left, with_covariance=True)
    energy = (W * (covariance @ W)).sum(dim=0).clamp(min=0)
    return replace(found.mapped(lambda sums: sums @ W), energy=energy)


def _in_one_pass(
    x: Float[Tensor, "a b n"], with_covariance: bool = False
) -> tuple[Marginals, Float64[Tensor, "some n"]]:
    """Return the marginals and, if requested, the sums over all pairs of products of two centred functions.

    The functions are processed in groups that fit into the processor's cache.
    """
    p, n = len(x), x.shape[2]
    centre = x[0].double().mean(dim=0)  # near the mean, so that little is taken off below
    ones, energy = centre.new_ones(p), torch.zeros_like(centre)
    of_a, of_b = centre.new_zeros(p, n), centre.new_zeros(p, n)
    of_sum, of_difference = centre.new_zeros(2 * p, n), centre.new_zeros(2 * p, n)  # two turns, added at the end
    products = centre.new_zeros(n if with_covariance else 0, n)
    columns = [slice(began, began + COLUMNS) for began in range(0, n, COLUMNS)]
    for rows in row_blocks(x.shape):
        block = x[rows]
        for some in columns:
            for a, of_pairs in enumerate(block[..., some], rows.start):
                row = of_pairs.double() - centre[some]
                of_a[a, some] = ones @ row  # a product with ones is a quicker sum
                of_b[:, some] += row
                of_sum[a : a + p, some] += row
                of_difference[p - a : 2 * p - a, some] += row
                energy[some] += ones @ row.square_()
        if with_covariance:
            about = block.double().flatten(0, 1) - centre
            products += about.T @ about
    of_sum, of_difference = (each.unflatten(0, (2, p)).sum(dim=0) for each in (of_sum, of_difference))
    off = of_b.mean(dim=0) / p  # the mean less the centre
    of_a, of_b, of_sum, of_difference = (sums - p * off for sums in (of_a, of_b, of_sum, of_difference))
    found = Marginals(of_a, of_b, of_sum, of_difference, energy - (p * off).square(), centre + off)
    return found, products - torch.outer(off, off)[: len(products)] * p**2
