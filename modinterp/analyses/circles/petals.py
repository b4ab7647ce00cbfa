"""Analyse petals: the curves that arise when attention mixes two points of a circle in a periodic proportion.

Take a head whose attention to a is periodic in b. The head writes alpha(b) v_a + (1 - alpha(b)) v_b. For a fixed a,
this point moves along a petal of the embedding's circle. Source: the blog post on the Clock algorithm, section 6. The
post prints its formulas as images; definition D12 is our reconstruction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Complex, Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.circles.circle import convex_hull
from modinterp.analyses.fourier.transforms import component_frequencies, transform
from modinterp.analyses.statistics.explained import energy_share, fraction_explained_by_column


@dataclass(frozen=True)
class Petal:
    """A petal: the curve of a mixture of a fixed and a moving point of a circle, with periodic attention weights.

    z(b) = alpha(b) x_a + (1 - alpha(b)) x_b, x_t = exp(i w_e t), alpha(b) = (1 + cos(w_a b + phase)) / 2

    Attributes:
        p: modulus.
        embedding, attention: frequencies of the circle and of the attention, of either sign. [cycles per p]
        phase: phase of the attention. [rad]
        a: the operand that stays fixed.
    """

    p: int
    embedding: int
    attention: int
    phase: float = 0.0
    a: float = 0.0

    def curve(self, b: Float[Tensor, " b"] | None = None) -> Complex[Tensor, " b"]:
        """Return the points of the petal in the complex plane for b = 0 .. p - 1, or for other real values of b."""
        b = torch.arange(self.p, dtype=torch.float64) if b is None else b.double()
        w = 2 * torch.pi / self.p
        alpha = (1 + torch.cos(w * self.attention * b + self.phase)) / 2
        return alpha * _on_circle(w * self.embedding * self.a) + (1 - alpha) * _on_circle(w * self.embedding * b)

    def spectrum(self) -> Complex[Tensor, " component"]:
        """Return the Fourier transform of the petal: entry m is the complex amplitude of exp(2 pi i m b / p).

        The transform is one half of x_a at entry 0, and a quarter of x_a at plus and minus the attention's frequency.
        At the embedding's frequency, the transform is one half. At the sum and at the difference of both frequencies,
        it is minus a quarter. Coefficients at coinciding frequencies add.
        """
        fixed, swing = _on_circle(2 * torch.pi / self.p * self.embedding * self.a), _on_circle(self.phase)
        amplitudes = torch.zeros(self.p, dtype=torch.complex128)
        for m, amplitude in (
            (0, fixed / 2),
            (self.attention, fixed * swing / 4),
            (-self.attention, fixed * swing.conj() / 4),
            (self.embedding, torch.ones(()) / 2),
            (self.embedding + self.attention, -swing / 4),
            (self.embedding - self.attention, -swing.conj() / 4),
        ):
            amplitudes[m % self.p] += amplitude
        return amplitudes

    def crossings(self) -> int:
        """Return how often the closed petal crosses itself, not counting the point x_a, where all loops meet.

        Relative to x_a, the points of the petal are (1 - alpha)(x_b - x_a). The direction of x_b - x_a determines the
        point x_b of the circle. The petal therefore crosses itself only at two values of b with the same x_b and the
        same alpha. Such values lie at equal distances on both sides of a peak of the attention.
        """
        common = math.gcd(self.embedding, self.attention) or 1  # how often the curve is run through
        embedding, attention = abs(self.embedding) // common, abs(self.attention) // common
        if not attention:
            return 0
        further = torch.arange(1, max(embedding, 1), dtype=torch.float64) / max(embedding, 1)
        phase = self.phase if self.attention > 0 else -self.phase
        peaks = (torch.arange(2 * attention, dtype=torch.float64) - phase / torch.pi) / (2 * attention)
        meetings = self.curve((further[:, None] / 2 + peaks).flatten() * self.p / common)
        x_a = _on_circle(2 * torch.pi / self.p * self.embedding * self.a)
        return int(((meetings - x_a).abs() > 1e-9).sum()) // 2  # each is found from both of its values of b


def _on_circle(angle: float | Tensor) -> Tensor:
    angles = torch.as_tensor(angle, dtype=torch.float64)
    return torch.polar(torch.ones_like(angles), angles)


@checked
def petal_frequencies(p: int, embedding: int, attention: int) -> set[int]:
    """Return the absolute frequencies of the waves that make up a petal, including 0. [cycles per p]

    A petal is the closed curve of a head's output while b runs through all numbers and a stays fixed.

    >>> sorted(petal_frequencies(113, 4, 4)), sorted(petal_frequencies(113, 50, 20))
    ([0, 4, 8], [0, 20, 30, 43, 50])
    """
    signed = (0, attention, embedding, embedding + attention, embedding - attention)
    return {min(m % p, -m % p) for m in signed}


@dataclass(frozen=True)
class PetalFit:
    """The fit of a petal to the output of one head in the plane of one frequency, for a fixed a and all b.

    Attributes:
        head: index of the head.
        embedding, attention: frequency of the plane, and of the head's attention. [cycles per p]
        explained: R squared of alpha c_a + (1 - alpha) c_b, with the measured attention and the values' own points c.
        at_frequencies: share of the curve's energy, its mean included, at the frequencies of a petal, in [0, 1].
        residual: relative residual of the least-squares `pullback` of the plane through W_V; 1 if W_V removes the whole
            plane.
        on_hull: share of the points that are corners of their convex hull, in [0, 1].
    """

    head: int
    embedding: int
    attention: int
    explained: float
    at_frequencies: float
    residual: float
    on_hull: float


@checked
def pullback(W: Float[Tensor, "d_model d_head"], basis: Float[Tensor, "d_model 2"]) -> tuple[Tensor, float]:
    """Return the two directions after a linear map, such as W_V, that best read a plane in front of the map.

    The map turns a vector x into x @ W. The new basis reads from x @ W the same coordinates that the old basis reads
    from x. It is the least-squares solution of W @ new = basis. The least-squares problem has more equations than
    unknowns, so a residual remains.

    Returns:
        new basis `[d_head, 2]`; norm of the residual over that of the basis.
    Source: the blog post, section 6.2 (definition D12, X-C8).
    """
    new = torch.linalg.pinv(W.double()) @ basis.double()
    return new, float((W.double() @ new - basis.double()).norm() / basis.double().norm())


@checked
def mixture(alpha: Float[Tensor, " b"], points: Float[Tensor, "b 2"], a: int) -> Float[Tensor, "b 2"]:
    """Return the curve alpha(b) c_a + (1 - alpha(b)) c_b of one head, for a fixed a and all b.

    Args:
        alpha: attention to a divided by the attention to a and b, in [0, 1].
        points: the point c of every residue in a plane.
        a: the operand that stays fixed.
    """
    share = alpha.double()[:, None]
    return share * points[a].double() + (1 - share) * points.double()


@checked
def share_at(points: Float[Tensor, "b 2"], freqs: set[int]) -> float:
    """Return the share of the energy of a curve over b, including its mean, at some frequencies, in [0, 1].

    Args:
        freqs: absolute frequencies, 0 for the mean. [cycles per p]
    """
    spectrum = transform(points)
    own = torch.isin(component_frequencies(len(points)), torch.tensor(sorted(freqs))).to(points.device)
    return energy_share(spectrum[own], spectrum)


@checked
def petal_fits(
    values: Float[Tensor, "head b d"],
    head_out: Float[Tensor, "b head d"],
    maps: Float[Tensor, "head d_model d"],
    alpha: Float[Tensor, "b head"],
    planes: Mapping[int, Float[Tensor, "d_model 2"]],
    attention: Sequence[int],
    a: int,
) -> list[PetalFit]:
    """Fit petals to the output of every head in every plane of the embedding, for a fixed a and all b.

    Args:
        values: output of each head if it attended to only one token: its value vector v, or v W_O.
        head_out: output of each head for every b: `hook_z`, or `hook_z` times W_O.
        maps: each head's linear map from the embedding to `values`: W_V, or W_V W_O.
        alpha: each head's attention to a divided by its attention to a and b, in [0, 1].
        planes: map from frequency [cycles per p] to the embedding's plane.
        attention: frequency of each head's attention. [cycles per p]
        a: the operand that stays fixed.
    Source: the blog post, sections 6.2 and 7.
    """
    p, fits = head_out.shape[0], []
    if len(attention) != head_out.shape[1]:
        raise ValueError(f"attention must be one frequency for each of {head_out.shape[1]} heads, got {len(attention)}")
    for head in range(head_out.shape[1]):
        for freq, basis in planes.items():
            reader, residual = pullback(maps[head], basis)
            points = head_out[:, head].double() @ reader
            predicted = mixture(alpha[:, head], values[head].double() @ reader, a)
            at_petals = share_at(points, petal_frequencies(p, freq, attention[head]))
            corners = len(convex_hull(points)) / p
            explained = fraction_explained_by_column(points, predicted)
            fits.append(PetalFit(head, freq, attention[head], explained, at_petals, residual, corners))
    return fits


@checked
def petal_fits_table(fits: Sequence[PetalFit]) -> pd.DataFrame:
    """Return a table of the results of `petal_fits`, with one row for each head and plane."""
    return pd.DataFrame([vars(fit) for fit in fits])
