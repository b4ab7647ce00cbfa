"""Analyse singular vectors of an embedding: how many hold most of its variance, and how close each is to one wave.

Source: Syrkis & Søgaard 2024, figures 8 to 13.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.transforms import frequency_norms, transform
from modinterp.analyses.printing import printable
from modinterp.analyses.statistics.explained import ROUNDING


@printable
@dataclass(frozen=True)
class SingularValues:
    """The singular values of a matrix, and its left singular vectors.

    Attributes:
        values: singular values, in descending order.
        vectors: left singular vectors; column i belongs to value i.
    """

    values: Float[Tensor, " component"]
    vectors: Float[Tensor, "a component"]

    def count_to_reach(self, share: float, squared: bool = False) -> int:
        """Return how many of the largest singular values are needed to reach a share of the sum of all.

        Args:
            share: share of the sum, in (0, 1].
            squared: True to sum squared singular values, which measure variance.
        """
        values = self.values.square() if squared else self.values
        is_enough = values.cumsum(0) / values.sum() >= share - 1e-12
        return int(is_enough.int().argmax()) + 1


@checked
def singular_values(x: Float[Tensor, "a d_model"]) -> SingularValues:
    """Return the singular values and left singular vectors of an embedding matrix.

    Source: Syrkis & Søgaard 2024, figure 8, whose ticks are shares of the sum of the values.
    """
    U, S, _ = torch.linalg.svd(x.detach().double(), full_matrices=False)
    return SingularValues(S, U)


@printable
@dataclass(frozen=True)
class Periodicity:
    """Measures of how close each of several vectors over the residues is to a single wave.

    Attributes:
        freqs: frequency of the strongest wave of each vector. [cycles per p]
        shares: share of each vector's variance in its strongest wave, or in its several strongest waves, in [0, 1].
    """

    freqs: Int[Tensor, " component"]
    shares: Float[Tensor, " component"]

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each vector: frequency of the strongest wave, and share of the variance."""
        return pd.DataFrame({"freq": self.freqs.tolist(), "share": self.shares.tolist()})


@checked
def amplitudes(x: Float[Tensor, "a d_model"]) -> Float[Tensor, "freq d_model"]:
    """Return the amplitude of the wave of every frequency in every column of a matrix; row k - 1 belongs to frequency
    k.
    """
    return frequency_norms(transform(x.detach()))


@checked
def periodicity(vectors: Float[Tensor, "a component"], waves: int = 1) -> Periodicity:
    """Return the frequency of the strongest wave in every column, and its share of the variance; NaN for a constant
    column.

    Args:
        waves: number of strongest waves that the share counts. If several frequencies are equally strong, singular
            vectors are arbitrary mixtures of these waves. One wave then explains only a part of a periodic vector.
    """
    energies = amplitudes(vectors).square()
    best, total = energies.topk(waves, dim=0), energies.sum(dim=0)
    is_more = total.sqrt() > ROUNDING * vectors.detach().double().norm(dim=0)
    return Periodicity(best.indices[0] + 1, torch.where(is_more, best.values.sum(dim=0) / total, torch.nan))


@checked
def random_periodicity(residues: int, d_model: int, share: float = 0.5, draws: int = 9, seed: int = 0) -> float:
    """Return the null value of `periodicity`: mean share of the strongest wave in top singular vectors of random
    matrices.

    With few residues a random vector looks like a wave by chance.

    Args:
        residues, d_model: shape of the random matrices.
        share: the top singular vectors are those whose singular values make up this share of the sum of all.
        draws: number of random matrices.
    """
    generator = torch.Generator().manual_seed(seed)
    means = []
    for _ in range(draws):
        svd = singular_values(torch.randn(residues, d_model, generator=generator, dtype=torch.float64))
        means.append(periodicity(svd.vectors[:, : svd.count_to_reach(share)]).shares.mean())
    return float(torch.stack(means).mean())
