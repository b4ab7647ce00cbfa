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
    """The number of a b c^-1 for every pair and every answer c."""
    return task.table[task.table][:, :, task.inverses]


@checked
def conjugacy_classes(task: Group) -> tuple[tuple[int, ...], ...]:
    """The numbers of the elements of each conjugacy class, x^-1 g x for all x, the neutral element's first.

    A character has one value on each.

    >>> [len(members) for members in conjugacy_classes(Group("S4"))]
    [1, 3, 6, 6, 8]
    """
    x = torch.arange(task.n)
    conjugates = task.table[task.table[task.inverses], x[:, None]]  # [x, g]
    found = {tuple(column.unique().tolist()) for column in conjugates.T}
    return tuple(sorted(found, key=lambda members: (task.identity not in members, len(members), members)))


@checked
def character_cube(rho: Irrep, task: Group) -> Float[Tensor, "a b output"]:
    """chi(a b c^-1), largest where c = a b; cubes of different representations are orthogonal."""
    return rho.character[quotients(task)]


@checked
def sums_by_quotient(
    logits: Float[Tensor, "a b output"], where: Int[Tensor, "a b output"]
) -> Float[Tensor, " element"]:
    """Sum of the logits, each pair's mean taken out, over all places with the same a b c^-1, which are n^2 each."""
    centred = logits.double() - logits.double().mean(dim=-1, keepdim=True)
    sums = torch.zeros(logits.shape[-1], dtype=torch.float64, device=logits.device)
    return sums.index_add(0, where.flatten(), centred.flatten())


@checked
def mean_by_quotient(logits: Float[Tensor, "a b output"], task: Group) -> Float[Tensor, " element"]:
    """Mean logit of the answers c with a b c^-1 the same, each pair's mean taken out, at every element."""
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
    """Cosine of the logits, each pair's mean taken out, and the cube of each character; 0 of the trivial one.

    The squared cosines add up to the share of the logits' variance that characters explain.

    Args:
        where: `quotients(task)`, where it is at hand.
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
    """The representations whose similarity exceeds a bound."""
    return tuple(rho for rho, x in zip(irreps, found.tolist(), strict=True) if x > least)


@checked
def fitted(logits: Float[Tensor, "a b output"], task: Group, irreps: Sequence[Irrep]) -> Float[Tensor, " irrep"]:
    """The factors of the cubes of characters, in the sum of them that is nearest to the logits."""
    sums = sums_by_quotient(logits, quotients(task).to(logits.device))
    characters = _characters(task, irreps).to(logits.device)
    return (characters @ sums) / (task.n**2 * characters.square().sum(dim=1))


@checked
def formula(factors: Float[Tensor, " irrep"], irreps: Sequence[Irrep], task: Group) -> Float[Tensor, "a b output"]:
    """The sum of cubes of characters with these factors: logits by the formula."""
    return (factors.double().cpu() @ _characters(task, irreps))[quotients(task)]
