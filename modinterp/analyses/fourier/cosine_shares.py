"""How much of the logits' variance the strongest cosines of a + b - c hold, over all pairs or over some of them."""

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
    """Share of the variance of some pairs' logits in the strongest cosines of a + b - c, one for each order.

    Args:
        pairs: numbers of the pairs, a p + b.
        orders: permutations of the residues, each a relabelling.
        count: number of cosines, the strongest whichever these are.
        sign: 1 for cosines of a + b - c, -1 for cosines of a - b - c.
    """
    p, energy = logits.shape[-1], _energy_about_mean(logits)
    of_all = energy * p * p / len(pairs)
    return (_of_strongest(sums_of_pairs(logits, pairs, orders, sign).T, count) / of_all).tolist()


@checked
def share_of_cosines(found: LogitSums, count: int) -> float:
    """The share for all pairs under their own labels, computed from their `logit_sums`.

    Args:
        count: number of cosines, the strongest whichever these are.
    """
    if found.is_constant:
        return float("nan")
    return float(_of_strongest(found.by_distance[:, None], count)) / found.about_mean


def _of_strongest(by_distance: Float[Tensor, "distance order"], count: int) -> Float[Tensor, " order"]:
    """Energy of the strongest cosines in logits with such sums by a + b - c; each value is that of p**2 triples."""
    cosines = transform(by_distance)[1::2].square() / len(by_distance) ** 2
    return cosines.topk(min(count, len(cosines)), dim=0).values.sum(dim=0)


def _energy_about_mean(logits: Float[Tensor, "pair output"]) -> float:
    """Sum of the squared distances of all logits from their mean; NaN where they vary by rounding alone."""
    centre = logits[:1].double().mean()  # near the mean, so that little is taken off below
    sums = torch.zeros(2, dtype=torch.float64, device=centre.device)
    for some in row_blocks(logits.shape):
        about = logits[some].double() - centre
        sums += torch.stack([about.sum(), about.square_().sum()])
    off = sums[0] / logits.numel()
    about, mean = sums[1] - off.square() * logits.numel(), centre + off
    whole = about + mean.square() * logits.numel()
    return float(about) if varies(about.clamp(min=0).sqrt(), whole.sqrt()) else float("nan")
