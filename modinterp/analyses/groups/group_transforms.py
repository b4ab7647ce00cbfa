"""Compute the Fourier transform over a finite group, in an orthonormal real basis of matrix elements.

For a cyclic group, the transform equals `modinterp.analyses.fourier.transforms`, wave by wave.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.groups.irreps import Irrep


@checked
def group_basis(irreps: Sequence[Irrep]) -> Float[Tensor, "component element"]:
    """Return an orthonormal basis of functions on a group from the matrix elements of representations, one after
    another.

    Raises:
        ValueError: no representation is given.
    """
    if not irreps:
        raise ValueError("irreps must contain at least one representation, got none")
    return torch.cat([rho.span for rho in irreps])


@checked
def transform(x: Float[Tensor, "element *rest"], irreps: Sequence[Irrep]) -> Float[Tensor, "component *rest"]:
    """Return the coefficients of functions on a group in `group_basis`; with all representations, the sum of squares is
    preserved.
    """
    return torch.tensordot(group_basis(irreps).to(x.device), x.double(), dims=1)


@checked
def inverse(coefficients: Float[Tensor, "component *rest"], irreps: Sequence[Irrep]) -> Float[Tensor, "element *rest"]:
    """Return the functions on a group that have the given coefficients in `group_basis`."""
    return torch.tensordot(group_basis(irreps).T.to(coefficients.device), coefficients.double(), dims=1)


@checked
def fourier_matrix(x: Float[Tensor, " element"], rho: Irrep) -> Float[Tensor, "d d"]:
    """Return the Fourier transform of a function at a representation, the sum of x(g) rho(g); convolutions become
    products.
    """
    return torch.einsum("g,gij->ij", x.double(), rho.matrices)


@checked
def from_fourier_matrices(
    matrices: Sequence[Float[Tensor, "_ _"]], irreps: Sequence[Irrep]
) -> Float[Tensor, " element"]:
    """Return the function with a given transform at every representation; this is the inverse of `fourier_matrix`.

    Raises:
        ValueError: there is not exactly one matrix of the right dimension for each representation.
    """
    wanted, shapes = [(rho.dim, rho.dim) for rho in irreps], [tuple(x.shape) for x in matrices]
    if wanted != shapes or not irreps:
        raise ValueError(f"the shapes of the matrices must be those of the representations, {wanted}, got {shapes}")
    parts = [
        rho.dim / (rho.multiplicity * len(rho.matrices)) * torch.einsum("gij,ij->g", rho.matrices, x.double())
        for rho, x in zip(irreps, matrices, strict=True)
    ]
    return torch.stack(parts).sum(dim=0)


@checked
def part_in(x: Float[Tensor, "element *rest"], irreps: Sequence[Irrep]) -> Float[Tensor, "element *rest"]:
    """Return the part of functions on a group in some representations, the sum of their isotypic projections."""
    return inverse(transform(x, irreps), irreps) if irreps else torch.zeros_like(x, dtype=torch.float64)


@checked
def energies(x: Float[Tensor, "element *rest"], irreps: Sequence[Irrep]) -> Float[Tensor, "irrep *rest"]:
    """Return the sum of squares of functions on a group in each representation."""
    squares = transform(x, irreps).square().split([rho.rank for rho in irreps])
    return torch.stack([part.sum(dim=0) for part in squares])


@checked
def energy_shares(x: Float[Tensor, "element *rest"], irreps: Sequence[Irrep]) -> Float[Tensor, " irrep"]:
    """Return the share of a matrix's energy in each representation, without centring; rows belong to the elements.

    Source: Chughtai et al. 2023, section 5.2 (its fraction of variance explained of embedding and unembedding).
    """
    return energies(x, irreps).flatten(1).sum(dim=1) / x.double().square().sum()
