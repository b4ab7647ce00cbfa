"""Compare the first two position embeddings, and exchange them in a copy of the network."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.statistics.lines import correlation
from modinterp.analyses.statistics.similarity import cosines
from modinterp.models import Network


@dataclass(frozen=True)
class PositionLikeness:
    """How similar the embeddings of two positions are.

    Attributes:
        pearson: Pearson correlation of the two vectors over the dimensions of the residual stream, in [-1, 1].
        cosine: cosine of the angle between the two vectors, in [-1, 1].
    """

    pearson: float
    cosine: float


@checked
def position_likeness(W_pos: Float[Tensor, "pos d_model"]) -> PositionLikeness:
    """Return correlation and cosine between the embeddings of the first two positions.

    Raises:
        ValueError: the network has fewer than two positions.
    Source: Syrkis & Søgaard 2024, figure 7; the cosine is that of "Circuit engineering".
    """
    if len(W_pos) < 2:
        raise ValueError(f"expected the embeddings of two positions to compare, got {len(W_pos)}")
    first, second = W_pos[:2].detach()
    return PositionLikeness(correlation(first, second), float(cosines(W_pos[:2])[0, 1]))


@checked
def with_positions_swapped(network: Network) -> Network:
    """Return a copy of the network with the embeddings of the first two positions exchanged.

    This has the same effect as exchanging the two numbers. A network whose answer does not depend on their order
    therefore stays as accurate. Unlike the similarity of the two embeddings, this tests how the network uses positions.

    Raises:
        ValueError: the network has no positional embeddings.
    """
    if not getattr(network.cfg, "positional", False):
        raise ValueError("the network has no position embeddings")
    changed = copy.deepcopy(network)
    changed.pos_embed.W_pos.data[:2] = network.pos_embed.W_pos.detach()[:2].flip(0)
    return changed
