"""The Fourier transform over a finite group, in an orthonormal real basis of matrix elements of its representations.

For a cyclic group it is that of `modinterp.analyses.fourier.transforms`, wave by wave.
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
    """The orthonormal basis of all functions on a group that representations give, one after another.

    Raises:
        ValueError: no representation.
    """
    if not irreps:
        raise ValueError("irreps must hold a representation, got none")
    return torch.cat([rho.span for rho in irreps])


@checked
def transform(x: Float[Tensor, "element *rest"], irreps: Sequence[Irrep]) -> Float[Tensor, "component *rest"]:
    """Coefficients of functions on a group in `group_basis`; with all representations the sum of squares stays."""
    return torch.tensordot(group_basis(irreps).to(x.device), x.double(), dims=1)


@checked
def inverse(coefficients: Float[Tensor, "component *rest"], irreps: Sequence[Irrep]) -> Float[Tensor, "element *rest"]:
    """The functions on a group that have the given coefficients in `group_basis`."""
    return torch.tensordot(group_basis(irreps).T.to(coefficients.device), coefficients.double(), dims=1)


@checked
def fourier_matrix(x: Float[Tensor, " element"], rho: Irrep) -> Float[Tensor, "d d"]:
    """The Fourier transform of a function at a representation, the sum of x(g) rho(g); convolutions become products."""
    return torch.einsum("g,gij->ij", x.double(), rho.matrices)


@checked
def from_fourier_matrices(
    matrices: Sequence[Float[Tensor, "_ _"]], irreps: Sequence[Irrep]
) -> Float[Tensor, " element"]:
    """The function whose transform at every representation is given, the inverse of `fourier_matrix`.

    Raises:
        ValueError: not exactly one matrix of the right dimension for each representation.
    """
    wanted, shapes = [(rho.dim, rho.dim) for rho in irreps], [tuple(x.shape) for x in matrices]
    if wanted != shapes or not irreps:
        raise ValueError(f"matrices must have the shapes of the representations, {wanted}, got {shapes}")
    parts = [
        rho.dim / (rho.multiplicity * len(rho.matrices)) * torch.einsum("gij,ij->g", rho.matrices, x.double())
        for rho, x in zip(irreps, matrices, strict=True)
    ]
    return torch.stack(parts).sum(dim=0)


@checked
def part_in(x: Float[Tensor, "element *rest"], irreps: Sequence[Irrep]) -> Float[Tensor, "element *rest"]:
    """The part of functions on a group that lies in some representations: their isotypic projections, added."""
    return inverse(transform(x, irreps), irreps) if irreps else torch.zeros_like(x, dtype=torch.float64)


@checked
def energies(x: Float[Tensor, "element *rest"], irreps: Sequence[Irrep]) -> Float[Tensor, "irrep *rest"]:
    """Sum of squares of functions on a group in each representation."""
    squares = transform(x, irreps).square().split([rho.rank for rho in irreps])
    return torch.stack([part.sum(dim=0) for part in squares])


@checked
def energy_shares(x: Float[Tensor, "element *rest"], irreps: Sequence[Irrep]) -> Float[Tensor, " irrep"]:
    """Share of the energy of a matrix, whose rows belong to the elements, in each representation; not centred.

    Source: Chughtai et al. 2023, section 5.2 (its fraction of variance explained of embedding and unembedding).
    """
    return energies(x, irreps).flatten(1).sum(dim=1) / x.double().square().sum()
