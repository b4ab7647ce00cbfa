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

from modinterp.analyses.circles import SMALL, Winding, turns, winding
from modinterp.analyses.fourier import check_frequency, components_of, transform
from modinterp.analyses.shown import shown


@shown
@dataclass(frozen=True)
class Motion:
    """How the circle of one frequency moves as a runs through the residues.

    Attributes:
        freq: [cycles per p]
        revolution: of the centre around the origin, in turns for each turn of w a; 1 forwards, -1 backwards, 0 none.
        rotation: of the circle about its centre, likewise; the direction in which b runs counts as forwards.
        orbit: root mean square distance of the centre from the origin. [units of the vectors]
        revolving: root mean square of the part of that which goes round at the frequency, one way or the other.
        radius: root mean square radius of the circles.
        quality: share of the points' energy about their centres that lies on the circles.
        centres: of every a.
    """

    freq: int
    revolution: Winding
    rotation: Winding
    orbit: float
    revolving: float
    radius: float
    quality: float
    centres: Float[Tensor, "a 2"] = field(repr=False)

    @property
    def orbit_over_radius(self) -> float:
        """Below 1 the origin, which the centre goes around, lies inside the circle."""
        return self.orbit / self.radius

    @property
    def revolving_over_radius(self) -> float:
        """0 where the centre stands still, wherever that is."""
        return self.revolving / self.radius

    def row(self) -> dict[str, float]:
        """The numbers under readable names."""
        return {
            "frequency": self.freq,
            "revolution [turns]": self.revolution.turns,
            "revolution, R squared": self.revolution.explained,
            "rotation [turns]": self.rotation.turns,
            "rotation, R squared": self.rotation.explained,
            "orbit over radius": self.orbit_over_radius,
            "revolving over radius": self.revolving_over_radius,
            "quality": self.quality,
        }


def motions_table(motions: dict[str, Motion]) -> pd.DataFrame:
    """One row a motion, named."""
    return pd.DataFrame([{"plane": name} | motion.row() for name, motion in motions.items()])


def motion(points: Float[Tensor, "a b 2"], freq: int) -> Motion:
    """Revolution and rotation of the circle that b makes, over all a.

    Args:
        points: in some plane.
    Raises:
        ValueError: freq outside 1..p // 2.
    Source: definition D13.
    """
    p = points.shape[1]
    check_frequency(freq, p)
    z = torch.view_as_complex(points.double().contiguous())
    centres, angle = z.mean(dim=1), turns(p, freq).to(z.device)
    forwards, backwards = (_amplitude(z, sign * angle) for sign in (1, -1))
    on_circle = forwards if forwards.abs().square().sum() >= backwards.abs().square().sum() else backwards
    # in a mirrored plane b runs backwards; the phase is told in the direction of b all the same
    sense = 1 if on_circle is forwards else -1
    both_ways = torch.stack([_amplitude(centres[None], sign * angle) for sign in (1, -1)])
    about = (z - centres[:, None]).abs().square().sum() / p
    return Motion(
        freq,
        revolution=winding(sense * centres.angle(), angle),
        rotation=winding(sense * on_circle.angle(), angle),
        orbit=float(centres.abs().square().mean().sqrt()),
        revolving=float(both_ways.abs().square().sum().sqrt()),
        radius=float(on_circle.abs().square().mean().sqrt()),
        quality=float(on_circle.abs().square().sum() / about),
        centres=torch.view_as_real(centres),
    )


def _amplitude(z: Complex[Tensor, "a b"], angle: Float[Tensor, " b"]) -> Complex[Tensor, " a"]:
    return (z * torch.polar(torch.ones_like(angle), -angle)).mean(dim=1)


@shown
@dataclass(frozen=True)
class CollectedPlanes:
    """The planes of one frequency for every a, taken together.

    Attributes:
        freq: [cycles per p]
        directions: orthonormal principal directions of the two basis vectors of every a, the strongest first.
        values: their singular values.
    """

    freq: int
    directions: Float[Tensor, "d component"]
    values: Float[Tensor, " component"]

    def pair(self, number: int) -> Float[Tensor, "d 2"]:
        """Principal directions 1 and 2 for number 0, 3 and 4 for number 1, and so on."""
        return self.directions[:, 2 * number : 2 * number + 2]


def collected_planes(x: Float[Tensor, "a b d"], freq: int, kept: int = 6) -> CollectedPlanes:
    """Principal directions of the planes that b's circles span as a varies, by singular values.

    Args:
        kept: how many to keep.
    Source: the blog post, section 9.3 (definition D13).
    """
    p = x.shape[1]
    coefficients = transform(x.transpose(0, 1))[components_of(freq, p)]  # [wave, a, d]
    vectors = coefficients / coefficients.norm(dim=-1, keepdim=True).clamp_min(SMALL)
    _, values, rows = torch.linalg.svd(vectors.flatten(0, 1), full_matrices=False)
    return CollectedPlanes(freq, rows[:kept].T.contiguous(), values[:kept])
