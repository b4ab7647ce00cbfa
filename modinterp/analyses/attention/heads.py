"""Analyse heads at the last position: lookup tables of scores, sigmoids of score differences, OV circuits, roles."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.frequencies import dominant_frequency, frequency_shares
from modinterp.analyses.fourier.neurons import terms_of
from modinterp.analyses.fourier.transforms import fourier_basis, frequency_norms, transform, transform_2d
from modinterp.analyses.printing import printable
from modinterp.analyses.statistics.explained import energy_share, fraction_explained, least_squares
from modinterp.analyses.statistics.lines import correlation
from modinterp.models import Transformer


@checked
def lookup_tables(model: Transformer, equals: int) -> Float[Tensor, "a head"]:
    """Return the lookup tables C_j[t] of attention scores, for token t and head j of the first layer. [nats]

    C_j[t] = W_E[t] W_K (W_Q^T x) / sqrt(d_head), where x is the residual stream at the last position. A head attends
    more to the position with the larger score. Biases are included.

    Args:
        equals: the token at the last position; the tokens below it are the residues.
    Raises:
        ValueError: the network has no token of this number.
    Source: Nanda et al. 2023, appendix C.1.3 (definition D10).
    """
    return _scores_of(model, model.W_E[:equals].double(), equals)


@checked
def position_scores(model: Transformer, equals: int) -> Float[Tensor, "pos head"]:
    """Return the score that each position adds to the score of its token, by head; 0 without position embeddings.
    [nats]

    Args:
        equals: the token at the last position.
    Raises:
        ValueError: the network has no token of this number.
    """
    c = model.cfg
    positions = model.pos_embed.W_pos if c.positional else model.W_E.new_zeros(c.n_ctx, c.d_model)
    return _scores_of(model, positions.double(), equals, with_bias=False)


def _scores_of(model: Transformer, x: Tensor, equals: int, with_bias: bool = True) -> Tensor:
    """Attention scores of the last position's query with the keys of residual vectors x, `[row of x, head]`. [nats]"""
    attn = model.blocks[0].attn
    if not 0 <= equals < len(model.W_E):
        raise ValueError(f"the network has {len(model.W_E)} tokens, and no token with the number {equals}")
    last = model.W_E[equals].double() + (model.pos_embed.W_pos[-1].double() if model.cfg.positional else 0)
    q = torch.einsum("m,hmd->hd", last, attn.W_Q.double())
    k = torch.einsum("tm,hmd->thd", x, attn.W_K.double())
    if model.cfg.attn_biases:
        q, k = q + attn.b_Q.double(), k + (attn.b_K.double() if with_bias else 0)
    return (torch.einsum("hd,thd->th", q, k) / model.cfg.d_head**0.5).detach()


@checked
def ov_circuits(model: Transformer, p: int) -> Float[Tensor, "head a d_model"]:
    """Return what each head of the first layer writes (OV circuit W_E W_V W_O) when it attends to only one residue.

    Args:
        p: modulus; the first p tokens are the residues.
    Source: Nanda et al. 2023, appendix C.1.2 (definition D11).
    """
    attn = model.blocks[0].attn
    return (model.W_E[:p].double() @ attn.W_V.double() @ attn.W_O.double()).detach()


@dataclass(frozen=True)
class HeadFit:
    """Fit of one head's attention to a by 0.5 + alpha (cos w a - cos w b) + beta (sin w a - sin w b).

    Attributes:
        head: index of the head.
        freq: frequency at which the linear terms of the pattern have the most energy. [cycles per p]
        linear_share: share of the pattern's variance in the linear terms of that frequency, in [0, 1].
        alpha, beta: least-squares coefficients of cosine and sine.
        explained: fraction of the attention's variance that the fit explains.
        mean_to_self: mean attention of the last position to itself, in [0, 1].
    """

    head: int
    freq: int
    linear_share: float
    alpha: float
    beta: float
    explained: float
    mean_to_self: float


@printable
@dataclass(frozen=True)
class HeadFits:
    """Fits of the attention of all heads of a layer.

    Attributes:
        heads: the fit of each head.
    """

    heads: tuple[HeadFit, ...]

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each head, as table 2 of Nanda et al. 2023."""
        return pd.DataFrame([vars(head) for head in self.heads])


@checked
def head_fits(pattern: Float[Tensor, "a b head key"]) -> HeadFits:
    """Fits of each head's attention from the last position to a by waves of one frequency.

    Args:
        pattern: `blocks.0.attn.hook_pattern` on the grid; key 0 is a, and the last key is the last position itself.
    Source: Nanda et al. 2023, appendix C.1.3, table 2; section 4.1, figure 4 left.
    """
    basis = fourier_basis(len(pattern)).to(pattern.device)
    fits = []
    for head in range(pattern.shape[2]):
        field = pattern[:, :, head, 0].double()
        spectrum = transform_2d(field - field.mean())
        linear = spectrum[0].square() + spectrum[:, 0].square()
        per_freq = frequency_norms(linear.sqrt()).square()
        freq = int(per_freq.argmax()) + 1
        rows = basis[2 * freq - 1 : 2 * freq + 1]
        rows = rows / rows[0, 0]
        differences = (rows[:, :, None] - rows[:, None, :]).flatten(1).T
        (alpha, *beta), fitted = least_squares(differences, field.flatten() - 0.5)
        fits.append(
            HeadFit(
                head=head,
                freq=freq,
                linear_share=float(per_freq[freq - 1] / spectrum.square().sum()),
                alpha=float(alpha),
                beta=float(beta[0]) if beta else 0.0,
                explained=fraction_explained(field.flatten(), fitted + 0.5),
                mean_to_self=float(pattern[:, :, head, -1].mean()),
            )
        )
    return HeadFits(tuple(fits))


@dataclass(frozen=True)
class LinearSigmoid:
    """The best line 0.5 + slope (C[a] - C[b]) through each head's attention to a, which equals sigmoid(C[a] - C[b]).

    Attributes:
        slope: slope of the line of each head. [1 / nat]
        explained: fraction of the attention's variance that the line explains, for each head.
        lowest, highest: range of C[a] - C[b] of each head. [nats]
    """

    slope: tuple[float, ...]
    explained: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]


@checked
def table_differences(tables: Float[Tensor, "a head"]) -> Float[Tensor, "a b head"]:
    """Return the difference of scores C[a] - C[b] for every pair (a, b) and head. [nats]

    Args:
        tables: lookup tables, from `lookup_tables`. [nats]
    """
    return tables[:, None].double() - tables.double()


@checked
def linear_sigmoid(tables: Float[Tensor, "a head"], pattern: Float[Tensor, "a b head key"]) -> LinearSigmoid:
    """Measure how close the sigmoid of C[a] - C[b] is to a line over the range of differences that occur, for each
    head.

    Args:
        tables: lookup tables, from `lookup_tables`. [nats]
        pattern: `blocks.0.attn.hook_pattern` on the grid.
    Source: Nanda et al. 2023, appendix C.1.3.
    """
    x, y = table_differences(tables).flatten(0, 1), pattern[..., 0].double().flatten(0, 1)
    slope = (x * (y - 0.5)).sum(dim=0) / x.square().sum(dim=0)
    fits = 0.5 + slope * x
    explained = tuple(fraction_explained(y[:, h], fits[:, h]) for h in range(y.shape[1]))
    lowest, highest = x.aminmax(dim=0)
    return LinearSigmoid(tuple(slope.tolist()), explained, tuple(lowest.tolist()), tuple(highest.tolist()))


@checked
def linear_pattern(tables: Float[Tensor, "a head"], fit: LinearSigmoid) -> Float[Tensor, "a b head key"]:
    """Attention pattern with the sigmoid replaced by its best line: (0.5 + s d, 0.5 - s d, 0) for d = C[a] - C[b].

    Args:
        tables: lookup tables, from `lookup_tables`. [nats]
        fit: the best lines, from `linear_sigmoid`.
    """
    if len(fit.slope) != tables.shape[1]:
        raise ValueError(f"fit must have a line for each of the {tables.shape[1]} heads, got {len(fit.slope)}")
    line = table_differences(tables) * torch.tensor(fit.slope, dtype=torch.float64, device=tables.device)
    return torch.stack([0.5 + line, 0.5 - line, torch.zeros_like(line)], dim=-1)


@printable
@dataclass(frozen=True)
class HeadRoles:
    """Role of each head: heads that multiply waves, and pairs of heads that amplify the embedding.

    Attributes:
        freqs: dominant frequency of each head's lookup table C_j. [cycles per p]
        score_share: share of C_j's energy at that frequency, in [0, 1].
        ov_freqs: dominant frequency of each head's OV circuit. [cycles per p]
        ov_share: share of the OV circuit's energy at the frequency of the head's lookup table, in [0, 1].
        product_share: share of the variance of each head's output in products of two waves of that frequency.
        linear_share: share of the variance of each head's output in linear terms of that frequency.
        pair: indices of the two heads whose attentions to a come nearest to a sum of 1.
        pair_correlation: correlation of one head's attention to a with 1 minus the other head's attention to a.
        pair_ov_cosine: cosine between the OV circuits of the two heads in `pair`.
        scores_cosine: smallest cosine between the (cos, sin) coefficients of two heads' C_j at a common frequency;
            NaN if no two heads share a frequency.
    """

    freqs: tuple[int, ...]
    score_share: tuple[float, ...]
    ov_freqs: tuple[int, ...]
    ov_share: tuple[float, ...]
    product_share: tuple[float, ...]
    linear_share: tuple[float, ...]
    pair: tuple[int, int]
    pair_correlation: float
    pair_ov_cosine: float
    scores_cosine: float

    def multipliers(self, share: float = 0.8) -> tuple[int, ...]:
        """Return the indices of heads whose scores and OV circuit share one frequency; such heads multiply waves.

        Args:
            share: smallest share of the energy that scores and OV circuit must have at this frequency, in [0, 1].
        """
        shares = zip(self.score_share, self.ov_share, strict=True)
        return tuple(h for h, (score, ov) in enumerate(shares) if score >= share and ov >= share)

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each head: its frequencies and shares."""
        columns = ("freqs", "score_share", "ov_freqs", "ov_share", "product_share", "linear_share")
        return pd.DataFrame({column: getattr(self, column) for column in columns})


@checked
def head_roles(
    tables: Float[Tensor, "a head"],
    ov: Float[Tensor, "head a d_model"],
    pattern: Float[Tensor, "a b head key"],
    head_out: Float[Tensor, "a b head component"],
) -> HeadRoles:
    """Determine the role of each head: heads that multiply waves, and the pair of heads that amplifies the embedding.

    A head multiplies if its scores and its OV circuit have the same frequency.

    Args:
        tables: lookup tables, from `lookup_tables`. [nats]
        ov: OV circuits, from `ov_circuits`.
        pattern: `blocks.0.attn.hook_pattern` on the grid; key 0 is a.
        head_out: output of each head to the residual stream, `hook_z` times W_O, in any orthonormal basis.
    Source: Nanda et al. 2023, appendices C.1.2 and C.1.3.
    """
    p, n_heads = tables.shape
    scores = [dominant_frequency(tables[:, h]) for h in range(n_heads)]
    spectra = transform_2d(head_out - head_out.mean(dim=(0, 1)))
    waves = transform(tables)
    pairs = [(i, j) for i in range(n_heads) for j in range(i)]
    to_a = pattern[..., 0].double().flatten(0, 1).T
    correlations = {(j, i): correlation(to_a[i], 1 - to_a[j]) for i, j in pairs}
    known = {pair: value for pair, value in correlations.items() if value == value}  # NaN is larger than nothing
    pair = max(known, key=lambda ij: known[ij]) if known else (0, 0)
    shared = [(i, j) for i, j in pairs if scores[i][0] == scores[j][0]]

    def cosine(x: Tensor, y: Tensor) -> float:
        return float(torch.nn.functional.cosine_similarity(x.flatten(), y.flatten(), dim=0))

    def own(h: int) -> slice:
        return slice(2 * scores[h][0] - 1, 2 * scores[h][0] + 1)

    return HeadRoles(
        freqs=tuple(freq for freq, _ in scores),
        score_share=tuple(share for _, share in scores),
        ov_freqs=tuple(dominant_frequency(ov[h])[0] for h in range(n_heads)),
        ov_share=tuple(frequency_shares(ov[h], [scores[h][0]]) for h in range(n_heads)),
        product_share=tuple(
            energy_share(spectra[:, :, h][terms_of(p, [scores[h][0]], linear=False)], spectra[:, :, h])
            for h in range(n_heads)
        ),
        linear_share=tuple(
            energy_share(spectra[:, :, h][terms_of(p, [scores[h][0]], products=False)], spectra[:, :, h])
            for h in range(n_heads)
        ),
        pair=pair,
        pair_correlation=correlations.get(pair, float("nan")),
        pair_ov_cosine=cosine(ov[pair[0]], ov[pair[1]]),
        scores_cosine=min((cosine(waves[own(i), i], waves[own(j), j]) for i, j in shared), default=float("nan")),
    )
