"""Compute null distributions of Fourier measures, from networks and matrices without Fourier structure.

There are three null distributions. The first is the same architecture at initialisation. The second is the trained
network with randomly relabelled residues, which removes only the cyclic order. The third is random matrices with the
singular values of the trained matrix. A measure is judged by its p-value under a null distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from statistics import median
from typing import Annotated

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations.by_rows import renamed
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.cosine_shares import share_of_cosines, shares_of_cosines
from modinterp.analyses.fourier.cosine_sums import check_pairs
from modinterp.analyses.fourier.frequencies import spectrum_gaps
from modinterp.analyses.fourier.logit_sums import logit_sums
from modinterp.analyses.fourier.neurons import neuron_fits
from modinterp.analyses.fourier.transforms import frequency_norms, transform
from modinterp.analyses.printing import printable
from modinterp.analyses.statistics.explained import ROUNDING
from modinterp.arguments import OR_NEVER
from modinterp.models import Config, initial_weights, labelled_weights

AT_INITIALISATION = "the same architecture at initialisation"
RENAMED_RESIDUES = "numbers renamed"
SAME_SPECTRUM = "same singular values"
RANK = 1e-12  # of the largest singular value; smaller ones are rounding
TOGETHER = 16  # matrices whose spectra are taken at once
Statistics = Mapping[str, Annotated[float, OR_NEVER]]  # by name; NaN where one cannot be said


@dataclass(frozen=True)
class Null:
    """A statistic of a network, with samples of the statistic from a null distribution.

    Attributes:
        name: name of the null distribution.
        statistic: name of the statistic.
        observed: the statistic of the network itself; larger means more structure.
        draws: the statistic of every sample from the null distribution.
    """

    name: str
    statistic: str
    observed: float
    draws: tuple[float, ...] = field(repr=False)

    @property
    def p_value(self) -> float:
        """The share of samples, including the observation, that reach the observation; at least 1 / (draws + 1).

        NaN is never evidence: if the observation is NaN, the p-value is 1, and NaN samples count as reaching it.
        """
        # a tie up to rounding counts as reached
        reach = sum(not draw < self.observed - 1e-9 * abs(self.observed) for draw in self.draws)
        return (1 + reach) / (1 + len(self.draws))


@printable
@dataclass(frozen=True)
class Nulls:
    """Several statistics of a network, each with samples from one or more null distributions.

    Attributes:
        rows: one `Null` for each statistic and null distribution.
    """

    rows: tuple[Null, ...]

    def p_value(self, statistic: str) -> float:
        """Return the largest p-value of a statistic over its null distributions; NaN if there are none."""
        return max((row.p_value for row in self.rows if row.statistic == statistic), default=float("nan"))

    def table(self) -> pd.DataFrame:
        """Return a table with one row per statistic and null: observation, median and largest sample, p-value."""
        return pd.DataFrame(
            {
                "statistic": row.statistic,
                "observed": row.observed,
                "null": row.name,
                "median of the null": median(row.draws),
                "largest of the null": max(row.draws),
                "draws": len(row.draws),
                "p-value": row.p_value,
            }
            for row in self.rows
        )


@checked
def nulls_by_statistic(name: str, observed: Statistics, draws: Iterable[Statistics]) -> tuple[Null, ...]:
    """Combine observed statistics with samples from one null distribution into one `Null` for each statistic.

    Args:
        name: name of the null distribution.
        observed: map from the name of each statistic to its value in the network itself.
        draws: the map from names to values for every sample.
    """
    rows = list(draws)
    return tuple(Null(name, key, value, tuple(row[key] for row in rows)) for key, value in observed.items())


@checked
def separation(W_L: Float[Tensor, "neuron output"], count: int) -> dict[str, float]:
    """Measure by two statistics how clearly frequencies stand out of a matrix whose columns belong to the residues.

    Args:
        count: number of frequencies that count as key frequencies.
    Returns:
        `gap of the spectrum`, as in `key_frequencies`; `energy of the strongest`, the share of the squared norm in the
        `count` strongest frequencies, without the constant.
    """
    return next(_separations([W_L], count))


def _separations(matrices: Iterable[Float[Tensor, "neuron output"]], count: int) -> Iterator[dict[str, float]]:
    """Compute `separation` of several matrices of one shape, in batches."""
    rest = iter(matrices)
    while some := list(islice(rest, TOGETHER)):
        W = torch.stack(some).detach().double()
        norms = frequency_norms(transform(W.permute(2, 0, 1)).norm(dim=2)).T.cpu()
        sizes = W.flatten(1).norm(dim=1).cpu()
        energy = norms.square().sort(descending=True).values
        whole = energy.sum(dim=1)
        shares = (energy[:, :count].sum(dim=1) / whole).where(whole.sqrt() > ROUNDING * sizes, torch.nan)
        for gap, share in zip(spectrum_gaps(norms, sizes).tolist(), shares.tolist(), strict=True):
            yield {"gap of the spectrum": gap, "energy of the strongest": share}


@checked
def renamings(p: int, draws: int, seed: int = 0) -> list[Int[Tensor, " a"]]:
    """Return random permutations of the residues mod p, one for each sample."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randperm(p, generator=generator) for _ in range(draws)]


@checked
def matrices_with_same_spectrum(
    W_L: Float[Tensor, "neuron output"], draws: int, seed: int = 0
) -> Iterable[Float[Tensor, "component output"]]:
    """Yield random matrices with the singular values of a given matrix, one after the other.

    Left singular vectors, which do not affect the statistics of this module, are left out.
    """
    generator = torch.Generator().manual_seed(seed)
    values = torch.linalg.svdvals(W_L.double()).cpu()
    rank = _rank(values)
    for _ in range(draws):
        drawn = torch.randn(W_L.shape[1], len(values), generator=generator, dtype=torch.float64)
        yield values[:rank, None] * _orthonormal(drawn[:, :rank])


def _orthonormal(drawn: Float[Tensor, "output component"]) -> Float[Tensor, "component output"]:
    """Return orthonormal rows that span the same space as random columns; signs are arbitrary.

    Columns at least twice as long as their number are far from linearly dependent. A Cholesky factor is then accurate
    enough, and much faster than a QR decomposition.
    """
    if len(drawn) < 2 * drawn.shape[1]:
        return torch.linalg.qr(drawn).Q.T
    return torch.linalg.solve_triangular(torch.linalg.cholesky(drawn.T @ drawn), drawn.T, upper=False)


def _rank(values: Float[Tensor, " component"]) -> int:
    """Return the number of singular values above rounding errors; W_L often has a low rank."""
    return max(1, int((values > RANK * values[0]).sum()))


@checked
def readouts_at_start(config: Config, draws: int) -> Iterable[Float[Tensor, "neuron output"]]:
    """Yield W_L of networks of an architecture at initialisation, for the seeds 0, 1, ..., one after the other.

    If there are more neurons than residual dimensions, neurons are rotated into fewer rows, one per residual dimension.
    Lengths and angles of the columns stay the same, and a transform is faster.

    In a pair MLP or an attention-only network, the matrix is W_U. No other weights are drawn.
    """
    last = f"blocks.{config.n_layers - 1}.mlp.W_out"
    for seed in range(draws):
        weights = labelled_weights(config, initial_weights(config, seed, only=(last, "unembed.W_U")))
        W_U = weights["unembed.W_U"]
        if last in weights and len(weights[last]) > len(W_U):
            yield torch.linalg.qr(weights[last].double(), mode="r").R @ W_U.double()
        else:
            yield weights[last] @ W_U if last in weights else W_U


@checked
def matrices_without_structure(
    W_L: Float[Tensor, "neuron output"],
    at_start: Iterable[Float[Tensor, "neuron output"]] | None,
    draws: int = 199,
    seed: int = 0,
) -> dict[str, Iterable[Float[Tensor, "component output"]]]:
    """Map the name of each of the three null distributions to random matrices, which are computed one after the other.

    Only lengths and angles of the columns are meaningful, because the rows are neurons in an arbitrary basis.

    Args:
        W_L: the matrix that makes the logits, usually from the neurons.
        at_start: matrices `W_L` of untrained networks of the same architecture; None if there are none.
        draws, seed: number and seed of the samples from the other two null distributions.
    """
    W = W_L.double().cpu()
    _, values, directions = torch.linalg.svd(W, full_matrices=False)
    columns = (values[:, None] * directions)[: _rank(values)]  # of the same lengths and angles, whatever their order
    return {
        **({} if at_start is None else {AT_INITIALISATION: at_start}),
        RENAMED_RESIDUES: (columns[:, order] for order in renamings(W.shape[1], draws, seed)),
        SAME_SPECTRUM: matrices_with_same_spectrum(W, draws, seed),
    }


@checked
def spectrum_nulls(
    W_L: Float[Tensor, "neuron output"],
    count: int,
    at_start: Iterable[Float[Tensor, "neuron output"]] | None,
    draws: int = 199,
    seed: int = 0,
) -> Nulls:
    """Measure how clearly frequencies stand out of the map to logits, compared with all three null distributions.

    Args:
        W_L: the matrix that makes the logits, usually from the neurons.
        count: number of key frequencies.
        at_start: matrices `W_L` of untrained networks of the same architecture; None if there are none.
        draws, seed: number and seed of the samples from the other two null distributions.
    """
    observed, drawn = separation(W_L, count), matrices_without_structure(W_L, at_start, draws, seed)
    samples = {name: _separations(sample, count) for name, sample in drawn.items()}
    return Nulls(tuple(null for name, rows in samples.items() for null in nulls_by_statistic(name, observed, rows)))


@checked
def cosine_share(
    logits: Float[Tensor, "a b output"], count: int, sign: int = 1, names: Int[Tensor, " a"] | None = None
) -> float:
    """Return the share of the logits' variance in the strongest cosines of a + b - c, in [0, 1].

    Args:
        count: number of cosines.
        sign: 1 for cosines of a + b - c, -1 for cosines of a - b - c.
        names: a permutation that gives the new label of each residue.
    """
    names = torch.arange(len(logits)) if names is None else names
    return shares_of_cosines(logits.flatten(0, 1), torch.arange(len(logits) ** 2), names[None], count, sign)[0]


def _of_pairs(logits: Float[Tensor, "*pair output"], pairs: int, p: int) -> Float[Tensor, "pair output"]:
    if logits.shape[-1] != p or logits.numel() != pairs * p:
        raise ValueError(f"at_start must hold {p} logits of {pairs} pairs, got shape {tuple(logits.shape)}")
    return logits.reshape(pairs, p)


@checked
def logit_nulls(
    logits: Float[Tensor, "a b output"],
    count: int,
    at_start: Iterable[Float[Tensor, "*pair output"]] | None,
    sign: int = 1,
    draws: int = 39,
    seed: int = 0,
    pairs: Int[Tensor, " pair"] | None = None,
) -> Nulls:
    """Compare the logits' variance in cosines of a + b - c with initial networks and relabelled residues.

    Args:
        count: number of cosines.
        at_start: logits of untrained networks of the same architecture; None if there are none.
        sign: 1 for cosines of a + b - c, -1 for cosines of a - b - c.
        draws, seed: number and seed of the random relabellings.
        pairs: indices a p + b of the pairs in the samples and in `at_start`; all pairs by default. Fewer pairs add
            noise to each cosine, so that p-values err towards 1.
    """
    statistic, p = "variance of the logits in cosines", logits.shape[-1]
    if pairs is not None:
        check_pairs(pairs, p)
    flat, kept = logits.flatten(0, 1), torch.arange(p * p) if pairs is None else pairs.cpu()
    drawn = flat if pairs is None else flat[kept.to(flat.device)]
    orders, itself = torch.stack(renamings(p, draws, seed)), torch.arange(p)[None]
    observed = {statistic: share_of_cosines(logit_sums(logits, sign), count)}
    of_renaming = ({statistic: share} for share in shares_of_cosines(drawn, kept, orders, count, sign))
    rows = nulls_by_statistic(RENAMED_RESIDUES, observed, of_renaming)
    if at_start is not None:
        flattened = (_of_pairs(some, len(kept), p) for some in at_start)
        of_start = ({statistic: shares_of_cosines(some, kept, itself, count, sign)[0]} for some in flattened)
        rows = nulls_by_statistic(AT_INITIALISATION, observed, of_start) + rows
    return Nulls(rows)


@checked
def best_shares(post: Float[Tensor, "a b neuron"]) -> Float[Tensor, " neuron"]:
    """Return the share of each neuron's variance at its best frequency, 0 for a constant neuron; see `neuron_fits`."""
    return neuron_fits(post).fractions.nan_to_num(0)


@checked
def neuron_null(
    post: Float[Tensor, "a b neuron"], draws: int = 9, n_neurons: int = 64, seed: int = 0
) -> tuple[float, Sequence[float]]:
    """Return the share of a neuron's variance at its best frequency after relabelling the residues at random.

    Args:
        post: activations after the nonlinearity.
        draws: number of random relabellings.
        n_neurons: approximate number of neurons to use, evenly spaced among all neurons.
    Returns:
        the 99th percentile of the share over neurons and relabellings; the largest share of each relabelling.
    """
    step = max(1, post.shape[-1] // n_neurons)
    some = post[..., ::step].cpu()
    shares = [best_shares(renamed(some, order)) for order in renamings(len(post), draws, seed)]
    return float(torch.cat(shares).quantile(0.99)), [float(of_draw.max()) for of_draw in shares]
