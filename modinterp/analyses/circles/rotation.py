"""Analyse moving circles: b runs around a circle, and a moves this circle around the origin, rotates it, or both.

For every a the points p_a(b) of a plane are c_a + r_a R(phi_a) (cos w b, +-sin w b). Revolution is the motion of the
centre c_a around the origin, and rotation is the change of the phase phi_a.
Source: the blog post on the Clock algorithm, section 9 (definition D13).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd
import torch
from jaxtyping import Complex, Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.circles.circle import SMALL, Winding, wave_angles, winding
from modinterp.analyses.fourier.transforms import check_frequency, components_of, transform
from modinterp.analyses.printing import printable
from modinterp.analyses.statistics.explained import varies


@printable
@dataclass(frozen=True)
class Motion:
    """The motion of the circle of one frequency as a runs through the residues.

    Attributes:
        freq: frequency of the circle. [cycles per p]
        revolution: turns of the centre around the origin per turn of w a: 1 for forwards, -1 for backwards, 0 for none.
        rotation: turns of the circle about its centre per turn of w a; the direction in which b runs counts as
            forwards.
        orbit: root mean square distance of the centre from the origin. [units of the points]
        revolution_radius: root mean square distance of the centre from the origin, only for the part of its motion at
            the circle's frequency. [units of the points]
        radius: root mean square radius of the circles. [units of the points]
        quality: share of the points' energy about their centres that lies on the circles, in [0, 1].
        centres: centre of the circle for every a.
    """

    freq: int
    revolution: Winding
    rotation: Winding
    orbit: float
    revolution_radius: float
    radius: float
    quality: float
    centres: Float[Tensor, "a 2"] = field(repr=False)

    @property
    def orbit_over_radius(self) -> float:
        """The distance of the centre from the origin, divided by the radius; below 1, the origin lies inside the
        circle.
        """
        return self.orbit / self.radius if self.radius > 0 else float("nan")

    @property
    def revolution_over_radius(self) -> float:
        """The radius of the centre's revolution divided by the radius of the circle; 0 if the centre does not move."""
        return self.revolution_radius / self.radius if self.radius > 0 else float("nan")

    def row(self) -> dict[str, float]:
        """Return the numbers of the motion under readable names, as one row of `motions_table`."""
        return {
            "frequency": self.freq,
            "revolution [turns]": self.revolution.turns,
            "revolution, R squared": self.revolution.explained,
            "rotation [turns]": self.rotation.turns,
            "rotation, R squared": self.rotation.explained,
            "orbit over radius": self.orbit_over_radius,
            "revolving over radius": self.revolution_over_radius,
            "quality": self.quality,
        }


@checked
def motions_table(motions: dict[str, Motion]) -> pd.DataFrame:
    """Return a table with one row for each motion, named by its plane."""
    return pd.DataFrame([{"plane": name} | motion.row() for name, motion in motions.items()])


@checked
def motion(points: Float[Tensor, "a b 2"], freq: int) -> Motion:
    """Measure revolution and rotation of the circle over b in a plane, as a runs through the residues.

    Args:
        points: coordinates in the plane of every pair (a, b).
        freq: frequency of the circle, from 1 to p // 2. [cycles per p]
    Raises:
        ValueError: freq outside 1..p // 2.
    Source: definition D13.
    """
    p = points.shape[1]
    check_frequency(freq, p)
    z = torch.view_as_complex(points.double().contiguous())
    centres, angle = z.mean(dim=1), wave_angles(p, freq).to(z.device)
    forwards, backwards = (_amplitude(z, sign * angle) for sign in (1, -1))
    on_circle = forwards if forwards.abs().square().sum() >= backwards.abs().square().sum() else backwards
    # in a mirrored plane b runs backwards; the phase is told in the direction of b all the same
    sense = 1 if on_circle is forwards else -1
    both_ways = torch.stack([_amplitude(centres[None], sign * angle) for sign in (1, -1)])
    about = z - centres[:, None]
    share = float(p * on_circle.abs().square().sum() / about.abs().square().sum())
    quality = share if varies(torch.view_as_real(about), points) else float("nan")
    return Motion(
        freq,
        revolution=winding(sense * centres.angle(), angle),
        rotation=winding(sense * on_circle.angle(), angle),
        orbit=float(centres.abs().square().mean().sqrt()),
        revolution_radius=float(both_ways.abs().square().sum().sqrt()),
        radius=float(on_circle.abs().square().mean().sqrt()),
        quality=quality,
        centres=torch.view_as_real(centres),
    )


def _amplitude(z: Complex[Tensor, "a b"], angle: Float[Tensor, " b"]) -> Complex[Tensor, " a"]:
    return (z * torch.polar(torch.ones_like(angle), -angle)).mean(dim=1)


@printable
@dataclass(frozen=True)
class CollectedPlanes:
    """The principal directions of all planes of one frequency, one plane for each a.

    Attributes:
        freq: frequency of the planes. [cycles per p]
        directions: orthonormal principal directions of the basis vectors of all these planes, strongest first.
        values: singular value of each principal direction.
    """

    freq: int
    directions: Float[Tensor, "d component"]
    values: Float[Tensor, " component"]

    def pair(self, number: int) -> Float[Tensor, "d 2"]:
        """Return a pair of principal directions: the first and second for index 0, the third and fourth for index 1,
        and so on.
        """
        return self.directions[:, 2 * number : 2 * number + 2]


@checked
def collected_planes(x: Float[Tensor, "a b d"], freq: int, count: int = 6) -> CollectedPlanes:
    """Return the principal directions of the planes that circles over b span for all a, by singular value
    decomposition.

    Args:
        x: activations for every pair (a, b).
        freq: frequency of the circles, from 1 to p // 2. [cycles per p]
        count: number of principal directions to return.
    Raises:
        ValueError: freq outside 1..p // 2.
    Source: the blog post, section 9.3 (definition D13).
    """
    p = x.shape[1]
    coefficients = transform(x.transpose(0, 1))[components_of(freq, p)]  # [wave, a, d]
    vectors = coefficients / coefficients.norm(dim=-1, keepdim=True).clamp_min(SMALL)
    _, values, rows = torch.linalg.svd(vectors.flatten(0, 1), full_matrices=False)
    return CollectedPlanes(freq, rows[:count].T.contiguous(), values[:count])
