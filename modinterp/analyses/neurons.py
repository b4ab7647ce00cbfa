"""What each neuron computes: a polynomial of degree two in the waves of one frequency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.explained import energy_share
from modinterp.analyses.fourier import (
    component_frequencies,
    components_of,
    inverse_2d,
    sum_wave_part,
    transform,
    transform_2d,
)
from modinterp.analyses.shown import shown

THRESHOLD = 0.85
SMALLEST_CLUSTER = 5


def terms_of(
    p: int, freqs: Sequence[int], linear: bool = True, products: bool = True
) -> Bool[Tensor, "component_a component_b"]:
    """Which 2D components are a polynomial of degree two in one of the frequencies, {1, cos, sin} x {1, cos, sin}.

    A frequency has four linear terms, a wave of a or of b alone, and four products, a wave of a times one of b; there
    are fewer of both at p / 2. The constant is neither.

    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 4.3 (definition D4-neuron).
    """
    own = torch.zeros(p, dtype=torch.bool)
    own[components_of(tuple(freqs), p)] = True
    of_a, of_b = torch.meshgrid(component_frequencies(p), component_frequencies(p), indexing="ij")
    alone = (of_a == 0) != (of_b == 0)
    together = (of_a == of_b) & (of_a > 0)
    return (own[:, None] | own) & (alone & linear | together & products)


def frequency_energies(spectrum: Float[Tensor, "component_a component_b *rest"]) -> Float[Tensor, "freq *rest"]:
    """Energy of a 2D transform in the polynomial terms of each frequency; entry k - 1 belongs to frequency k."""
    p = len(spectrum)
    energy = spectrum.double().square()
    masks = torch.stack([terms_of(p, [k]) for k in range(1, p // 2 + 1)]).to(spectrum.device)
    return torch.tensordot(masks.double(), energy, dims=2)


@dataclass(frozen=True)
class TermShares:
    """Where the variance of fields over (a, b) lies.

    Attributes:
        linear: share in the waves of a alone or of b alone.
        products: share in products of a wave of a and a wave of b of the same frequency.
        rest: share in all other products.
    """

    linear: float
    products: float
    rest: float


def term_shares(fields: Float[Tensor, "a b *rest"]) -> TermShares:
    """How much of fields over (a, b), each about its mean, is linear, products of one frequency, and neither.

    Source: Kissane's notebook, the sections on activations before and after the nonlinearity and on the logits.
    """
    p, spectrum = len(fields), transform_2d(fields).flatten(2)
    spectrum[0, 0] = 0
    freqs = range(1, p // 2 + 1)
    alone, together = (terms_of(p, freqs, linear, not linear).to(spectrum.device) for linear in (True, False))
    linear, products = energy_share(spectrum[alone], spectrum), energy_share(spectrum[together], spectrum)
    return TermShares(linear, products, 1 - linear - products)


@shown
@dataclass(frozen=True)
class NeuronFits:
    """Every neuron's share of variance at every frequency.

    Attributes:
        shares: entry [k - 1, n] is the share of neuron n's variance in the terms of frequency k; NaN for a neuron
            that never varies.
    """

    shares: Float[Tensor, "freq neuron"]

    @property
    def freqs(self) -> Int[Tensor, " neuron"]:
        """Best frequency of each neuron; 0 for a neuron that never varies. [cycles per p]"""
        best = self.shares.nan_to_num(-1).max(dim=0)
        return torch.where(best.values >= 0, best.indices + 1, 0)

    @property
    def fractions(self) -> Float[Tensor, " neuron"]:
        """Share of variance at the best frequency; NaN for a neuron that never varies."""
        best = self.shares.nan_to_num(-1).max(dim=0).values
        return torch.where(best >= 0, best, torch.nan)

    @property
    def explained(self) -> Bool[Tensor, " neuron"]:
        """Whether one frequency explains more than 0.85 of the neuron."""
        return self.fractions > THRESHOLD

    def clusters(self) -> dict[int, list[int]]:
        """Explained neurons by frequency, frequencies ascending."""
        members = self.explained.nonzero()[:, 0].tolist()
        freqs = self.freqs[members].tolist()
        return {k: [n for n, freq in zip(members, freqs, strict=True) if freq == k] for k in sorted(set(freqs))}

    def key_frequencies(self) -> tuple[int, ...]:
        """Frequencies with at least 5 explained neurons: the code's definition (definition D3(a))."""
        return tuple(freq for freq, members in self.clusters().items() if len(members) >= SMALLEST_CLUSTER)

    def table(self) -> pd.DataFrame:
        """One row a neuron."""
        return pd.DataFrame({"freq": self.freqs.tolist(), "fraction explained": self.fractions.tolist()})


def neuron_fits(post: Float[Tensor, "a b neuron"]) -> NeuronFits:
    """How much of every neuron each frequency explains. Source: Nanda et al. 2023, section 4.3, figure 5."""
    spectrum = transform_2d(post)
    total = spectrum.square().sum(dim=(0, 1)) - spectrum[0, 0].square()
    # a constant neuron's remaining energy is rounding, not variance
    varies = total > 1e-20 * spectrum[0, 0].square() + 1e-300
    return NeuronFits(torch.where(varies, frequency_energies(spectrum) / total, torch.nan))


def polynomial_neurons(post: Float[Tensor, "a b neuron"], fits: NeuronFits) -> Float[Tensor, "a b neuron"]:
    """Activations with every explained neuron replaced by its mean and the 8 terms of its own frequency.

    Source: Nanda et al. 2023, section 4.4.
    """
    p, spectrum = len(post), transform_2d(post)
    for freq, members in fits.clusters().items():
        kept = terms_of(p, [freq]).to(post.device)
        kept[0, 0] = True
        spectrum[:, :, members] = spectrum[:, :, members] * kept[:, :, None]
    return inverse_2d(spectrum)


def sum_wave_neurons(
    post: Float[Tensor, "a b neuron"], freqs: Sequence[int], sign: int = 1
) -> Float[Tensor, "a b neuron"]:
    """Activations of which only the mean and the waves cos, sin of w_k(a + b) at the given frequencies are kept.

    Args:
        sign: -1 for a - b.
    Source: Nanda et al. 2023, section 4.4.
    """
    return post.double().mean(dim=(0, 1)) + sum_wave_part(post, tuple(freqs), sign)


def localisation(W_L: Float[Tensor, "neuron output"], clusters: dict[int, list[int]]) -> dict[int, float]:
    """For each cluster of neurons, the share of its map to logits that lies at the cluster's own frequency.

    Share of squared norm over the non-constant components. Source: Nanda et al. 2023, figure 5 right.
    """
    directions, freqs = transform(W_L.T), component_frequencies(W_L.shape[1]).to(W_L.device)
    return {
        freq: energy_share(directions[freqs == freq][:, members], directions[1:, members])
        for freq, members in clusters.items()
    }
