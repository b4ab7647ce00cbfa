"""Fit the shape of the logits over j for a pair (x, y): a peak at x + y, ghosts at 2x and 2y, a dip at 3x - y and 3y -
x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.fourier.transforms import sums
from modinterp.analyses.statistics.lines import correlation
from modinterp.sources.he.neuron_waves import TURN, angles

PREFACTORS: dict[str, Callable[[Tensor], Tensor]] = {
    "1": torch.ones_like,
    "cos^2": lambda u: (u / 2).cos().square(),
    "|cos|": lambda u: (u / 2).cos().abs(),
    "|sin|": lambda u: u.sin().abs(),
}


@dataclass(frozen=True)
class LogitShape:
    """The logits of pairs x != y as a sum of three indicators, fitted by least squares.

    Attributes:
        peak: fitted coefficient of the indicator j = x + y.
        ghost, dip: coefficients of the indicators {2x, 2y} and {3x - y, 3y - x}, divided by that of the peak.
        explained: R squared of the fit.
    """

    peak: float
    ghost: float
    dip: float
    explained: float


def centred(logits: Float[Tensor, "*pair j"]) -> Float[Tensor, "*pair j"]:
    """Return the logits minus their mean over j; the subtraction changes no probability."""
    return logits - logits.mean(dim=-1, keepdim=True)


def logit_shape(logits: Float[Tensor, "x y j"]) -> LogitShape:
    """Fit the three indicators, each centred over j, to the logits of all pairs x != y."""
    p = len(logits)
    x, y = torch.meshgrid(torch.arange(p), torch.arange(p), indexing="ij")

    def indicator(*answers: Tensor) -> Tensor:
        found = sum(torch.nn.functional.one_hot(answer % p, p) for answer in answers)
        return centred(found.double())[x != y].flatten()  # type: ignore[union-attr]

    columns = torch.stack([indicator(x + y), indicator(2 * x, 2 * y), indicator(3 * x - y, 3 * y - x)], dim=1)
    rows = centred(logits.double())[x != y].flatten()
    fit = torch.linalg.lstsq(columns, rows.unsqueeze(1)).solution.squeeze(1)
    explained = 1 - float((rows - columns @ fit).square().sum() / rows.square().sum())
    peak, ghost, dip = fit.tolist()
    return LogitShape(peak, ghost / peak, dip / peak, explained)


def prefactor_fits(logits: Float[Tensor, "x y j"]) -> dict[str, float]:
    """Return, for each h, the squared correlation of the logits with the sum over k of h(w_k(x - y)) cos(w_k(x + y -
    j)).
    """
    p = len(logits)
    residues = torch.arange(p)
    difference = residues.unsqueeze(1) - residues
    phases = (sums(p).unsqueeze(-1) - residues) % p
    k = torch.arange(1, (p - 1) // 2 + 1)
    cosines = angles(p).cos()
    fits = {}
    for name, h in PREFACTORS.items():
        scale = h(TURN / p * (k.view(-1, 1, 1) * difference).double())  # [freq, x, y]
        wave = torch.zeros_like(logits, dtype=torch.float64)
        for factor, cosine in zip(scale, cosines, strict=True):
            wave += factor.unsqueeze(-1) * cosine[phases]
        fits[name] = correlation(centred(logits.double()).flatten(), wave.flatten()) ** 2
    return fits
