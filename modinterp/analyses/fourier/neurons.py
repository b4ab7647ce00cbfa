"""Fit neurons by polynomials of degree two in the waves of one frequency, and cluster or replace neurons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.activations.blocks import column_blocks
from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.marginals import Marginals, marginals
from modinterp.analyses.fourier.transforms import (
    component_frequencies,
    components_of,
    fourier_basis,
    sum_wave_part,
    transform,
    transform_2d,
)
from modinterp.analyses.printing import printable
from modinterp.analyses.statistics.explained import energy_share, varies

THRESHOLD = 0.85  # of a neuron's variance, that one frequency explains
SMALLEST_CLUSTER = 5  # neurons of a key frequency


@checked
def terms_of(
    p: int, freqs: Sequence[int], linear: bool = True, products: bool = True
) -> Bool[Tensor, "component_a component_b"]:
    """Return a mask of the 2D Fourier components in {1, cos, sin} x {1, cos, sin} of one frequency.

    A frequency has four linear terms, which are waves of a alone or of b alone. A frequency also has four products of a
    wave of a and a wave of b. The frequency p / 2 has fewer terms. The constant is neither a linear term nor a product.

    Args:
        freqs: frequencies whose terms the mask contains. [cycles per p]
        linear, products: True to include the linear terms, and True to include the products.
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


@checked
def frequency_energies(spectrum: Float[Tensor, "component_a component_b *rest"]) -> Float[Tensor, "freq *rest"]:
    """Return the energy of a 2D transform in the polynomial terms of each frequency; entry k - 1 belongs to frequency
    k.

    Args:
        spectrum: 2D Fourier coefficients, from `transform_2d`.
    """
    p, rest = len(spectrum), spectrum.shape[2:]
    of_a, of_b = terms_of(p, range(1, p // 2 + 1)).nonzero(as_tuple=True)
    freqs = component_frequencies(p)
    own = torch.maximum(freqs[of_a], freqs[of_b]).to(spectrum.device)
    energy = spectrum[of_a, of_b].double().square()
    return energy.new_zeros(p // 2, *rest).index_add(0, own - 1, energy)


@dataclass(frozen=True)
class TermShares:
    """Shares of the variance of functions of (a, b) by the kind of Fourier term.

    Attributes:
        linear: share of the variance in waves of a alone or of b alone.
        products: share of the variance in products of a wave of a and a wave of b of the same frequency.
        rest: share of the variance in products of waves of two different frequencies.
    """

    linear: float
    products: float
    rest: float


@checked
def term_shares(fields: Float[Tensor, "a b *rest"]) -> TermShares:
    """Return the shares of the variance of functions of (a, b) in linear terms, in products of one frequency, and in
    the rest.

    Args:
        fields: values for every pair (a, b), with any further axes; each is centred on its mean.
    Returns:
        the three shares; NaN for a function that varies only by rounding.
    Source: Kissane's notebook, the sections on activations before and after the nonlinearity and on the logits.
    """
    return term_shares_of(marginals(fields))


@checked
def term_shares_of(found: Marginals) -> TermShares:
    """Compute `term_shares` from the `marginals` of the functions."""
    energy = found.energy.sum()
    if not varies(energy.sqrt(), (energy + len(found.of_a) ** 2 * found.mean.square().sum()).sqrt()):
        return TermShares(*[float("nan")] * 3)
    linear, products = (float(some.sum() / energy) for some in (found.linear, found.products))
    return TermShares(linear, products, 1 - linear - products)


@checked
def spectrum_energy(fields: Float[Tensor, "a b *rest"]) -> Float[Tensor, "component_a component_b"]:
    """Return the sum of the squares of the coefficients of `transform_2d` over all further axes."""
    return torch.stack([transform_2d(some).square().sum(dim=-1) for some in column_blocks(fields)]).sum(dim=0)


@printable
@dataclass(frozen=True)
class NeuronFits:
    """The share of every neuron's variance that every frequency explains.

    Attributes:
        shares: entry [k - 1, n] is the share of neuron n's variance in the polynomial terms of frequency k; NaN for a
            constant neuron.
    """

    shares: Float[Tensor, "freq neuron"]

    @property
    def freqs(self) -> Int[Tensor, " neuron"]:
        """The frequency that explains the largest share of each neuron's variance; 0 for a constant neuron. [cycles per
        p]
        """
        best = self.shares.nan_to_num(-1).max(dim=0)
        return torch.where(best.values >= 0, best.indices + 1, 0)

    @property
    def fractions(self) -> Float[Tensor, " neuron"]:
        """Share of each neuron's variance that its best frequency explains; NaN for a constant neuron."""
        best = self.shares.nan_to_num(-1).max(dim=0).values
        return torch.where(best >= 0, best, torch.nan)

    @property
    def explained(self) -> Bool[Tensor, " neuron"]:
        """True for each neuron with a frequency that explains more than 0.85 of its variance."""
        return self.fractions > THRESHOLD

    def clusters(self) -> dict[int, list[int]]:
        """Map each frequency, in ascending order, to the indices of the neurons that it explains."""
        members = self.explained.nonzero()[:, 0].tolist()
        freqs = self.freqs[members].tolist()
        return {k: [n for n, freq in zip(members, freqs, strict=True) if freq == k] for k in sorted(set(freqs))}

    def key_frequencies(self) -> tuple[int, ...]:
        """Return the frequencies that explain at least 5 neurons, the key frequencies of the paper's code (definition
        D3(a)).
        """
        return tuple(freq for freq, members in self.clusters().items() if len(members) >= SMALLEST_CLUSTER)

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each neuron: its best frequency and the fraction of its variance that this
        frequency explains.
        """
        return pd.DataFrame({"freq": self.freqs.tolist(), "fraction explained": self.fractions.tolist()})


@checked
def neuron_fits(post: Float[Tensor, "a b neuron"]) -> NeuronFits:
    """Return the share of every neuron's variance in the polynomial terms of every frequency.

    Args:
        post: activations after the nonlinearity, `hook_post` at the last position.
    Source: Nanda et al. 2023, section 4.3, figure 5 (definition D4-neuron).
    """
    return fits_of(marginals(post))


@checked
def fits_of(found: Marginals) -> NeuronFits:
    """Compute `neuron_fits` from the `marginals` of the neurons."""
    shares = (found.linear + found.products) / found.energy
    return NeuronFits(shares.masked_fill(found.is_constant, torch.nan))


@checked
def shares_of_all(found: Marginals) -> Float[Tensor, " freq"]:
    """Return the share of the variance of all neurons in the polynomial terms of every frequency.

    Args:
        found: the `marginals` of the neurons' activations after the nonlinearity.
    """
    return fits_of(found).shares.nan_to_num(0) @ found.energy / found.energy.sum()


@checked
def polynomial_neurons(post: Float[Tensor, "a b neuron"], fits: NeuronFits) -> Float[Tensor, "a b neuron"]:
    """Replace every neuron that one frequency explains by its mean and the 8 terms of that frequency.

    Args:
        post: activations after the nonlinearity.
        fits: fits of the neurons, from `neuron_fits`.
    Source: Nanda et al. 2023, section 4.4.
    """
    fitted = post.double().clone()
    for freq, members in fits.clusters().items():
        waves = fourier_basis(len(post))[[0, *components_of(freq, len(post))]].to(post.device)
        spectrum = torch.einsum("ia,jb,abn->ijn", waves, waves, fitted[..., members])
        fitted[..., members] = torch.einsum("ia,jb,ijn->abn", waves, waves, spectrum)
    return fitted


@checked
def sum_wave_neurons(
    post: Float[Tensor, "a b neuron"], freqs: Sequence[int], sign: int = 1
) -> Float[Tensor, "a b neuron"]:
    """Reduce activations to their mean and their waves cos, sin of w_k(a + b) at the given frequencies.

    Args:
        post: activations after the nonlinearity.
        sign: 1 for waves of a + b, -1 for waves of a - b.
    Raises:
        ValueError: a frequency outside 1..p // 2.
    Source: Nanda et al. 2023, section 4.4.
    """
    return post.double().mean(dim=(0, 1)) + sum_wave_part(post, tuple(freqs), sign)


@checked
def localisation(W_L: Float[Tensor, "neuron output"], clusters: dict[int, list[int]]) -> dict[int, float]:
    """Return, for each cluster of neurons, the share of its map to the logits at the cluster's own frequency.

    The share is a ratio of squared norms, without the constant component.

    Args:
        clusters: map from frequency to the indices of its neurons, from `NeuronFits.clusters`.
    Source: Nanda et al. 2023, figure 5 right.
    """
    if any(not 0 <= n < len(W_L) for members in clusters.values() for n in members):
        raise ValueError(f"clusters must hold numbers of the {len(W_L)} neurons, got {clusters}")
    directions, freqs = transform(W_L.T), component_frequencies(W_L.shape[1]).to(W_L.device)
    return {
        freq: energy_share(directions[freqs == freq][:, members], directions[1:, members])
        for freq, members in clusters.items()
    }
