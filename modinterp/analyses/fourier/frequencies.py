"""Find key frequencies: the frequencies that a network uses, and how clearly they stand out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import pandas as pd
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.transforms import component_frequencies, component_norms, frequency_norms, transform
from modinterp.analyses.printing import printable
from modinterp.analyses.statistics.explained import ROUNDING, energy_share, varies

MOST_KEYS = 20  # the cut lies among so many of the strongest frequencies
MIN_SHARE_OF_LARGEST = 0.1  # norm of a key frequency over the largest norm, at least
SIGNIFICANT = 0.25  # norm of a significant frequency over the largest norm, more than


@printable
@dataclass(frozen=True)
class KeyFrequencies:
    """Frequencies that stand out of a spectrum.

    Attributes:
        freqs: the key frequencies, ascending. [cycles per p]
        norms: norm of the spectrum at every frequency; entry k - 1 belongs to frequency k.
        gap: norm of the weakest key frequency divided by the norm of the strongest other frequency. With a gap above 2
            the set of key frequencies is certain; with a gap near 1 it is arbitrary. The gap is infinite if all other
            norms are zero, and NaN if all norms are zero.
    """

    freqs: tuple[int, ...]
    norms: tuple[float, ...] = field(repr=False)
    gap: float

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each frequency, strongest first: norm, and whether it is a key frequency."""
        rows = [(k + 1, norm, k + 1 in self.freqs) for k, norm in enumerate(self.norms)]
        table = pd.DataFrame(rows, columns=["freq", "norm", "key"])
        return table.sort_values("norm", ascending=False, ignore_index=True)


@checked
def key_frequencies(W_L: Float[Tensor, "neuron output"]) -> KeyFrequencies:
    """Find the key frequencies, which stand out of the spectrum of the map from neurons to logits.

    The frequencies are sorted by norm, and cut at the largest ratio of two neighbours. The cut lies among the first 20
    frequencies, and above a tenth of the largest norm. If there are two or more frequencies, at least one is not a key
    frequency. A matrix with constant rows, up to rounding, has no key frequencies.

    Args:
        W_L: `model.W_L`, or any other matrix whose columns belong to the residues, such as `W_E[:p].T`.
    Raises:
        ValueError: the matrix has fewer than 2 columns, or values that are not finite.
    Source: Nanda et al. 2023, appendix C.2 ("non-trivial coefficients of W_L"), made precise as definition D3(b).

    >>> turn = 2 * torch.pi * torch.arange(7) / 7
    >>> key_frequencies(torch.stack([torch.cos(2 * turn), torch.sin(2 * turn)])).freqs
    (2,)
    """
    if W_L.shape[1] < 2 or not W_L.isfinite().all():
        raise ValueError(f"expected a finite matrix with one column per residue, got shape {tuple(W_L.shape)}")
    norms = frequency_norms(component_norms(W_L.detach().T)).cpu()
    falling, order = norms.sort(descending=True, stable=True)
    if falling[0] <= ROUNDING * W_L.detach().double().norm():
        return KeyFrequencies((), tuple(norms.tolist()), float("nan"))
    ratios = _ratios(falling)
    cut = int(ratios.argmax())
    freqs = tuple(sorted((order[: cut + 1] + 1).tolist()))
    return KeyFrequencies(freqs, tuple(norms.tolist()), float(ratios[cut]))


def _ratios(falling: Float[Tensor, "*draw freq"]) -> Float[Tensor, "*draw cut"]:
    """Return the ratio of each norm to the next smaller norm, or 0 if the cut may not lie between the two.

    The cut may lie after the last norm only if there is a single norm.
    """
    largest, nothing = falling[..., :1], torch.zeros(())
    following = F.pad(falling[..., 1:], (0, int(falling.shape[-1] == 1)))[..., :MOST_KEYS]
    norms = falling[..., : following.shape[-1]]
    ratios = norms / following.where(following > largest * 1e-12, nothing)  # float64 resolves no smaller ones
    return ratios.where(norms >= MIN_SHARE_OF_LARGEST * largest, nothing)


@checked
def spectrum_gaps(norms: Float[Tensor, "draw freq"], sizes: Float[Tensor, " draw"]) -> Float[Tensor, " draw"]:
    """Return the `gap` that `key_frequencies` finds in each of several spectra.

    Args:
        norms: norm at every frequency; entry k - 1 belongs to frequency k.
        sizes: norm of each matrix, including its constant component.
    """
    falling = norms.sort(descending=True).values
    return _ratios(falling).amax(dim=1).where(falling[:, 0] > ROUNDING * sizes, torch.nan)


@checked
def significant_frequencies(x: Float[Tensor, "a *rest"]) -> tuple[int, ...]:
    """Return the frequencies of a matrix such as W_E whose norm exceeds a quarter of the strongest frequency's norm.

    The result is empty if the rows are equal up to rounding. Unlike `key_frequencies`, this function uses a threshold
    and not a gap.

    Args:
        x: matrix whose rows belong to the residues.
    Source: Nanda et al. 2023, figure 3 left; the threshold is ours.
    """
    norms = frequency_norms(component_norms(x))
    if norms.max() <= ROUNDING * x.detach().double().norm():
        return ()
    return tuple(((norms > SIGNIFICANT * norms.max()).nonzero()[:, 0] + 1).tolist())


@checked
def active_frequencies(norms: Float[Tensor, " freq"], deviations: float = 1) -> tuple[int, ...]:
    """Return the frequencies whose norm exceeds the mean of all norms by more than some standard deviations.

    Args:
        norms: norm at every frequency; entry k - 1 belongs to frequency k.
        deviations: number of standard deviations: 1 in the source's code, 2 in its text.
    Source: Syrkis & Søgaard 2024, figures 11 to 13.

    >>> active_frequencies(torch.tensor([1.0, 9.0, 1.0, 1.0, 1.0]))
    (2,)
    """
    above = norms.double() > norms.double().mean() + deviations * norms.double().std(correction=0)
    return tuple((above.nonzero()[:, 0] + 1).tolist())


@checked
def jaccard(first: Collection[int], second: Collection[int]) -> float:
    """Jaccard index of two sets: size of the intersection over size of the union; 1 for two empty sets.

    >>> jaccard([1, 2, 3], [2, 3, 4])
    0.5
    """
    union = set(first) | set(second)
    return len(set(first) & set(second)) / len(union) if union else 1.0


@checked
def dominant_frequency(x: Float[Tensor, "a *rest"]) -> tuple[int, float]:
    """Return the frequency with the most energy along the first axis of a tensor, and its share of the energy.

    Returns:
        frequency [cycles per p]; its share of the energy of all frequencies, without the constant, in [0, 1]. If the
        tensor is constant along the axis, up to rounding, the share is NaN, and the frequency is 1 and meaningless.
    """
    energies = frequency_norms(component_norms(x.reshape(len(x), -1))).square()
    best = int(energies.argmax())
    if energies[best].sqrt() <= ROUNDING * x.detach().double().norm():
        return 1, float("nan")  # and not the largest of what rounding left, which differs by machine
    return best + 1, float(energies[best] / energies.sum())


@checked
def frequency_shares(x: Float[Tensor, "a *rest"], freqs: Sequence[int]) -> float:
    """Return the share of a tensor's energy along its first axis, without the constant, at the given frequencies
    together.
    """
    spectrum = transform(x.reshape(len(x), -1))
    own = torch.isin(component_frequencies(len(x)), torch.tensor(list(freqs))).to(x.device)
    return energy_share(spectrum[own], spectrum[1:]) if varies(spectrum[1:], spectrum) else float("nan")
