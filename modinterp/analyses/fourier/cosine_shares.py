"""Measure the share of the logits' variance in the strongest cosines of a + b - c, over all pairs or a sample."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations.blocks import row_blocks
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.cosine_sums import sums_of_pairs
from modinterp.analyses.fourier.logit_sums import LogitSums
from modinterp.analyses.fourier.transforms import transform
from modinterp.analyses.statistics.explained import varies


@checked
def shares_of_cosines(
    logits: Float[Tensor, "pair output"],
    pairs: Int[Tensor, " pair"],
    orders: Int[Tensor, "order a"],
    count: int,
    sign: int,
) -> list[float]:
    """Return the share of some pairs' logit variance in the strongest cosines of a + b - c, for each order of the
    residues.

    Args:
        pairs: indices a p + b of the pairs.
        orders: permutations of the residues; each is one relabelling.
        count: number of strongest cosines that count.
        sign: 1 for cosines of a + b - c, -1 for cosines of a - b - c.
    """
    p, energy = logits.shape[-1], _energy_about_mean(logits)
    of_all = energy * p * p / len(pairs)
    return (_of_strongest(sums_of_pairs(logits, pairs, orders, sign).T, count) / of_all).tolist()


@checked
def share_of_cosines(found: LogitSums, count: int) -> float:
    """Return the share for all pairs with the original labels, computed from `logit_sums`.

    Args:
        count: number of strongest cosines that count.
    """
    if found.is_constant:
        return float("nan")
    return float(_of_strongest(found.by_distance[:, None], count)) / found.about_mean


def _of_strongest(by_distance: Float[Tensor, "distance order"], count: int) -> Float[Tensor, " order"]:
    """Return the energy of the strongest cosines, from the sums of logits by a + b - c over p**2 triples each."""
    cosines = transform(by_distance)[1::2].square() / len(by_distance) ** 2
    return cosines.topk(min(count, len(cosines)), dim=0).values.sum(dim=0)


def _energy_about_mean(logits: Float[Tensor, "pair output"]) -> float:
    """Return the sum of squared distances of all logits from their mean; NaN if they vary only by rounding."""
    centre = logits[:1].double().mean()  # near the mean, so that little is taken off below
    sums = torch.zeros(2, dtype=torch.float64, device=centre.device)
    for some in row_blocks(logits.shape):
        about = logits[some].double() - centre
        sums += torch.stack([about.sum(), about.square_().sum()])
    off = sums[0] / logits.numel()
    about, mean = sums[1] - off.square() * logits.numel(), centre + off
    whole = about + mean.square() * logits.numel()
    return float(about) if varies(about.clamp(min=0).sqrt(), whole.sqrt()) else float("nan")
