"""Split activations over all pairs into functions of a, of b, and of the product a b, by representation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.groups.group_transforms import energies, part_in
from modinterp.analyses.groups.irreps import Irrep
from modinterp.analyses.printing import printable
from modinterp.tasks import Group


@checked
def mean_by_product(x: Float[Tensor, "a b *rest"], task: Group) -> Float[Tensor, "element *rest"]:
    """Return the mean over all pairs (a, b) with the same product a b."""
    flat = x.double().flatten(0, 1)
    sums = torch.zeros(task.n, *x.shape[2:], dtype=torch.float64, device=x.device)
    return sums.index_add(0, task.table.flatten().to(x.device), flat) / task.n


@checked
def product_part(x: Float[Tensor, "a b *rest"], task: Group, irreps: Sequence[Irrep]) -> Float[Tensor, "a b *rest"]:
    """Return the part of activations in the matrix elements of rho(a b), for some representations rho."""
    return part_in(mean_by_product(x, task), irreps)[task.table.to(x.device)]


@printable
@dataclass(frozen=True)
class PairShares:
    """Shares of activations in each representation, as functions of a, of b, and of the product a b.

    Attributes:
        names: names of the representations.
        a, b, product: share of the centred energy of each activation, or of all activations, in rho(a), rho(b), rho(a
            b).
    """

    names: tuple[str, ...]
    a: Float[Tensor, "irrep *feature"]
    b: Float[Tensor, "irrep *feature"]
    product: Float[Tensor, "irrep *feature"]

    def total(self) -> Float[Tensor, "irrep *feature"]:
        """Return the sum of the shares in rho(a), rho(b) and rho(a b)."""
        return self.a + self.b + self.product

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each representation; shares are averaged over several activations."""
        columns = {"rho(a)": self.a, "rho(b)": self.b, "rho(a b)": self.product}
        means = {name: x.reshape(len(self.names), -1).mean(dim=1).tolist() for name, x in columns.items()}
        return pd.DataFrame({"representation": self.names} | means)


@checked
def pair_shares(
    x: Float[Tensor, "a b feature"], task: Group, irreps: Sequence[Irrep], each: bool = False
) -> PairShares:
    """Return the shares of activations in rho(a), rho(b) and rho(a b), each activation centred over all pairs.

    Args:
        each: True for the shares of every single activation, False for the shares of all activations together.
    Source: Chughtai et al. 2023, section 5.3.
    """
    centred = x.double() - x.double().mean(dim=(0, 1))
    means = centred.mean(dim=1), centred.mean(dim=0), mean_by_product(centred, task)
    found = [task.n * energies(mean, irreps) for mean in means]
    total = centred.square().sum(dim=(0, 1))
    if not each:
        found, total = [part.sum(dim=1) for part in found], total.sum()
    return PairShares(tuple(rho.name for rho in irreps), *(part / total for part in found))
