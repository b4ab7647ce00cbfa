"""How well a score ranks true items before false ones."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from modinterp.analyses.checked import checked


@checked
def auroc(scores: Float[Tensor, " item"], true: Bool[Tensor, " item"]) -> float:
    """Share of pairs of a true and a false item in which the true one scores higher; ties count half.

    >>> auroc(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([True, False, False]))
    1.0
    """
    difference = scores[true][:, None] - scores[~true]
    return float(((difference > 0).double() + 0.5 * (difference == 0).double()).mean())


@checked
def average_precision(scores: Float[Tensor, " item"], true: Bool[Tensor, " item"]) -> float:
    """Area under the curve of precision against recall: mean precision at each true item, the best scores first.

    >>> average_precision(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([True, False, False]))
    1.0
    """
    hits = true[scores.argsort(descending=True)].double()
    precision = hits.cumsum(dim=0) / torch.arange(1, len(hits) + 1)
    return float((precision * hits).sum() / hits.sum())
