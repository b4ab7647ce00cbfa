"""Petals: what attention makes of a circle when it mixes two of its points in a periodic proportion.

A head whose attention to a swings with b writes alpha(b) v_a + (1 - alpha(b)) v_b: with a fixed, a point that wanders
on a petal of the embedding's circle. Source: the blog post on the Clock algorithm, section 6; its formulas are not at
hand, and these are the reconstruction of definition D12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Complex, Float
from torch import Tensor

from modinterp.analyses.circles import convex_hull
from modinterp.analyses.explained import energy_share, fraction_explained_by_column
from modinterp.analyses.fourier import component_frequencies, transform

TOUCHING = 2e-3  # distance from x_a within which sides of the polygon cut corners of the curve


@dataclass(frozen=True)
class Petal:
    """A member of the family of petals.

    z(b) = alpha(b) x_a + (1 - alpha(b)) x_b, x_t = exp(i w_e t), alpha(b) = (1 + cos(w_a b + phase)) / 2

    Attributes:
        p: modulus.
        embedding, attention: frequencies of the circle and of the attention, of either sign. [cycles per p]
        phase: of the attention. [rad]
        a: the fixed operand.
    """

    p: int
    embedding: int
    attention: int
    phase: float = 0.0
    a: float = 0.0

    def curve(self, b: Float[Tensor, " b"] | None = None) -> Complex[Tensor, " b"]:
        """The points for b = 0 .. p - 1, or for any other real b between them."""
        b = torch.arange(self.p, dtype=torch.float64) if b is None else b.double()
        w = 2 * torch.pi / self.p
        alpha = (1 + torch.cos(w * self.attention * b + self.phase)) / 2
        return alpha * _on_circle(w * self.embedding * self.a) + (1 - alpha) * _on_circle(w * self.embedding * b)

    def spectrum(self) -> Complex[Tensor, " p"]:
        """Complex amplitude of exp(2 pi i m b / p) at entry m: the closed form of the curve's Fourier transform.

        One half of x_a at 0, a quarter of it at plus and minus the attention's frequency, one half at the embedding's,
        and minus a quarter at their sum and at their difference; where two of these fall together, they add.
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

    def crossings(self, points: int = 1009) -> int:
        """How often the closed curve crosses itself away from x_a, where all petals touch.

        Args:
            points: at which it is followed; a prime, so that no symmetry of the curve puts a corner on a crossing.
        """
        b = (torch.arange(points, dtype=torch.float64) + 0.37) * self.p / points
        found = self_crossings(torch.view_as_real(self.curve(b)))
        touching = torch.view_as_real(_on_circle(2 * torch.pi / self.p * self.embedding * self.a))
        return int(((found - touching).norm(dim=1) > TOUCHING).sum())


def _on_circle(angle: float | Tensor) -> Tensor:
    angles = torch.as_tensor(angle, dtype=torch.float64)
    return torch.polar(torch.ones_like(angles), angles)


def self_crossings(points: Float[Tensor, "point 2"]) -> Float[Tensor, "crossing 2"]:
    """Where sides of a closed polygon cross, neighbours left out.

    >>> self_crossings(torch.tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.5, 0.5]]
    """
    start = points.double()
    end = start.roll(-1, dims=0)

    def side(p: Tensor, q: Tensor, r: Tensor) -> Tensor:
        """On which side of the line from p to q each r lies, and how far, `[line, r]`."""
        d, e = (q - p)[:, None], r[None] - p[:, None]
        return d[..., 0] * e[..., 1] - d[..., 1] * e[..., 0]

    of_start, of_end = side(start, end, start), side(start, end, end)
    apart = of_start * of_end < 0
    n = len(start)
    far = torch.ones(n, n, dtype=torch.bool, device=start.device).triu(2)
    far[0, -1] = False
    i, j = (apart & apart.T & far).nonzero(as_tuple=True)
    along = of_start[j, i] / (of_start[j, i] - of_end[j, i])
    return start[i] + along[:, None] * (end[i] - start[i])


def petal_frequencies(p: int, embedding: int, attention: int) -> set[int]:
    """Frequencies, without their sign, that a petal has.

    >>> sorted(petal_frequencies(113, 4, 4)), sorted(petal_frequencies(113, 50, 20))
    ([0, 4, 8], [0, 20, 30, 43, 50])
    """
    signed = (0, attention, embedding, embedding + attention, embedding - attention)
    return {min(m % p, -m % p) for m in signed}


@dataclass(frozen=True)
class PetalFit:
    """What a head does in the plane of one frequency, with a fixed and b running, against the prediction.

    Attributes:
        head: which.
        embedding, attention: frequency of the plane, and of the head's attention. [cycles per p]
        explained: R squared of alpha c_a + (1 - alpha) c_b, with the measured attention and the values' own points c.
        at_frequencies: share of the curve's energy, its mean included, at the frequencies of a petal.
        residual: of the least-squares fit that carries the plane back through W_V; 1 where nothing of it gets through.
        on_hull: share of the points that are corners of their convex hull.
    """

    head: int
    embedding: int
    attention: int
    explained: float
    at_frequencies: float
    residual: float
    on_hull: float


def pulled_back(through: Float[Tensor, "d_model d_head"], basis: Float[Tensor, "d_model 2"]) -> tuple[Tensor, float]:
    """The pair of directions after a linear map that comes nearest to reading a plane before it.

    The map turns a vector x into x @ through, and the least-squares solution of through @ new = basis reads from that
    what basis reads from x. There are more equations than unknowns, so that a residual remains.

    Returns:
        new basis `[d_head, 2]`; norm of the residual over that of the basis.
    Source: the blog post, section 6.2 (definition D12, X-C8).
    """
    new = torch.linalg.pinv(through.double()) @ basis.double()
    return new, float((through.double() @ new - basis.double()).norm() / basis.double().norm())


def mixed(alpha: Float[Tensor, " b"], points: Float[Tensor, "residue 2"], a: int) -> Float[Tensor, "b 2"]:
    """The curve alpha(b) c_a + (1 - alpha(b)) c_b of measured attention and points."""
    share = alpha.double()[:, None]
    return share * points[a].double() + (1 - share) * points.double()


def share_at(points: Float[Tensor, "b 2"], freqs: set[int]) -> float:
    """Share of the energy of a curve over b, its mean included, at some frequencies; 0 is the mean."""
    spectrum = transform(points)
    own = torch.isin(component_frequencies(len(points)), torch.tensor(sorted(freqs))).to(points.device)
    return energy_share(spectrum[own], spectrum)


def petal_fits(
    values: Float[Tensor, "head residue d"],
    written: Float[Tensor, "b head d"],
    maps: Float[Tensor, "head d_model d"],
    alpha: Float[Tensor, "b head"],
    planes: Mapping[int, Float[Tensor, "d_model 2"]],
    attention: Sequence[int],
    a: int,
) -> list[PetalFit]:
    """Every head in every plane, a fixed.

    Args:
        values: what a head would write if it attended to one token alone: v, or v W_O.
        written: what it writes, for every b: `hook_z`, or that times W_O.
        maps: from the embedding to there: W_V, or W_V W_O.
        alpha: share of the attention on a among that on a and b.
        planes: of the embedding, by frequency. [cycles per p]
        attention: each head's frequency. [cycles per p]
    Source: the blog post, sections 6.2 and 7.
    """
    p, fits = written.shape[0], []
    for head in range(written.shape[1]):
        for freq, basis in planes.items():
            reader, residual = pulled_back(maps[head], basis)
            points = written[:, head].double() @ reader
            predicted = mixed(alpha[:, head], values[head].double() @ reader, a)
            at_petals = share_at(points, petal_frequencies(p, freq, attention[head]))
            corners = len(convex_hull(points)) / p
            explained = fraction_explained_by_column(points, predicted)
            fits.append(PetalFit(head, freq, attention[head], explained, at_petals, residual, corners))
    return fits


def petal_fits_table(fits: Sequence[PetalFit]) -> pd.DataFrame:
    """One row a head and plane."""
    return pd.DataFrame([vars(fit) for fit in fits])
