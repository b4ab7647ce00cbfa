"""Measure how fast the circle over b revolves and rotates as a varies: slopes by regression (`docs/definitions.md`,
D13).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.circles.circle import wave_angles
from modinterp.measurements import CyclicMeasurements

FIRST, SECOND = 0, 1  # pairs of principal directions


class Slope(NamedTuple):
    """A line fitted to an angle as a function of a reference angle that makes one turn.

    Attributes:
        turns: slope of the line, in turns of the angle per turn of the reference; negative if the angle turns
            backwards.
        explained: R squared of the fitted line; 0 for an angle that does not change.
    """

    turns: float
    explained: float


class Turning(NamedTuple):
    """Two slopes for the circle over b, as a varies: of its revolution around the origin, and of its rotation about its
    centre.
    """

    revolution: Slope
    rotation: Slope


def slope(angles: Float[Tensor, " a"], reference: Float[Tensor, " a"]) -> Slope:
    """Return the least-squares slope of an angle over a reference angle that makes one turn. [turns]

    The fit starts where the reference angle is 0; for an angle that ripples, another start would give another slope.
    `modinterp.analyses.circles.circle.winding` counts whole turns of the angle, which do not depend on the start of the
    fit.
    """
    order = reference.cpu().sort(stable=True).indices
    x, y = reference.cpu()[order], angles.cpu()[order]
    steps = torch.remainder(y.diff() + torch.pi, 2 * torch.pi) - torch.pi
    followed = torch.cat([y[:1], y[0] + steps.cumsum(0)])
    x, y = x - x.mean(), followed - followed.mean()
    turns, total = float((x * y).sum() / x.square().sum()), float(y.square().sum())
    return Slope(turns, 1 - float((y - turns * x).square().sum()) / total if total > 0 else 0.0)


def turning(points: Float[Tensor, "a b 2"], freq: int) -> Turning:
    """Return the slopes of revolution and rotation of the circle over b in a plane, as a varies.

    Args:
        points: coordinates of every pair (a, b) in the plane.
        freq: frequency of the circle. [cycles per p]
    """
    z = torch.view_as_complex(points.double().contiguous())
    angle = wave_angles(len(points), freq).to(z.device)
    ways = [(sign, (z * torch.polar(torch.ones_like(angle), -sign * angle)).mean(dim=1)) for sign in (1, -1)]
    sense, on_circle = max(ways, key=lambda way: float(way[1].abs().square().sum()))  # in a mirrored plane, backwards
    return Turning(slope(sense * z.mean(dim=1).angle(), angle), slope(sense * on_circle.angle(), angle))


def turnings(m: CyclicMeasurements, hook: str, pair: int) -> Mapping[int, Turning]:
    """Map each key frequency to the slopes of its circle's revolution and rotation, in one pair of principal
    directions.
    """
    return {k: turning(m.activation(hook) @ m.circles.plane_directions(hook, k).pair(pair), k) for k in m.freqs}
