"""Estimate the uncertainty of a measured share, and a bound for the ratio of two risks."""

from __future__ import annotations

from math import sqrt

import torch
from jaxtyping import Bool
from torch import Tensor

from modinterp.analyses.checked import checked


@checked
def bootstrap_width(hits: Bool[Tensor, " input"], draws: int = 200, share: float = 0.8, seed: int = 0) -> float:
    """Return the width of the 95% bootstrap interval of a share over the inputs.

    >>> bootstrap_width(torch.ones(10, dtype=torch.bool))
    0.0
    """
    generator = torch.Generator().manual_seed(seed)
    size = max(1, round(share * len(hits)))
    drawn = torch.stack([hits[torch.randint(len(hits), (size,), generator=generator)].double().mean()
                         for _ in range(draws)])  # fmt: skip
    low, high = drawn.quantile(torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    return high - low


@checked
def e_value_bound(harmed: int, spared: int, n: int) -> float:
    """Return a lower bound of the E-value of a risk, from numbers of failures with and without a cause among n inputs
    each.

    The bound uses the lower end of Wilson's interval of one risk and the upper end of the other risk, or 3 / n without
    failures.

    >>> e_value_bound(0, 0, 100)
    1.0

    Args:
        harmed, spared: failures with the cause, and without it.
        n: number of inputs with the cause, and of inputs without it.
    Source: VanderWeele and Ding 2017.
    """
    z = 1.96
    middle = (harmed + z * z / 2) / (n + z * z)
    low = middle - z * sqrt(harmed * (n - harmed) / n + z * z / 4) / (n + z * z)
    other = (spared + z * z / 2) / (n + z * z) + z * sqrt(spared * (n - spared) / n + z * z / 4) / (n + z * z)
    ratio = low / (other if spared else 3 / n)
    return ratio + sqrt(ratio * (ratio - 1)) if ratio > 1 else 1.0
