"""Find subgroups of a finite group, and measure the share of a function that is constant on cosets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.printing import printable
from modinterp.tasks import Group

MOST_SUBGROUPS = 4096
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
CONSTANT = 0.95  # share of a function's variance, from which it counts as constant on cosets


@checked
@lru_cache(maxsize=8)
def subgroups(task: Group) -> tuple[frozenset[int], ...]:
    """Return all subgroups of a group, smallest first.

    The subgroups are found by joining cyclic subgroups until no new subgroup appears.

    Raises:
        ValueError: the group has more than 4,096 subgroups.
    """
    products = task.table.tolist()
    cyclic = {_generated({g}, products) for g in range(task.n)}
    found, last = set(cyclic), set(cyclic)
    while last:
        joined = {_generated(group | {min(c - {task.identity})}, products) if len(c) > 1 else group
                  for group in last for c in cyclic if not c <= group}  # fmt: skip
        last = joined - found
        found |= last
        if len(found) > MOST_SUBGROUPS:
            raise ValueError(
                f"{task.group} has more than {MOST_SUBGROUPS:,} subgroups, which are too many to enumerate"
            )
    return tuple(sorted(found, key=lambda group: (len(group), sorted(group))))


def _generated(some: set[int] | frozenset[int], products: Sequence[Sequence[int]]) -> frozenset[int]:
    """Return the subgroup that some elements generate."""
    reached, last = set(some), set(some)
    while last:
        last = {products[a][b] for a in last for b in some} - reached
        reached |= last
    return frozenset(reached)


@checked
def cosets(subgroup: frozenset[int], task: Group, side: Literal["left", "right"]) -> Int[Tensor, " element"]:
    """Return the index of the coset of every element, for `left` cosets g H or `right` cosets H g."""
    members = torch.tensor(sorted(subgroup))
    table = task.table if side == "left" else task.table.T
    return table[:, members].amin(dim=1).unique(return_inverse=True)[1]


@checked
def coset_share(x: Float[Tensor, "element feature"], coset: Int[Tensor, " element"]) -> Float[Tensor, " feature"]:
    """Return the share of each function's variance that its means over cosets explain; NaN for a constant function."""
    centred = x.double() - x.double().mean(dim=0)
    count = int(coset.max()) + 1
    sums = torch.zeros(count, x.shape[1], dtype=torch.float64, device=x.device).index_add(
        0, coset.to(x.device), centred
    )
    return count / len(x) * sums.square().sum(dim=0) / centred.square().sum(dim=0)


@printable
@dataclass(frozen=True)
class CosetFits:
    """The largest subgroup on whose cosets each function is constant.

    Attributes:
        order: order of the subgroup; 1 if there is no larger subgroup than the trivial one.
        side: `left` or `right` cosets of each function; empty without a subgroup.
        share: share of each function's variance that its means over the cosets explain.
        subgroup: the subgroup of each function.
    """

    order: Int[Tensor, " feature"]
    side: tuple[str, ...]
    share: Float[Tensor, " feature"]
    subgroup: tuple[frozenset[int], ...]


@checked
def coset_fits(x: Float[Tensor, "element feature"], task: Group, least: float = CONSTANT) -> CosetFits:
    """Find, for each function on a group, the largest proper subgroup on whose cosets the function is constant.

    Args:
        x: functions on the group, `[element, function]`.
        least: smallest share of the variance that the means over cosets must explain.
    Raises:
        ValueError: the group has more than 4,096 subgroups.
    Source: Stander et al. 2023, who find cosets in such networks.
    """
    features = x.shape[1]
    order, share = torch.ones(features, dtype=torch.long), torch.ones(features, dtype=torch.float64)
    side, members = [""] * features, [frozenset({task.identity})] * features
    for group in subgroups(task)[1:-1]:
        for which in _SIDES:
            shares = coset_share(x, cosets(group, task, which)).cpu()
            better = (shares >= least) & ((len(group) > order) | ((len(group) == order) & (shares > share)))
            for k in better.nonzero().flatten().tolist():
                order[k], share[k], side[k], members[k] = len(group), shares[k], which, group
    return CosetFits(order, tuple(side), share, tuple(members))


@checked
def distinct_partitions(
    x: Float[Tensor, "element feature"], task: Group, least: float = CONSTANT
) -> tuple[list[int], list[Int[Tensor, " element"]]]:
    """Return the distinct partitions into cosets, and for each function the index of its partition.

    A partition holds the index of each element's coset. A function's partition belongs to the largest subgroup on whose
    cosets the function is constant. Without such a subgroup, each element is a set of its own.

    Args:
        least: smallest share of a function's variance that the means over cosets must explain.
    """
    fits, own = coset_fits(x, task, least), []
    known: dict[tuple[str, frozenset[int]], int] = {}
    found: list[Tensor] = []
    for side, members in zip(fits.side, fits.subgroup, strict=True):
        if (side, members) not in known:
            known[side, members] = len(found)
            found.append(cosets(members, task, "right" if side == "right" else "left"))
        own.append(known[side, members])
    return own, found


@checked
def kernel(character: Float[Tensor, " element"], task: Group) -> frozenset[int]:
    """Return the elements that a representation maps to the identity matrix, found from its character."""
    same = (character - character[task.identity]).abs() < 1e-6
    return frozenset(same.nonzero().flatten().tolist())
