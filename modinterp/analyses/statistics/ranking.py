"""Measure how well a score ranks true items before false items."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from modinterp.analyses.checked import checked


@checked
def auroc(scores: Float[Tensor, " item"], true: Bool[Tensor, " item"]) -> float:
    """Return the share of pairs of a true and a false item in which the true item scores higher; ties count half.

    >>> auroc(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([True, False, False]))
    1.0
    """
    difference = scores[true][:, None] - scores[~true]
    return float(((difference > 0).double() + 0.5 * (difference == 0).double()).mean())


@checked
def average_precision(scores: Float[Tensor, " item"], true: Bool[Tensor, " item"]) -> float:
    """Return the area under the precision-recall curve: the mean precision at each true item, best scores first.

    >>> average_precision(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([True, False, False]))
    1.0
    """
    hits = true[scores.argsort(descending=True)].double()
    precision = hits.cumsum(dim=0) / torch.arange(1, len(hits) + 1)
    return float((precision * hits).sum() / hits.sum())
