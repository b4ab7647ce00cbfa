"""Fit logits by a sum of cosines of a + b - c (Nanda et al. 2023, section 4.2), and compute the ideal sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations.blocks import row_blocks
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.logit_sums import LogitSums, logit_sums
from modinterp.analyses.fourier.transforms import check_frequency, fourier_basis, transform
from modinterp.analyses.printing import printable


@printable
@dataclass(frozen=True)
class LogitFit:
    """The least-squares fit of logits(a, b, c) by the sum over k of alpha_k cos(w_k(a + b - c)) (definition D4-logit).

    Attributes:
        freqs: frequency of each cosine. [cycles per p]
        alphas: coefficient of each cosine. [logits]
        explained: fraction of the logits' variance about their global mean that the fit explains; this is the main
            number.
        explained_raw: fraction of the logits' squared norm that the fit explains, without centring.
        explained_by_row: fraction explained after subtracting each input's mean logit, which does not change the
            softmax.
        explained_by_row_and_class: fraction explained after also subtracting each class's mean, which a bias could
            supply.
        sign: 1 for cosines of a + b - c, -1 for cosines of a - b - c.
    """

    freqs: tuple[int, ...]
    alphas: tuple[float, ...]
    explained: float
    explained_raw: float
    explained_by_row: float
    explained_by_row_and_class: float
    sign: int = 1

    def logits(self, p: int, some: slice = slice(None)) -> Float[Tensor, "some b output"]:
        """Return the logits of the fit for every input (a, b), or for some a."""
        return ideal_logits(p, self.freqs, self.alphas, self.sign, some)

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each frequency, with its coefficient."""
        return pd.DataFrame({"freq": self.freqs, "alpha [logits]": self.alphas})


@checked
def cosine_waves(p: int, freqs: Sequence[int]) -> Float[Tensor, "a freq"]:
    """Return cos(2 pi k x / p) for every residue x and every given frequency k, with one column per frequency.

    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    for k in freqs:
        check_frequency(k, p)
    rows = fourier_basis(p)[[2 * k - 1 for k in freqs]]
    return (rows / rows[:, :1]).T


def _offsets(names: Int[Tensor, " a"], sign: int, some: slice) -> Int[Tensor, "some b output"]:
    """Return the number a + b - c mod p (a - b - c for sign -1) of every triple (a, b, c), for some a."""
    return (names[some, None, None] + sign * names[:, None] - names) % len(names)


@checked
def answer_sums(logits: Float[Tensor, "a b output"], sign: int = 1) -> Float[Tensor, " a"]:
    """Return the sum of the logits over all triples with the same a + b - c mod p; entry d belongs to a + b - c = d.
    [logits]

    Args:
        sign: 1 for a + b - c, -1 for a - b - c.
    """
    return logit_sums(logits, sign).by_distance


@checked
def renamed_answer_sums(
    logits: Float[Tensor, "a b output"], orders: Int[Tensor, "order a"], sign: int = 1
) -> Float[Tensor, "order a"]:
    """Return `answer_sums` under several relabellings of the residues, with one row per relabelling.

    Args:
        orders: permutations of the residues, each a relabelling.
        sign: 1 for a + b - c, -1 for a - b - c.
    """
    return sums_of_pairs(logits.flatten(0, 1), torch.arange(len(logits) ** 2), orders, sign)


@checked
def check_pairs(pairs: Int[Tensor, " pair"], p: int) -> None:
    """Raise ValueError unless `pairs` are indices a p + b of pairs of residues mod p."""
    if len(pairs) and not (int(pairs.min()) >= 0 and int(pairs.max()) < p * p):
        raise ValueError(f"pairs must be from 0 to {p * p - 1}, got {int(pairs.min())} to {int(pairs.max())}")


@checked
def sums_of_pairs(
    logits: Float[Tensor, "pair output"], pairs: Int[Tensor, " pair"], orders: Int[Tensor, "order a"], sign: int = 1
) -> Float[Tensor, "order a"]:
    """Estimate `renamed_answer_sums` over all pairs from a sample of pairs.

    Args:
        pairs: indices a p + b of the pairs.
    Raises:
        ValueError: an index belongs to no pair, or an order is not a permutation of the residues.
    """
    p = logits.shape[-1]
    check_pairs(pairs, p)
    if orders.shape[1] != p or int(orders.min()) < 0 or int(orders.max()) >= p:
        raise ValueError(f"orders must have {p} numbers below {p} in each row, got shape {tuple(orders.shape)}")
    by_answer = torch.zeros(len(orders), p, p, dtype=torch.float64)
    for some in row_blocks(logits.shape):
        values, a, b = logits[some].double().cpu(), pairs[some] // p, pairs[some] % p
        for names, of_names in zip(orders, by_answer, strict=True):
            of_names.index_add_(0, (names[a] + sign * names[b]) % p, values)
    found = torch.zeros(len(orders), p, dtype=torch.float64)
    for names, of_names, row in zip(orders, by_answer, found, strict=True):
        row.index_add_(0, ((torch.arange(p)[:, None] - names) % p).flatten(), of_names.flatten())
    return found * (p * p / len(pairs))


@checked
def cosine_spectrum(logits: Float[Tensor, "a b output"], sign: int = 1) -> Float[Tensor, " freq"]:
    """Return the coefficient of cos(w_k(a + b - c)) in the logits at every frequency; entry k - 1 belongs to frequency
    k. [logits]

    Args:
        sign: 1 for cosines of a + b - c, -1 for cosines of a - b - c.
    """
    return spectrum_of_sums(answer_sums(logits, sign))


@checked
def spectrum_of_sums(by_distance: Float[Tensor, " distance"]) -> Float[Tensor, " freq"]:
    """Compute `cosine_spectrum` from the `answer_sums` of the logits. [logits]"""
    p = len(by_distance)
    return transform(by_distance)[1::2] * fourier_basis(p)[1::2, 0] / p**2


@checked
def cosine_coefficients(
    logits: Float[Tensor, "a b output"], freqs: Sequence[int], sign: int = 1
) -> Float[Tensor, " freq"]:
    """Return the least-squares coefficient of each cos(w_k(a + b - c)) in the logits. [logits]

    Args:
        sign: 1 for cosines of a + b - c, -1 for cosines of a - b - c.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 4.2 and figure 14.
    """
    for k in freqs:
        check_frequency(k, logits.shape[-1])
    return cosine_spectrum(logits, sign)[[k - 1 for k in freqs]]


@checked
def logit_fit(logits: Float[Tensor, "a b output"], freqs: Sequence[int], sign: int = 1) -> LogitFit:
    """Return the least-squares fit of the logits by one cosine of a + b - c for each frequency, without intercept.

    Args:
        freqs: frequencies from 1 to p // 2. [cycles per p]
        sign: 1 for cosines of a + b - c, -1 for cosines of a - b - c.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 4.2.
    """
    return fit_of_sums(logit_sums(logits, sign), freqs, sign)


@checked
def fit_of_sums(found: LogitSums, freqs: Sequence[int], sign: int = 1) -> LogitFit:
    """Compute `logit_fit` from the `logit_sums` of the logits.

    The waves are orthogonal to one another and to the mean of each pair and class. Since waves are orthogonal, each
    residual energy is the energy of the logits minus the energy of the fit.

    Args:
        freqs: frequencies from 1 to p // 2. [cycles per p]
        sign: 1 for cosines of a + b - c, -1 for cosines of a - b - c.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    """
    p = len(found.by_distance)
    waves = cosine_waves(p, freqs)
    alphas = spectrum_of_sums(found.by_distance)[[k - 1 for k in freqs]]
    energy = float((waves @ alphas).square().sum()) * p**2
    wholes = (found.about_mean, found.raw, found.by_row, found.by_row_and_class)
    shares = [energy / whole if whole > 0 else float("nan") for whole in wholes]
    if found.is_constant:
        shares[0] = float("nan")
    return LogitFit(tuple(freqs), tuple(alphas.tolist()), *shares, sign=sign)


@checked
def ideal_logits(
    p: int, freqs: Sequence[int], alphas: Sequence[float] | None = None, sign: int = 1, some: slice = slice(None)
) -> Float[Tensor, "some b output"]:
    """Return the logits of the ideal algorithm: the sum over k of alpha_k cos(w_k(a + b - c)) for every input (a, b).

    Args:
        freqs: frequencies from 1 to p // 2. [cycles per p]
        alphas: coefficient of each cosine, 1 by default. [logits]
        sign: 1 for an ideal network that adds, -1 for one that subtracts.
        some: values of a to compute; all by default.
    Raises:
        ValueError: a frequency lies outside 1..p // 2, or the numbers of frequencies and coefficients differ.
    Source: Nanda et al. 2023, section 3.1.

    >>> bool((ideal_logits(5, [2]).argmax(dim=-1) == (torch.arange(5)[:, None] + torch.arange(5)) % 5).all())
    True
    """
    if alphas is not None and len(alphas) != len(freqs):
        raise ValueError(f"alphas must be one for each of {len(freqs)} frequencies, got {len(alphas)}")
    weights = torch.tensor([1.0] * len(freqs) if alphas is None else alphas, dtype=torch.float64)
    return (cosine_waves(p, freqs) @ weights)[_offsets(torch.arange(p), sign, some)]


@checked
def margin(p: int, freqs: Sequence[int]) -> float:
    """Return the sum of the cosines at a + b - c = 0 minus the largest sum elsewhere. [logits, for waves of size 1]

    Args:
        freqs: frequencies from 1 to p // 2. [cycles per p]
    Source: Nanda et al. 2023, appendix B.
    """
    total = cosine_waves(p, freqs).sum(dim=1)
    return float(total[0] - total[1:].max())
