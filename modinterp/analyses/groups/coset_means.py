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
    """Return, for each function on a group, the partition into cosets of the largest subgroup on which it is constant.

    If a function is not constant on the cosets of any proper subgroup, every element is a set of its own.

    Args:
        least: smallest share of a function's variance that the means over cosets must explain.
    """
    own, found = distinct_partitions(x, task, least)
    return [found[place] for place in own]


@checked
def shuffled(partitions: Partitions, seed: int = 0) -> Partitions:
    """Return a control partition: sets of the same sizes, with the elements permuted at random."""
    if not partitions:
        raise ValueError("partitions must contain one partition for each function, got none")
    order = torch.randperm(len(partitions[0]), generator=torch.Generator().manual_seed(seed))
    return [one[order] for one in partitions]


@checked
def coset_means(
    post: Float[Tensor, "a b neuron"], first: Partitions, second: Partitions
) -> Float[Tensor, "a b neuron"]:
    """Replace the value of every neuron at each pair by its mean over a pair of sets.

    Args:
        post: neurons after their nonlinearity.
        first, second: for each neuron, the index of every element's set, for the first and the second operand.
    """
    means = torch.empty_like(post)
    for k, (of_a, of_b) in enumerate(zip(first, second, strict=True)):
        cell = (of_a[:, None] * (int(of_b.max()) + 1) + of_b).flatten()
        count = torch.bincount(cell).clamp(min=1)
        total = torch.zeros(len(count), dtype=post.dtype).index_add(0, cell, post[..., k].flatten())
        means[..., k] = (total / count)[cell].view(post.shape[:2])
    return means
