"""Find the representation of each neuron, and whether the neuron is constant on cosets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.groups.group_transforms import energies
from modinterp.analyses.groups.irreps import Irrep
from modinterp.analyses.groups.subgroups import CONSTANT, coset_fits, kernel
from modinterp.analyses.printing import printable
from modinterp.tasks import Group

DEAD = 0.01  # of the mean energy of all neurons, below which one is off


@printable
@dataclass(frozen=True)
class NeuronIrreps:
    """The strongest representation of each function on the group, such as the input of a neuron.

    Attributes:
        shares: share of each neuron's energy, about its mean, in each representation; NaN for a constant neuron.
        live: True for a neuron that varies noticeably, compared with the other neurons.
    """

    shares: Float[Tensor, "irrep neuron"]
    live: Bool[Tensor, " neuron"]

    @property
    def own(self) -> Int[Tensor, " neuron"]:
        """The index of each neuron's strongest representation."""
        return self.shares.nan_to_num(0).argmax(dim=0)

    @property
    def best(self) -> Float[Tensor, " neuron"]:
        """The share of the strongest representation of each function; NaN for a constant function."""
        return self.shares.amax(dim=0)

    def sizes(self, irreps: Sequence[Irrep]) -> dict[str, int]:
        """Return the number of live neurons of each representation, by its name; representations without neurons are
        left out.
        """
        counts = self.own[self.live].bincount(minlength=len(irreps)).tolist()
        return {rho.name: count for rho, count in zip(irreps, counts, strict=True) if count}


@checked
def neuron_irreps(x: Float[Tensor, "element neuron"], irreps: Sequence[Irrep]) -> NeuronIrreps:
    """Return the share of each centred column in each representation."""
    centred = x.double() - x.double().mean(dim=0)
    total = centred.square().sum(dim=0)
    return NeuronIrreps(energies(centred, irreps) / total, total > DEAD * total.mean())


@dataclass(frozen=True)
class CosetShare:
    """The share of functions that are constant on cosets beyond those that their representation forces.

    Attributes:
        share: share of the `tested` functions that are constant on cosets, in [0, 1].
        null: share of random functions of the same representations that are constant on cosets, which must be at
            least as large as those of the tested function.
        orders: map from the order of a subgroup to the number of functions that are constant on its cosets.
        tested: number of functions whose representation has more than one dimension.
    """

    share: float
    null: float
    orders: dict[int, int]
    tested: int


@checked
def coset_share_of_neurons(
    x: Float[Tensor, "element neuron"], task: Group, irreps: Sequence[Irrep], draws: int = 3, seed: int = 0
) -> CosetShare:
    """Return the share of live columns that are constant on cosets, and the same share for random functions.

    A function that lies in a representation is always constant on the cosets of its kernel, so these cosets do not
    count. Columns of one-dimensional representations do not count, since they are always constant on the cosets of
    their kernel.

    Raises:
        ValueError: the group has too many subgroups to test.
    Source: Stander et al. 2023 find cosets in networks on groups, Chughtai et al. 2023 find representations.
    """
    found = neuron_irreps(x, irreps)
    chosen = [k for k in found.live.nonzero().flatten().tolist() if irreps[int(found.own[k])].dim > 1]
    own = [irreps[int(found.own[k])] for k in chosen]
    if not chosen:
        return CosetShare(float("nan"), float("nan"), {}, 0)
    kernels = {rho.name: len(kernel(rho.character, task)) for rho in own}
    least = torch.tensor([kernels[rho.name] for rho in own])
    generator = torch.Generator().manual_seed(seed)
    random = [torch.stack([_random(rho, generator) for rho in own], dim=1) for _ in range(draws)]
    fits, nulls = coset_fits(x[:, chosen].cpu(), task, CONSTANT), [coset_fits(r, task, CONSTANT) for r in random]
    constant = fits.order > least
    orders = fits.order[constant].bincount().tolist() if constant.any() else []
    null = torch.cat([(fit.order >= fits.order)[constant] for fit in nulls]).double().mean()
    counts = {order: count for order, count in enumerate(orders) if count}
    return CosetShare(float(constant.double().mean()), float(null), counts, len(chosen))


def _random(rho: Irrep, generator: torch.Generator) -> Float[Tensor, " element"]:
    """Return a random function that lies in a representation."""
    return rho.span.T @ torch.randn(rho.rank, generator=generator, dtype=torch.float64)
