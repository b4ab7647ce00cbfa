"""Analyse 2D Fourier spectra of neurons: which waves stand out, and how far.

Source: Syrkis & Søgaard 2024, figure 4.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.activations.spectra import Spectra, wave_lengths
from modinterp.analyses.checked import checked


@checked
def magnitudes(fields: Float[Tensor, "a b neuron"]) -> Float[Tensor, "freq_a freq_b neuron"]:
    """Return the absolute 2D Fourier transform of each centred neuron: `torch.fft.rfft2` over a and b.

    The frequencies of a are ordered 0, 1, ..., p // 2, ..., -1, and the frequencies of b run from 0 to p // 2. The
    constant component is set to 0.
    """
    centred = fields.double() - fields.double().mean(dim=(0, 1))
    return torch.fft.rfft2(centred, dim=(0, 1)).abs()


def _largest_over_mean(sizes: Float[Tensor, "component neuron"]) -> Float[Tensor, " neuron"]:
    mean = sizes.mean(dim=0)
    return torch.where(mean > 1e-12, sizes.amax(dim=0) / mean, torch.nan)


@checked
def peak_ratios(fields: Float[Tensor, "a b neuron"]) -> Float[Tensor, " neuron"]:
    """Return the ratio of the largest to the mean magnitude in each neuron's 2D transform; NaN for constant neurons."""
    return _largest_over_mean(magnitudes(fields).flatten(0, 1)[1:])


@checked
def mixed_peak_ratios(fields: Float[Tensor, "a b neuron"]) -> Float[Tensor, " neuron"]:
    """Return the ratio of the largest to the mean magnitude of each neuron's 2D transform, among products of two waves.

    A product is a wave of a times a wave of b. A function of a plus a function of b has no products, except for
    rounding. In the full transform (`peak_ratios`), its waves of a alone and of b alone would look like peaks.
    """
    return _largest_over_mean(magnitudes(fields)[1:, 1:].flatten(0, 1))


@checked
def strongest_share(fields: Float[Tensor, "a b neuron"], count: int = 10) -> Float[Tensor, " neuron"]:
    """Return the share of each neuron's variance in its strongest waves; a wave is a pair of frequencies with any
    phase.

    A wave of a alone, of b alone, or of both counts as one wave; see `modinterp.activations.spectra.wave_lengths`. The
    share is NaN for a constant neuron.

    Args:
        count: number of strongest waves that the share counts.
    """
    energy = wave_lengths(fields.double().movedim(-1, 0)).square().flatten(1)[:, 1:]
    total, strongest = energy.sum(dim=1), energy.topk(min(count, energy.shape[1]), dim=1).values
    return torch.where(total > 1e-12, strongest.sum(dim=1) / total, torch.nan)


@checked
def logged_norms(log: Spectra) -> Float[Tensor, "epoch freq"]:
    """Return the norm of every frequency in the logged neurons at every logged epoch; entry [i, k - 1] is frequency k.

    The norm runs over neurons, and over products of a wave of a and a wave of b. One of the two factors of a product
    must have the frequency. Waves of one operand alone are left out, and so are waves that were too weak to be logged.

    Source: Syrkis & Søgaard 2024, the code of its finding on active frequencies.
    """
    p_a, p_b = log.grid
    neurons = [i for i, name in enumerate(log.names) if "hook_post" in name]
    energy = log.full()[:, neurons].double().square().sum(dim=1)[:, 1:, 1:]
    k_a = torch.arange(1, p_a).minimum(torch.arange(p_a - 1, 0, -1))
    of_a = torch.zeros(len(log), p_a // 2, dtype=energy.dtype).index_add_(1, k_a - 1, energy.sum(dim=2))
    of_b = energy.sum(dim=1)
    shared = min(p_a // 2, p_b // 2)
    return (of_a[:, :shared] + of_b[:, :shared]).sqrt()


@checked
def signed_spectrum(spectrum: Float[Tensor, "freq_a freq_b"]) -> tuple[Float[Tensor, "freq_a freq_b"], list[int]]:
    """Return a spectrum from `magnitudes` with the frequencies of a in ascending order, and these frequencies. [cycles
    per p]

    Returns:
        spectrum, with rows from the most negative to the most positive frequency of a; and the frequency of each row.
    """
    p = len(spectrum)
    freqs = torch.fft.fftshift(torch.fft.fftfreq(p, 1 / p)).round().long().tolist()
    return torch.fft.fftshift(spectrum, dim=0), freqs
