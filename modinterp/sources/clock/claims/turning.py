"""How fast circles revolve and rotate as a runs: slopes by regression, as definition D13 has it."""

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
        turns: slope of the line: turns for each turn of the reference, negative for backwards.
        explained: R squared of the line; 0 for an angle that stands still.
    """

    turns: float
    explained: float


class Turning(NamedTuple):
    """The slopes of a circle's revolution around the origin, and of its rotation about its centre, as a runs."""

    revolution: Slope
    rotation: Slope


def slope(angles: Float[Tensor, " a"], reference: Float[Tensor, " a"]) -> Slope:
    """Least-squares slope of an angle, followed from point to point in the order of a reference angle. [turns]

    It is taken over one turn, cut open where the reference is 0; an angle that ripples has another slope if that turn is
    cut open elsewhere. `modinterp.analyses.circles.circle.winding` counts whole turns, which do not depend on that.
    """
    order = reference.cpu().sort(stable=True).indices
    x, y = reference.cpu()[order], angles.cpu()[order]
    steps = torch.remainder(y.diff() + torch.pi, 2 * torch.pi) - torch.pi
    followed = torch.cat([y[:1], y[0] + steps.cumsum(0)])
    x, y = x - x.mean(), followed - followed.mean()
    turns, total = float((x * y).sum() / x.square().sum()), float(y.square().sum())
    return Slope(turns, 1 - float((y - turns * x).square().sum()) / total if total > 0 else 0.0)


def turning(points: Float[Tensor, "a b 2"], freq: int) -> Turning:
    """Slopes of the revolution and of the rotation of the circle that b makes in a plane, as a runs.

    Args:
        points: coordinates in the plane of every pair (a, b).
        freq: frequency of the circle. [cycles per p]
    """
    z = torch.view_as_complex(points.double().contiguous())
    angle = wave_angles(len(points), freq).to(z.device)
    ways = [(sign, (z * torch.polar(torch.ones_like(angle), -sign * angle)).mean(dim=1)) for sign in (1, -1)]
    sense, on_circle = max(ways, key=lambda way: float(way[1].abs().square().sum()))  # in a mirrored plane, backwards
    return Turning(slope(sense * z.mean(dim=1).angle(), angle), slope(sense * on_circle.angle(), angle))


def turnings(m: CyclicMeasurements, hook: str, pair: int) -> Mapping[int, Turning]:
    """Map each key frequency to the turning of its circle in one pair of principal directions; see
    `CyclicMeasurements.motion`.
    """
    return {k: turning(m.activation(hook) @ m.circles.plane_directions(hook, k).pair(pair), k) for k in m.freqs}
