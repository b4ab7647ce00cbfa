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
    check_frequency,
    component_frequencies,
    inverse_2d,
    sum_wave_part,
    transform,
    transform_2d,
)

THRESHOLD = 0.85
SMALLEST_CLUSTER = 5


def polynomial_terms(p: int, freq: int) -> Bool[Tensor, "component_a component_b"]:
    """Which 2D components are a polynomial of degree two in one frequency: {1, cos, sin} x {1, cos, sin} less 1 x 1.

    Four linear and four product terms; fewer at freq = p / 2.
    Source: Nanda et al. 2023, section 4.3 (ledger D4-neuron).
    """
    check_frequency(freq, p)
    own = component_frequencies(p) == freq
    with_constant = own.clone()
    with_constant[0] = True
    terms = torch.outer(with_constant, with_constant)
    terms[0, 0] = False
    return terms


def product_terms(p: int, freq: int) -> Bool[Tensor, "component_a component_b"]:
    """Which 2D components are products of two waves of one frequency: {cos, sin} x {cos, sin}."""
    check_frequency(freq, p)
    own = component_frequencies(p) == freq
    return torch.outer(own, own)


def terms_of(
    p: int, freqs: Sequence[int], linear: bool = True, products: bool = True
) -> Bool[Tensor, "component_a component_b"]:
    """Which 2D components are linear or product terms of any of the frequencies."""
    mask = torch.zeros(p, p, dtype=torch.bool)
    for freq in freqs:
        product = product_terms(p, freq)
        if products:
            mask |= product
        if linear:
            mask |= polynomial_terms(p, freq) & ~product
    return mask


def frequency_energies(spectrum: Float[Tensor, "component_a component_b *rest"]) -> Float[Tensor, "freq *rest"]:
    """Energy of a 2D transform in the polynomial terms of each frequency; entry k - 1 belongs to frequency k."""
    p = len(spectrum)
    energy = spectrum.double().square()
    masks = torch.stack([polynomial_terms(p, k) for k in range(1, p // 2 + 1)]).to(spectrum.device)
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


def fraction_explained_by(post: Float[Tensor, "a b neuron"], freq: int) -> Float[Tensor, " neuron"]:
    """Share of each neuron's variance that one frequency carries.

    Energy of the 2D transform in {1, cos, sin} x {1, cos, sin} at w = 2 pi freq / p, constant term left out.

    Args:
        post: activations after the nonlinearity at the last position, over all pairs (a, b).
        freq: from 1 to p // 2. [cycles per p]
    Returns:
        one number in [0, 1] per neuron; NaN for a neuron that never varies.
    Raises:
        ValueError: freq outside 1..p // 2.
    Source: Nanda et al. 2023, section 4.3, figure 5.
    """
    check_frequency(freq, len(post))
    return neuron_fits(post).shares[freq - 1]


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
        """Frequencies with at least 5 explained neurons: the code's definition (ledger D3(a))."""
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
        kept = polynomial_terms(p, freq).to(post.device)
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
