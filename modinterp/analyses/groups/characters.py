"""Compare logits with characters: the algorithm reads c = a b off the largest chi(a b c^-1)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.groups.irreps import Irrep
from modinterp.tasks import Group

KEY_SIMILARITY = 0.005  # of the released code of Chughtai et al. 2023


@checked
def quotients(task: Group) -> Int[Tensor, "a b output"]:
    """Return the index of the element a b c^-1 for every pair (a, b) and every answer c."""
    return task.table[task.table][:, :, task.inverses]


@checked
def conjugacy_classes(task: Group) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the elements of each conjugacy class, x^-1 g x for all x; the neutral element's class is
    first.

    A character is constant on each conjugacy class.

    >>> [len(members) for members in conjugacy_classes(Group("S4"))]
    [1, 3, 6, 6, 8]
    """
    x = torch.arange(task.n)
    conjugates = task.table[task.table[task.inverses], x[:, None]]  # [x, g]
    found = {tuple(column.unique().tolist()) for column in conjugates.T}
    return tuple(sorted(found, key=lambda members: (task.identity not in members, len(members), members)))


@checked
def character_cube(rho: Irrep, task: Group) -> Float[Tensor, "a b output"]:
    """Return the cube chi(a b c^-1) of a character, largest at c = a b; cubes of different representations are
    orthogonal.
    """
    return rho.character[quotients(task)]


@checked
def sums_by_quotient(
    logits: Float[Tensor, "a b output"], where: Int[Tensor, "a b output"]
) -> Float[Tensor, " element"]:
    """Return the sum of the centred logits over all n^2 triples (a, b, c) with the same a b c^-1."""
    centred = logits.double() - logits.double().mean(dim=-1, keepdim=True)
    sums = torch.zeros(logits.shape[-1], dtype=torch.float64, device=logits.device)
    return sums.index_add(0, where.flatten(), centred.flatten())


@checked
def mean_by_quotient(logits: Float[Tensor, "a b output"], task: Group) -> Float[Tensor, " element"]:
    """Return the mean centred logit over all triples (a, b, c) with the same a b c^-1, for every element."""
    return sums_by_quotient(logits, quotients(task).to(logits.device)) / task.n**2


def _characters(task: Group, irreps: Sequence[Irrep]) -> Float[Tensor, "irrep element"]:
    return torch.stack([rho.character for rho in irreps]) if irreps else torch.zeros(0, task.n, dtype=torch.float64)


@checked
def similarities(
    logits: Float[Tensor, "a b output"],
    task: Group,
    irreps: Sequence[Irrep],
    where: Int[Tensor, "a b output"] | None = None,
) -> Float[Tensor, " irrep"]:
    """Return the cosine between the centred logits and the cube of each character; 0 for the trivial representation.

    The squared cosines add up to the share of the logits' variance that characters explain.

    Args:
        where: the result of `quotients(task)`, if it is already computed.
    Source: Chughtai et al. 2023, section 5.1.
    """
    where = (quotients(task) if where is None else where).to(logits.device)
    sums = sums_by_quotient(logits, where)
    centred = (logits.double() - logits.double().mean(dim=-1, keepdim=True)).norm()
    characters = _characters(task, irreps).to(logits.device)
    return (characters @ sums) / (characters.norm(dim=1) * task.n * centred)


@checked
def key_irreps(
    found: Float[Tensor, " irrep"], irreps: Sequence[Irrep], least: float = KEY_SIMILARITY
) -> tuple[Irrep, ...]:
    """Return the key representations, whose similarity exceeds a bound."""
    return tuple(rho for rho, x in zip(irreps, found.tolist(), strict=True) if x > least)


@checked
def fitted(logits: Float[Tensor, "a b output"], task: Group, irreps: Sequence[Irrep]) -> Float[Tensor, " irrep"]:
    """Return the least-squares coefficients of the logits on the cubes of characters."""
    sums = sums_by_quotient(logits, quotients(task).to(logits.device))
    characters = _characters(task, irreps).to(logits.device)
    return (characters @ sums) / (task.n**2 * characters.square().sum(dim=1))


@checked
def formula(factors: Float[Tensor, " irrep"], irreps: Sequence[Irrep], task: Group) -> Float[Tensor, "a b output"]:
    """Return the logits of the formula: the sum of cubes of characters with the given coefficients."""
    return (factors.double().cpu() @ _characters(task, irreps))[quotients(task)]
