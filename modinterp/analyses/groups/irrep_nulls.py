"""Compute null distributions for shares of representations, from networks and matrices without group structure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.groups.characters import quotients, similarities
from modinterp.analyses.groups.group_transforms import energies
from modinterp.analyses.groups.irreps import Irrep
from modinterp.analyses.network.nulls import Nulls, matrices_without_structure, nulls_by_statistic, renamings
from modinterp.tasks import Group

STRONGEST = "energy of the strongest"


@checked
def separation(W_L: Float[Tensor, "feature output"], irreps: Sequence[Irrep], count: int) -> dict[str, float]:
    """Return `energy of the strongest`: the share of a matrix in its `count` strongest representations.

    The trivial representation, which is the mean of each row, is left out.

    Args:
        W_L: matrix whose columns belong to the elements.
        irreps: all irreducible real representations of the group, the trivial one first.
    """
    energy = energies(W_L.T, irreps[1:]).sum(dim=1)
    total = float(energy.sum())
    return {STRONGEST: float(energy.topk(min(count, len(energy))).values.sum()) / total if total > 0 else float("nan")}


@checked
def spectrum_nulls(
    W_L: Float[Tensor, "feature output"],
    irreps: Sequence[Irrep],
    count: int,
    at_start: Iterable[Float[Tensor, "feature output"]] | None,
    draws: int = 199,
    seed: int = 0,
) -> Nulls:
    """Measure how clearly representations stand out of the map to logits, compared with three null distributions.

    Args:
        W_L: the matrix that makes the logits, usually from the neurons.
        irreps: all irreducible real representations of the group, the trivial one first.
        count: number of key representations.
        at_start: matrices `W_L` of untrained networks of the same architecture; None if there are none.
        draws, seed: number and seed of the samples from the other two null distributions.
    """
    drawn = matrices_without_structure(W_L, at_start, draws, seed)
    samples = {name: (separation(w, irreps, count) for w in sample) for name, sample in drawn.items()}
    observed = separation(W_L, irreps, count)
    return Nulls(tuple(null for name, rows in samples.items() for null in nulls_by_statistic(name, observed, rows)))


@checked
def renamed_similarities(
    logits: Float[Tensor, "a b output"], task: Group, irreps: Sequence[Irrep], draws: int = 39, seed: int = 0
) -> Float[Tensor, "draw irrep"]:
    """Return the similarities of logits and characters after relabelling the elements at random, which removes
    structure.
    """
    where, found = quotients(task).to(logits.device), []
    for order in renamings(task.n, draws, seed):
        order = order.to(logits.device)
        found.append(similarities(logits, task, irreps, where[order][:, order][:, :, order]))
    return torch.stack(found)
