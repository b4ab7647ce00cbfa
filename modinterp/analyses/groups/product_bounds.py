"""Prove from weights and cosets a lower bound on the products that a one-hidden-layer network answers correctly.

A neuron whose two inputs are constant on cosets has one value for each pair of cosets. Neurons with the same two
partitions share a table from pairs of cosets to logits. The logits of a pair are a sum of one entry from each table.
The sum over all neurons therefore has one term for each pair of partitions, not one for each neuron. A ReLU changes by
no more than its input. The distance of the inputs from their coset means therefore bounds the distance of the logits
from the coset sums, for all pairs at once. A pair is proven if the correct logit exceeds all others by more than this
bound.

The reading by cosets is that of Stander et al. 2023; bounds of such networks are in Wu et al. 2024.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.groups.subgroups import distinct_partitions
from modinterp.tasks import Group

ROUNDING = 1e-9  # a margin below this is no proof [nats]


@dataclass(frozen=True)
class ProductBound:
    """A proven lower bound on the share of products that a network answers correctly.

    Attributes:
        proven: number of pairs whose answer is proven right.
        pairs: number of all pairs.
        operations: number of multiplications and additions in the proof, after the partitions are known.
        by_trying: number of operations for running the network on all pairs.
        tables: number of tables; neurons with the same partitions share a table.
        slack: mean over answers of the largest possible error of a margin. [nats]
    """

    proven: int
    pairs: int
    operations: int
    by_trying: int
    tables: int
    slack: float

    @property
    def accuracy(self) -> float:
        """Share of the pairs whose answer is proven right, in [0, 1]."""
        return self.proven / self.pairs


def _means(x: Float[Tensor, "element neuron"], coset: Int[Tensor, " element"]) -> Float[Tensor, "coset neuron"]:
    """Return the midpoint of the smallest and the largest value on every coset."""
    index = coset[:, None].expand(-1, x.shape[1])
    start = torch.zeros(int(coset.max()) + 1, x.shape[1], dtype=x.dtype)
    high, low = (start.scatter_reduce(0, index, x, how, include_self=False) for how in ("amax", "amin"))
    return (high + low) / 2


@checked
def product_bound(
    first: Float[Tensor, "element neuron"],
    second: Float[Tensor, "element neuron"],
    W_L: Float[Tensor, "neuron output"],
    task: Group,
    least: float = 0.999,
) -> ProductBound:
    """Return a sound lower bound on the accuracy of ReLU(first[a] + second[b]) W_L over all pairs.

    Args:
        first, second: input of each neuron from the first and from the second element; biases may be in either.
        W_L: map from neurons to logits.
        least: share of a neuron's input variance, from either element, above which the input counts as constant on
            cosets; larger values take more operations and leave less slack. The default was chosen on two networks on
            A5. With `least` 0.95, 0.3% and 99.9% of their pairs are proven; with 0.99 and 0.999, all pairs are proven.
    """
    first, second, W_L = (x.detach().double().cpu() for x in (first, second, W_L))
    n, neurons = first.shape
    (own_a, cosets_a), (own_b, cosets_b) = (distinct_partitions(x, task, least) for x in (first, second))
    logits, error = torch.zeros(n, n, n, dtype=torch.float64), torch.zeros(neurons, dtype=torch.float64)
    operations = 2 * n * n * neurons  # the slack of every two answers
    families = sorted(set(zip(own_a, own_b, strict=True)))
    for i, j in families:
        chosen = torch.tensor([k for k in range(neurons) if (own_a[k], own_b[k]) == (i, j)])
        a, b = _means(first[:, chosen], cosets_a[i]), _means(second[:, chosen], cosets_b[j])
        for x, mean, coset in ((first, a, cosets_a[i]), (second, b, cosets_b[j])):
            error[chosen] += (x[:, chosen] - mean[coset]).abs().amax(dim=0)
        table = (a[:, None] + b).clamp(min=0) @ W_L[chosen]  # [coset of a, coset of b, answer]
        logits += table[cosets_a[i]][:, cosets_b[j]]
        operations += 2 * len(a) * len(b) * len(chosen) * n + n**3
    slack = torch.stack([(error[:, None] * (W_L - W_L[:, [c]]).abs()).sum(dim=0) for c in range(n)])
    proven, answers = 0, torch.arange(n)
    for row, labels in zip(logits, task.table, strict=True):
        lead = row[answers, labels][:, None] - row - slack[labels]
        proven += int((lead.scatter(1, labels[:, None], torch.inf) > ROUNDING).all(dim=1).sum())
    return ProductBound(proven, n * n, operations, 2 * n**3 * neurons, len(families), float(slack.mean()))
