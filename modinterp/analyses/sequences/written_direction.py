"""The single direction along which a head writes its values of all tokens."""

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
    """The direction in which the images of all tokens differ most from 0.

    Attributes:
        energy: share of the squared norm of all images along it, in [0, 1].
        direction: of unit length, in the residual stream; the coordinates rise with the order of the tokens.
        coordinates: of each token's image along it.
        singular_values: of the table of images, the largest first.
    """

    energy: float
    direction: Float[Tensor, " d_model"]
    coordinates: Float[Tensor, " token"]
    singular_values: Float[Tensor, " k"]

    def table(self) -> pd.DataFrame:
        """Table with one row for each token: its place in the order, and the coordinate of its image."""
        return pd.DataFrame({"token": range(len(self.coordinates)), "coordinate": self.coordinates.tolist()})


@checked
def written_direction(images: Float[Tensor, "token d_model"]) -> WrittenDirection:
    """Return the first singular direction of a head's output for each token, such as W_E W_V W_O.

    Args:
        images: tokens in an order with which the coordinates are to rise.

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
