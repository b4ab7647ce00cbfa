"""The logits as a sum of cosines of a + b - c: the fit of section 4.2 of Nanda et al. 2023, and the ideal itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.explained import energy_share, fraction_explained
from modinterp.analyses.fourier import (
    check_frequency,
    fourier_basis,
    transform,
)
from modinterp.analyses.shown import shown


@shown
@dataclass(frozen=True)
class LogitFit:
    """logits(a, b, c) fitted by sum over k of alpha_k cos(w_k(a + b - c)) (definition D4-logit).

    Attributes:
        sign: -1 where the cosines are those of a - b - c.
        freqs, alphas: frequency and fitted coefficient, in logits.
        explained: centred on the global mean, the headline.
        explained_raw: no centring; explained_by_row: each input's mean removed, which no softmax sees;
        explained_by_row_and_class: each class's mean removed as well, which a bias would supply.
    """

    freqs: tuple[int, ...]
    alphas: tuple[float, ...]
    explained: float
    explained_raw: float
    explained_by_row: float
    explained_by_row_and_class: float
    sign: int = 1

    def logits(self, p: int) -> Float[Tensor, "a b output"]:
        """The fitted sum for every input."""
        return ideal_logits(p, self.freqs, self.alphas, self.sign)

    def table(self) -> pd.DataFrame:
        """One row a frequency."""
        return pd.DataFrame({"freq": self.freqs, "alpha [logits]": self.alphas})


def cosine_waves(p: int, freqs: Sequence[int]) -> Float[Tensor, "residue freq"]:
    """cos(2 pi k x / p) for every residue x.

    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    for k in freqs:
        check_frequency(k, p)
    rows = fourier_basis(p)[[2 * k - 1 for k in freqs]]
    return (rows / rows[:, :1]).T


def _offsets(names: Int[Tensor, " residue"], sign: int) -> Int[Tensor, "a b output"]:
    """a + b - c mod p of every triple (a - b - c for sign -1)."""
    return (names[:, None, None] + sign * names[:, None] - names) % len(names)


def answer_sums(
    logits: Float[Tensor, "a b output"], sign: int = 1, names: Int[Tensor, " residue"] | None = None
) -> Float[Tensor, " residue"]:
    """Sum of the logits over all triples with the same a + b - c mod p; entry d belongs to a + b - c = d. [logits]

    Args:
        sign: -1 for a - b - c.
        names: other names for the residues, a permutation of them.
    """
    p = logits.shape[-1]
    folded = _offsets(torch.arange(p) if names is None else names, sign).flatten()
    return torch.zeros(p, dtype=torch.float64).index_add(0, folded, logits.double().flatten().cpu())


def cosine_spectrum(logits: Float[Tensor, "a b output"], sign: int = 1) -> Float[Tensor, " freq"]:
    """`cosine_coefficients` at every frequency; entry k - 1 belongs to frequency k. [logits]"""
    p = logits.shape[-1]
    return transform(answer_sums(logits, sign))[1::2] * fourier_basis(p)[1::2, 0] / p**2


def cosine_coefficients(
    logits: Float[Tensor, "a b output"], freqs: Sequence[int], sign: int = 1
) -> Float[Tensor, " freq"]:
    """Least-squares coefficient of each cos(w_k(a + b - c)) in the logits; the waves are orthogonal. [logits]

    Args:
        sign: -1 for cosines of a - b - c.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 4.2 and figure 14.
    """
    for k in freqs:
        check_frequency(k, logits.shape[-1])
    return cosine_spectrum(logits, sign)[[k - 1 for k in freqs]]


def logit_fit(logits: Float[Tensor, "a b output"], freqs: Sequence[int], sign: int = 1) -> LogitFit:
    """Fit the logits by one cosine of a + b - c per frequency, without intercept.

    Args:
        sign: -1 for cosines of a - b - c.
    Source: Nanda et al. 2023, section 4.2.
    """
    p = logits.shape[-1]
    y = logits.double().cpu()
    alphas = tuple(cosine_coefficients(y, freqs, sign).tolist())
    fitted = ideal_logits(p, freqs, alphas, sign)
    by_row = y - y.mean(dim=-1, keepdim=True)
    by_both = by_row - by_row.mean(dim=(0, 1))
    return LogitFit(
        tuple(freqs), alphas,
        explained=fraction_explained(y, fitted + y.mean()),
        explained_raw=1 - energy_share(y - fitted, y),
        explained_by_row=1 - energy_share(by_row - fitted, by_row),
        explained_by_row_and_class=1 - energy_share(by_both - fitted, by_both),
        sign=sign,
    )  # fmt: skip


def ideal_logits(
    p: int, freqs: Sequence[int], alphas: Sequence[float] | None = None, sign: int = 1
) -> Float[Tensor, "a b output"]:
    """The algorithm itself: the sum over k of alpha_k cos(w_k(a + b - c)) for every input.

    Args:
        alphas: 1 each by default. [logits]
        sign: -1 for a - b.
    Source: Nanda et al. 2023, section 3.1.

    >>> bool((ideal_logits(5, [2]).argmax(dim=-1) == (torch.arange(5)[:, None] + torch.arange(5)) % 5).all())
    True
    """
    weights = torch.tensor([1.0] * len(freqs) if alphas is None else alphas, dtype=torch.float64)
    return (cosine_waves(p, freqs) @ weights)[_offsets(torch.arange(p), sign)]


def margin(p: int, freqs: Sequence[int]) -> float:
    """Sum of the cosines at 0 minus their largest sum anywhere else. [logits, each wave of size 1]

    Source: Nanda et al. 2023, appendix B.
    """
    total = cosine_waves(p, freqs).sum(dim=1)
    return float(total[0] - total[1:].max())
