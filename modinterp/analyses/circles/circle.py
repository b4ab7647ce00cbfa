"""Analyse circles in activation space: planes of one frequency, roundness of points in a plane, angles between planes.

Vectors that depend on a residue lie on a circle in the plane of their cos and sin coefficients at one frequency. Source
of the idea: the blog post on the Clock algorithm, sections 5 and 7 (definition D12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.fourier.transforms import check_frequency, component_frequencies, components_of, transform
from modinterp.analyses.statistics.explained import energy_share

SMALL = 1e-12  # least norm that vectors are divided by


@checked
def plane(x: Float[Tensor, "a d"], freq: int) -> Float[Tensor, "d 2"]:
    """Return the plane of one frequency: the normalised cos and sin coefficients of vectors over the residues.

    The cos and sin coefficients need not be orthogonal. If they are not, or if their norms differ, the circle is an
    ellipse in the full space.

    Args:
        x: one vector for each residue.
        freq: from 1 to (p - 1) // 2. [cycles per p]
    Raises:
        ValueError: the frequency has no sine, or is out of range.
    Source: definition D12, `basis_k`.
    """
    p = len(x)
    rows = components_of(freq, p)
    if len(rows) < 2:
        raise ValueError(
            f"frequency {freq} of residues mod {p} has only a cosine and no sine, so it does not span a plane"
        )
    coefficients = transform(x)[rows]
    return (coefficients / coefficients.norm(dim=1, keepdim=True).clamp_min(SMALL)).T


@dataclass(frozen=True)
class Circle:
    """Measures of how close points in a plane, one for each residue, are to a circle of one frequency.

    Attributes:
        freq: frequency of the circle. [cycles per p]
        quality: share of the points' energy about their mean that lies at the frequency, in [0, 1].
        radius: mean distance of the points from their mean. [units of the vectors]
        radius_variation: standard deviation of the points' distance from their mean, divided by `radius`; 0 for a
            circle.
        angle_fit: R squared of the points' angle as a linear function of the residue's angle at the frequency; 1 for a
            circle.
        aspect: ratio of the smaller to the larger singular value of the centred points; 1 for a circle, less for an
            ellipse.
        on_hull: share of the points that are corners of the points' convex hull; 1 for a circle.
    """

    freq: int
    quality: float
    radius: float
    radius_variation: float
    angle_fit: float
    aspect: float
    on_hull: float


@checked
def circle(points: Float[Tensor, "a 2"], freq: int) -> Circle:
    """Measure how close points in a plane are to a circle of one frequency.

    Args:
        points: coordinates in a plane, one point for each residue.
        freq: from 1 to p // 2. [cycles per p]
    Raises:
        ValueError: freq outside 1..p // 2.
    Source: definition D12; the convex hull tests section 6.2's "linearly separable" (one point against the rest).
    """
    p = len(points)
    check_frequency(freq, p)
    centred = points.double() - points.double().mean(dim=0)
    spectrum, radii = transform(centred), centred.norm(dim=1)
    values = torch.linalg.svdvals(centred)
    return Circle(
        freq=freq,
        quality=energy_share(spectrum[component_frequencies(p) == freq], spectrum),
        radius=float(radii.mean()),
        radius_variation=float(radii.std() / radii.mean()),
        angle_fit=winding(polar_angles(centred), wave_angles(p, freq)).explained,
        aspect=float(values[1] / values[0]),
        on_hull=len(convex_hull(points)) / p,
    )


@checked
def circles(x: Float[Tensor, "a d"], freqs: Sequence[int]) -> dict[int, Circle]:
    """Measure the circle of each frequency in vectors over the residues, projected onto the frequency's own plane.

    A plane computed from the vectors themselves shows some circle at every frequency; compare the radii.

    Args:
        x: one vector for each residue.
        freqs: from 1 to (p - 1) // 2. [cycles per p]
    Raises:
        ValueError: the frequency has no sine, or is out of range.
    """
    return {freq: circle(x.double() @ plane(x, freq), freq) for freq in freqs}


@checked
def circles_table(by_freq: dict[int, Circle]) -> pd.DataFrame:
    """Return a table of several circles, such as those of `circles`, with one row for each frequency."""
    return pd.DataFrame([vars(one) for one in by_freq.values()])


@checked
def wave_angles(p: int, freq: int) -> Float[Tensor, " a"]:
    """Return the angle 2 pi freq x / p of every residue x mod p, in [0, 2 pi). [rad]"""
    return 2 * torch.pi / p * (torch.arange(p) * freq % p).double()


@checked
def polar_angles(points: Float[Tensor, "input 2"]) -> Float[Tensor, " input"]:
    """Return the angle of every point of a plane, seen from the origin, in [-pi, pi]. [rad]"""
    return torch.atan2(points[:, 1].double(), points[:, 0].double())


@dataclass(frozen=True)
class Winding:
    """The number of turns that an angle makes while a reference angle makes one turn, and how even the turns are.

    Attributes:
        turns: integer number of turns, negative for the opposite direction.
        explained: R squared of the angle as a line with slope `turns`; 0 if the angle makes no turn.
    """

    turns: int
    explained: float


@checked
def winding(angles: Float[Tensor, " a"], reference: Float[Tensor, " a"]) -> Winding:
    """Measure how many turns an angle makes while a reference angle makes one turn, and how even the turns are.

    The points are sorted by the reference angle, and the angle is summed along this order. Sorting counts a high
    frequency correctly, although its angle changes by nearly half a turn from one residue to the next. To fit a line,
    the closed sequence of points is cut open at one point. If the angle is not an exact line, the slope depends on the
    cut. The slope is therefore the mean over all cuts, and `explained` is R squared with the variance over all cuts.

    Args:
        angles: angle of every point. [rad]
        reference: reference angle of every point, from `wave_angles`. [rad]
    """
    order = reference.cpu().sort(stable=True).indices
    x, y = reference.cpu()[order], angles.cpu()[order]
    steps = torch.remainder(y.roll(-1) - y + torch.pi, 2 * torch.pi) - torch.pi
    n = round(float(steps.sum()) / (2 * torch.pi))
    unwrapped = torch.cat([y[:1], y[0] + steps[:-1].cumsum(0)])
    ripple = float((unwrapped - n * x).var(correction=0))
    even = n**2 * float(x.var(correction=0))
    return Winding(n, even / (even + ripple) if n else 0.0)


@checked
def convex_hull(points: Float[Tensor, "input 2"]) -> list[int]:
    """Return the indices of points at corners of their convex hull, counter-clockwise (Andrew's monotone chain).

    >>> convex_hull(torch.tensor([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [1.0, 2.0]]))
    [0, 1, 3]
    """
    xy = points.double().tolist()
    order = sorted(range(len(xy)), key=lambda i: xy[i])

    def turn(i: int, j: int, k: int) -> float:
        (ax, ay), (bx, by), (cx, cy) = xy[i], xy[j], xy[k]
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    def chain(indices: list[int]) -> list[int]:
        corners: list[int] = []
        for i in indices:
            while len(corners) > 1 and turn(corners[-2], corners[-1], i) <= 0:
                corners.pop()
            corners.append(i)
        return corners[:-1]

    return chain(order) + chain(order[::-1])


@dataclass(frozen=True)
class PlaneAngles:
    """Angles between two planes through the origin.

    Attributes:
        first, second: principal angles, smaller first; `first` is 0 if the planes share a line. [degrees]
        dihedral: angle between the planes, arccos of the product of the cosines of both principal angles. The dihedral
            angle is 90 if one direction of a plane is perpendicular to the other plane. [degrees]
    """

    first: float
    second: float
    dihedral: float


@checked
def plane_angles(one: Float[Tensor, "d 2"], other: Float[Tensor, "d 2"]) -> PlaneAngles:
    """Return the principal and dihedral angles between two planes, each given by two vectors; NaN if a pair spans no
    plane. [degrees]

    Source: the blog post, section 8 (claim `clock.s8.dihedral`).
    """
    if any(not values[1] > SMALL * values[0] for values in map(torch.linalg.svdvals, (one.double(), other.double()))):
        return PlaneAngles(*[float("nan")] * 3)
    Q, R = (torch.linalg.qr(x.double()).Q for x in (one, other))
    cosines = torch.linalg.svdvals(Q.T @ R).clamp(0, 1)
    first, second, both = torch.rad2deg(torch.cat([cosines, cosines.prod()[None]]).acos()).tolist()
    return PlaneAngles(first, second, both)


@checked
def effective_rank(x: Float[Tensor, "*input d"]) -> float:
    """Return the effective rank of vectors: the participation ratio of their variances along the principal axes.

    The effective rank is the squared sum of the variances over the sum of their squares. The effective rank is 1 if all
    vectors lie on one line, and d if they spread evenly over d dimensions.
    """
    rows = x.double().flatten(0, -2)
    variances = torch.linalg.eigvalsh((rows - rows.mean(dim=0)).T @ (rows - rows.mean(dim=0)))
    return float(variances.sum() ** 2 / variances.square().sum())
