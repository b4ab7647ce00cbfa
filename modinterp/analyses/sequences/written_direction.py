"""Find the single direction along which a head writes its outputs for all tokens."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.analyses.printing import printable


@printable
@dataclass(frozen=True, eq=False)
class WrittenDirection:
    """The direction in which a head's outputs for all tokens differ most from 0.

    Attributes:
        energy: share of the squared norm of all outputs along the direction, in [0, 1].
        direction: unit vector in the residual stream, with a sign such that coordinates rise with the order of the
            tokens.
        coordinates: coordinate of the head's output for each token along the direction.
        singular_values: singular values of the table of outputs, in descending order.
    """

    energy: float
    direction: Float[Tensor, " d_model"]
    coordinates: Float[Tensor, " token"]
    singular_values: Float[Tensor, " k"]

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each token: its index in the order, and its coordinate."""
        return pd.DataFrame({"token": range(len(self.coordinates)), "coordinate": self.coordinates.tolist()})


@checked
def written_direction(images: Float[Tensor, "token d_model"]) -> WrittenDirection:
    """Return the first singular direction of a head's output for each token, such as W_E W_V W_O.

    Args:
        images: the head's output for each token, in an order in which the coordinates should rise.

    >>> found = written_direction(torch.tensor([[-2.0, 0.0], [0.0, 0.0], [2.0, 0.0]]))
    >>> found.energy, found.coordinates.tolist()
    (1.0, [-2.0, 0.0, 2.0])
    """
    images = images.detach().double()
    _, sizes, directions = torch.linalg.svd(images, full_matrices=False)
    coordinates = images @ directions[0]
    order = torch.arange(len(images)).double()
    sign = 1.0 if float((coordinates * (order - order.mean())).sum()) >= 0 else -1.0
    energy = float(sizes[0].square() / sizes.square().sum())
    return WrittenDirection(energy, sign * directions[0], sign * coordinates, sizes)
