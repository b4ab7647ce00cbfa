"""Replace neurons by their means over cosets and, as a control, over other sets of the same size."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.groups.subgroups import CONSTANT, distinct_partitions
from modinterp.tasks import Group

Partitions = Sequence[Int[Tensor, " element"]]


@checked
def coset_partitions(x: Float[Tensor, "element neuron"], task: Group, least: float = CONSTANT) -> Partitions:
    """For each function on a group the number of every element's coset, of the largest subgroup that it is constant on.

    Where a function is not constant on the cosets of any proper subgroup, every element is a set of its own.

    Args:
        least: share of a function's variance that the means over cosets must be.
    """
    own, found = distinct_partitions(x, task, least)
    return [found[place] for place in own]


@checked
def shuffled(partitions: Partitions, seed: int = 0) -> Partitions:
    """A control: the same coset sizes, with the elements exchanged by one random permutation."""
    if not partitions:
        raise ValueError("partitions must hold one for each function, got none")
    order = torch.randperm(len(partitions[0]), generator=torch.Generator().manual_seed(seed))
    return [one[order] for one in partitions]


@checked
def coset_means(
    post: Float[Tensor, "a b neuron"], first: Partitions, second: Partitions
) -> Float[Tensor, "a b neuron"]:
    """Every neuron with its mean over pairs of sets in place of its value at each pair.

    Args:
        post: neurons after their nonlinearity.
        first, second: for each neuron the number of every element's set, as a and as b.
    """
    means = torch.empty_like(post)
    for k, (of_a, of_b) in enumerate(zip(first, second, strict=True)):
        cell = (of_a[:, None] * (int(of_b.max()) + 1) + of_b).flatten()
        count = torch.bincount(cell).clamp(min=1)
        total = torch.zeros(len(count), dtype=post.dtype).index_add(0, cell, post[..., k].flatten())
        means[..., k] = (total / count)[cell].view(post.shape[:2])
    return means
