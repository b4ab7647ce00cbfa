"""What would be seen if there were nothing to see: null distributions that measurements are held against.

Three worlds without Fourier structure: the same architecture at initialisation; the trained network with its residues
renamed at random, which keeps every weight and takes away only the cyclic order; random matrices with the singular
values of the trained one. A measurement is then given by its rank among the draws, never by an adjective.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.cosine_sums import answer_sums
from modinterp.analyses.fourier import transform
from modinterp.analyses.frequencies import key_frequencies
from modinterp.analyses.neurons import neuron_fits
from modinterp.analyses.shown import shown
from modinterp.models import Config, Network, hooked, initial_weights

AT_START, RENAMED, SAME_SPECTRUM = "the same architecture at initialisation", "residues renamed", "same singular values"


@dataclass(frozen=True)
class Null:
    """A measured number among those of a world without structure.

    Attributes:
        name: of the world.
        statistic: what is measured.
        observed: on the network itself; larger means more structure.
        draws: the same on every draw.
    """

    name: str
    statistic: str
    observed: float
    draws: tuple[float, ...] = field(repr=False)

    @property
    def p_value(self) -> float:
        """Share of the draws, the observation counted as one of them, that reach it; never below 1 / (draws + 1)."""
        # a tie up to rounding counts as reached
        reach = sum(draw >= self.observed - 1e-9 * abs(self.observed) for draw in self.draws)
        return (1 + reach) / (1 + len(self.draws))


@shown
@dataclass(frozen=True)
class Nulls:
    """Several measurements, each among its draws."""

    rows: tuple[Null, ...]

    def p_value(self, statistic: str) -> float:
        """The largest p-value of a statistic over its nulls; NaN where there is none."""
        found = [row.p_value for row in self.rows if row.statistic == statistic]
        return max(found) if found else float("nan")

    def table(self) -> pd.DataFrame:
        """One row a measurement and null."""
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


def compared(name: str, observed: Mapping[str, float], draws: Iterable[Mapping[str, float]]) -> tuple[Null, ...]:
    """One null for each statistic."""
    drawn = list(draws)
    return tuple(Null(name, key, value, tuple(draw[key] for draw in drawn)) for key, value in observed.items())


def separation(W_L: Float[Tensor, "neuron output"], count: int) -> dict[str, float]:
    """How clearly frequencies stand out of a matrix whose columns belong to the residues.

    Args:
        count: how many frequencies are taken for the key ones.
    Returns:
        `gap of the spectrum`, as in `key_frequencies`; `energy of the strongest`, the share of the squared norm, the
        constant left out, in its `count` strongest frequencies, whichever these are.
    """
    keys = key_frequencies(W_L)
    energy = torch.tensor(keys.norms, dtype=torch.float64).square().sort(descending=True).values
    total = energy.sum()
    share = float(energy[:count].sum() / total) if total > 0 else float("nan")
    return {"gap of the spectrum": keys.gap, "energy of the strongest": share}


def renamings(p: int, draws: int, seed: int = 0) -> list[Int[Tensor, " residue"]]:
    """Random permutations of the residues."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randperm(p, generator=generator) for _ in range(draws)]


def with_same_spectrum(
    W_L: Float[Tensor, "neuron output"], draws: int, seed: int = 0
) -> Iterable[Float[Tensor, "rank output"]]:
    """Random matrices with the singular values of this one; left directions, which no statistic here sees, left out."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.linalg.svdvals(W_L.double()).cpu()
    for _ in range(draws):
        directions = torch.linalg.qr(torch.randn(W_L.shape[1], len(values), generator=generator, dtype=torch.float64)).Q
        yield values[:, None] * directions.T


def networks_at_start(config: Config, draws: int) -> Iterable[Network]:
    """The architecture at initialisation, seed after seed."""
    return (hooked(config, initial_weights(config, seed)) for seed in range(draws))


def spectrum_nulls(
    W_L: Float[Tensor, "neuron output"],
    count: int,
    at_start: Iterable[Float[Tensor, "neuron output"]],
    draws: int = 199,
    seed: int = 0,
) -> Nulls:
    """The spectrum of the map to the logits against all three worlds.

    Args:
        W_L: from neurons (or whatever the logits are read from) to logits.
        count: number of key frequencies.
        at_start: the same matrix of networks at initialisation.
        draws, seed: of the other two.
    """
    observed, W = separation(W_L, count), W_L.double().cpu()
    worlds = {
        AT_START: at_start,
        RENAMED: (W[:, order] for order in renamings(W.shape[1], draws, seed)),
        SAME_SPECTRUM: with_same_spectrum(W, draws, seed),
    }
    found = (compared(name, observed, (separation(w, count) for w in world)) for name, world in worlds.items())
    return Nulls(tuple(null for nulls in found for null in nulls))


def carried_by_cosines(
    logits: Float[Tensor, "a b output"], count: int, sign: int = 1, names: Int[Tensor, " residue"] | None = None
) -> float:
    """Share of the logits' variance in the best `count` cosines of a + b - c, whichever these are, in [0, 1].

    Args:
        sign: -1 for a - b - c.
        names: other names for the residues, a permutation of them.
    """
    values = logits.double().cpu()
    sums = answer_sums(values, sign, names)
    cosines = transform(sums)[1::2].square() / len(sums) ** 2  # p**2 triples share each value of a + b - c
    total = (values - values.mean()).square().sum()
    return float(cosines.topk(min(count, len(cosines))).values.sum() / total) if total > 0 else float("nan")


def logit_nulls(
    logits: Float[Tensor, "a b output"],
    count: int,
    at_start: Iterable[Float[Tensor, "a b output"]],
    sign: int = 1,
    draws: int = 39,
    seed: int = 0,
) -> Nulls:
    """How far the logits are cosines of a + b - c, against networks at initialisation and residues renamed."""
    statistic = "variance of the logits in cosines"
    observed = {statistic: carried_by_cosines(logits, count, sign)}
    orders = renamings(logits.shape[-1], draws, seed)
    renamed = ({statistic: carried_by_cosines(logits, count, sign, order)} for order in orders)
    started = ({statistic: carried_by_cosines(some, count, sign)} for some in at_start)
    return Nulls(compared(AT_START, observed, started) + compared(RENAMED, observed, renamed))


def best_shares(post: Float[Tensor, "a b neuron"]) -> Float[Tensor, " neuron"]:
    """Share of each neuron's variance at its best frequency; see `modinterp.analyses.neurons`."""
    return neuron_fits(post).fractions.nan_to_num(0)


def neuron_null(
    post: Float[Tensor, "a b neuron"], draws: int = 9, sampled: int = 64, seed: int = 0
) -> tuple[float, Sequence[float]]:
    """The share of variance that one frequency explains of a neuron when the residues are renamed.

    Args:
        sampled: neurons that are looked at, evenly spread.
    Returns:
        the 99th percentile over neurons and draws, and the largest of each draw.
    """
    step = max(1, post.shape[-1] // sampled)
    some = post[..., ::step].cpu()
    found = [best_shares(some[order][:, order]) for order in renamings(len(post), draws, seed)]
    return float(torch.cat(found).quantile(0.99)), [float(shares.max()) for shares in found]
