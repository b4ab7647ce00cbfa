"""What an embedding is made of: how alike the positions are, how many directions it uses, how periodic these are.

Source: Syrkis & Søgaard 2024, figures 7 to 13.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.fourier import frequency_norms, transform
from modinterp.analyses.lines import correlation
from modinterp.analyses.shown import shown
from modinterp.analyses.similarity import cosines
from modinterp.models import Network


@dataclass(frozen=True)
class PositionLikeness:
    """How alike the embeddings of two positions are.

    Attributes:
        pearson: correlation over the dimensions of the model.
        cosine: of the angle between them.
    """

    pearson: float
    cosine: float


def position_likeness(W_pos: Float[Tensor, "pos d_model"]) -> PositionLikeness:
    """Of the first two positions.

    Raises:
        ValueError: fewer than two positions.
    Source: Syrkis & Søgaard 2024, figure 7; the cosine is that of "Circuit engineering".
    """
    if len(W_pos) < 2:
        raise ValueError(f"two positions are compared, got {len(W_pos)}")
    first, second = W_pos[:2].detach()
    return PositionLikeness(correlation(first, second), float(cosines(W_pos[:2])[0, 1]))


def with_positions_swapped(network: Network) -> Network:
    """The network with the embeddings of the first two positions exchanged.

    To the network this is the exchange of the two numbers: one whose answer does not depend on their order is as right
    as before. Unlike the likeness of the embeddings, it tests what the positions are used for.

    Raises:
        ValueError: the network has no positions.
    """
    if not getattr(network.cfg, "positional", False):
        raise ValueError("the network has no embeddings of positions")
    changed = copy.deepcopy(network)
    changed.pos_embed.W_pos.data[:2] = network.pos_embed.W_pos.detach()[:2].flip(0)
    return changed


@shown
@dataclass(frozen=True)
class SingularValues:
    """The singular values of a matrix and its left singular vectors.

    Attributes:
        values: falling.
        vectors: column i belongs to value i.
    """

    values: Float[Tensor, " rank"]
    vectors: Float[Tensor, "residue rank"]

    def needed(self, share: float, squared: bool = False) -> int:
        """How many of the largest values it takes for that share of their sum.

        Args:
            share: in (0, 1].
            squared: of the sum of squares, the variance, instead.
        """
        values = self.values.square() if squared else self.values
        reached = values.cumsum(0) / values.sum() >= share - 1e-12
        return int(reached.int().argmax()) + 1


def singular_values(x: Float[Tensor, "residue d_model"]) -> SingularValues:
    """Of an embedding. Source: Syrkis & Søgaard 2024, figure 8, whose ticks are shares of the sum of the values."""
    U, S, _ = torch.linalg.svd(x.detach().double(), full_matrices=False)
    return SingularValues(S, U)


@shown
@dataclass(frozen=True)
class Periodicity:
    """How far each of several vectors over the residues is one wave.

    Attributes:
        freqs: of the strongest wave. [cycles per p]
        shares: of the vector's variance that it carries, or that so many waves do as were asked for, in [0, 1].
    """

    freqs: Int[Tensor, " vector"]
    shares: Float[Tensor, " vector"]

    def table(self) -> pd.DataFrame:
        """One row a vector."""
        return pd.DataFrame({"freq": self.freqs.tolist(), "share": self.shares.tolist()})


def amplitudes(x: Float[Tensor, "residue column"]) -> Float[Tensor, "freq column"]:
    """Of the wave of every frequency in every column; row k - 1 belongs to frequency k."""
    return frequency_norms(transform(x.detach()))


def periodicity(vectors: Float[Tensor, "residue vector"], waves: int = 1) -> Periodicity:
    """Best frequency of every column and its share of the variance; NaN for a column that does not vary.

    Args:
        waves: how many of the strongest the share counts. Singular vectors of frequencies that are equally strong are
            turned into each other at will, and then several waves are one where a single one is not.
    """
    energies = amplitudes(vectors).square()
    best, total = energies.topk(waves, dim=0), energies.sum(dim=0)
    return Periodicity(best.indices[0] + 1, torch.where(total > 0, best.values.sum(dim=0) / total, torch.nan))


def random_periodicity(residues: int, d_model: int, share: float = 0.5, draws: int = 9, seed: int = 0) -> float:
    """Mean share of the best wave in the top left singular vectors of random matrices, those up to half their values.

    What `periodicity` says where there is none: with few residues a random vector looks like a wave by chance.

    Args:
        share: of the sum of the singular values that says which vectors count.
    """
    generator = torch.Generator().manual_seed(seed)
    means = []
    for _ in range(draws):
        found = singular_values(torch.randn(residues, d_model, generator=generator, dtype=torch.float64))
        means.append(periodicity(found.vectors[:, : found.needed(share)]).shares.mean())
    return float(torch.stack(means).mean())
