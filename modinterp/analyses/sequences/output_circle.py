"""Test whether the answers lie on a circle in the plane that the unembedding reads."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.printing import printable


@printable
@dataclass(frozen=True, eq=False)
class OutputCircle:
    """The unembedding vectors of all outputs in the two directions in which they differ most.

    Attributes:
        energy: share of the centred outputs' squared norm in these two directions, in [0, 1].
        step: frequency k, up to n / 2, of the best-fitting circle, on which output d has the angle 2 pi k d / n.
        cosine: cosine between the outputs' coordinates and this circle, after the best rotation or reflection, in [0,
            1].
        angles: angle of each output in the plane, from -pi to pi. [rad]
        plane: the two directions, as unit vectors.
    """

    energy: float
    step: int
    cosine: float
    angles: Float[Tensor, " output"]
    plane: Float[Tensor, "2 d_model"]

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each output: its angle."""
        return pd.DataFrame({"output": range(len(self.angles)), "angle": self.angles.tolist()})

    def nearest(self, residual: Float[Tensor, "*input d_model"]) -> Int[Tensor, "*input"]:
        """Return the output whose angle is nearest to the angle of a residual stream in the plane."""
        point = residual.double() @ self.plane.T
        angle = torch.atan2(point[..., 1], point[..., 0]).unsqueeze(-1)
        return (angle - self.angles).cos().argmax(dim=-1)


@checked
def output_circle(W_U: Float[Tensor, "d_model output"]) -> OutputCircle:
    """Find the circle on which the columns of an unembedding lie, such as the columns of ten digits.

    Use this if answers are numbers modulo the number of outputs. A single circle has nearly all energy in two
    directions, and a cosine near 1. With two circles, the energy is about one half.

    Raises:
        ValueError: there are fewer than three outputs, or all outputs are equal.

    >>> at = 2 * torch.pi * torch.arange(5) / 5
    >>> found = output_circle(torch.stack([(2 * at).cos(), (2 * at).sin(), 0 * at]))
    >>> found.step, round(found.energy, 6), round(found.cosine, 6)
    (2, 1.0, 1.0)
    """
    n = W_U.shape[1]
    if n < 3:
        raise ValueError(f"W_U must have at least 3 outputs, since a circle needs 3 points, got {n}")
    outputs = W_U.detach().double().T
    outputs = outputs - outputs.mean(dim=0)
    _, sizes, directions = torch.linalg.svd(outputs, full_matrices=False)
    if not float(sizes[0]) > 0:
        raise ValueError("the outputs of W_U must differ, but all are equal")
    points = torch.view_as_complex((outputs @ directions[:2].T).contiguous())
    steps = torch.arange(1, n // 2 + 1)
    circles = torch.exp(2j * torch.pi * steps.double().unsqueeze(1) * torch.arange(n) / n)
    length = points.abs().square().sum().sqrt() * n**0.5
    cosines = torch.maximum((circles.conj() @ points).abs(), (circles @ points).abs()) / length
    best = int(cosines.argmax())
    energy = float(sizes[:2].square().sum() / sizes.square().sum())
    return OutputCircle(energy, int(steps[best]), float(cosines[best]), points.angle(), directions[:2])
