"""Circles that move: b runs round a circle, and a moves that circle about the origin, or turns it, or both.

For every a the points p_a(b) of a plane are c_a + r_a R(phi_a) (cos w b, +-sin w b). Revolution is the centre c_a on
its way around the origin; rotation is the phase phi_a.
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
    """How the circle of one frequency moves as a runs through the residues.

    Attributes:
        freq: frequency of the circle. [cycles per p]
        revolution: turns of the centre around the origin for each turn of w a; 1 forwards, -1 backwards, 0 none.
        rotation: turns of the circle about its centre for each turn of w a; the sense in which b runs is forwards.
        orbit: root mean square distance of the centre from the origin. [units of the points]
        revolution_radius: root mean square of the centre's distance, for the part that turns at the frequency in either
            direction. [units of the points]
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
        """Distance of the centre from the origin over the radius; below 1 the origin lies inside the circle."""
        return self.orbit / self.radius if self.radius > 0 else float("nan")

    @property
    def revolution_over_radius(self) -> float:
        """Radius of the centre's revolution over that of the circle; 0 where the centre stands still."""
        return self.revolution_radius / self.radius if self.radius > 0 else float("nan")

    def row(self) -> dict[str, float]:
        """The numbers of the motion under readable names, a row of `motions_table`."""
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
    """Table of several motions, one row for each, under the name of its plane."""
    return pd.DataFrame([{"plane": name} | motion.row() for name, motion in motions.items()])


@checked
def motion(points: Float[Tensor, "a b 2"], freq: int) -> Motion:
    """Revolution and rotation of the circle that b makes in a plane, as a runs through the residues.

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
    """Principal directions of the planes of one frequency of all a together.

    Attributes:
        freq: frequency of the planes. [cycles per p]
        directions: orthonormal principal directions of the two basis vectors of every a, the strongest first.
        values: singular value of each principal direction.
    """

    freq: int
    directions: Float[Tensor, "d component"]
    values: Float[Tensor, " component"]

    def pair(self, number: int) -> Float[Tensor, "d 2"]:
        """Two principal directions: 1 and 2 for number 0, 3 and 4 for number 1, and so on."""
        return self.directions[:, 2 * number : 2 * number + 2]


@checked
def collected_planes(x: Float[Tensor, "a b d"], freq: int, count: int = 6) -> CollectedPlanes:
    """Principal directions of the planes that b's circles span as a varies, by singular values.

    Args:
        x: activations for every pair (a, b).
        freq: frequency of the circles, from 1 to p // 2. [cycles per p]
        count: how many of the strongest principal directions are returned.
    Raises:
        ValueError: freq outside 1..p // 2.
    Source: the blog post, section 9.3 (definition D13).
    """
    p = x.shape[1]
    coefficients = transform(x.transpose(0, 1))[components_of(freq, p)]  # [wave, a, d]
    vectors = coefficients / coefficients.norm(dim=-1, keepdim=True).clamp_min(SMALL)
    _, values, rows = torch.linalg.svd(vectors.flatten(0, 1), full_matrices=False)
    return CollectedPlanes(freq, rows[:count].T.contiguous(), values[:count])
