"""Compute the irreducible real representations of any finite group from its regular representation."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.tasks.group_tables import check_group

_TRIES = 8


@checked
def regular_decomposition(table: Int[Tensor, "a b"]) -> list[Float[Tensor, "element d d"]]:
    """Return one copy of each irreducible real representation, as orthogonal matrices.

    A random symmetric matrix that commutes with all translations has, with probability 1, irreducible eigenspaces. Of
    several representations with one character, only one is returned.

    Args:
        table: index of each product a b, `[a, b]`.
    Raises:
        ValueError: the table is not a group's; eigenvalues lie too close together in each of several random attempts.
    """
    n = len(table)
    check_group(table, tuple(map(str, range(n))))
    unit = int((table.diagonal() == torch.arange(n)).nonzero()[0])
    inverse = (table == unit).int().argmax(dim=1)
    quotient = table[inverse]  # [x, g] is x^-1 g
    conjugate = table[quotient, torch.arange(n)[:, None]]  # [x, g] is x^-1 g x
    for seed in range(_TRIES):
        spaces = _eigenspaces(quotient, inverse, seed)
        distinct: list[tuple[Tensor, Tensor]] = []
        for space in spaces:
            character = (space @ space[unit])[conjugate].sum(dim=0)
            if not any((character - other).abs().max() < 1e-6 for other, _ in distinct):
                distinct.append((character, space))
        squares = [float(character.square().mean()) for character, _ in distinct]
        ranks = [space.shape[1] ** 2 / square for (_, space), square in zip(distinct, squares, strict=True)]
        if all(abs(s - round(s)) < 1e-6 and round(s) in (1, 2, 4) for s in squares) and abs(sum(ranks) - n) < 1e-6:
            return [_matrices(space, table, inverse) for _, space in distinct]
    raise ValueError(f"the representations of this group of order {n} could not be distinguished numerically")


def _eigenspaces(quotient: Tensor, inverse: Tensor, seed: int) -> list[Float[Tensor, "element d"]]:
    coefficients = torch.randn(len(quotient), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    values, vectors = torch.linalg.eigh((coefficients + coefficients[inverse])[quotient])
    breaks = (values.diff() > 1e-8 * float(values.abs().max())).nonzero().flatten() + 1
    return list(vectors.tensor_split(breaks.tolist(), dim=1))


def _matrices(space: Float[Tensor, "element d"], table: Tensor, inverse: Tensor) -> Float[Tensor, "element d d"]:
    """Return the matrices of the translations (L_g f)(x) = f(g^-1 x) in an orthonormal basis of functions."""
    return torch.stack([space.T @ space[table[g]] for g in inverse])
