"""Uncertainty of a share from the inputs that it was measured on, and ratio of two risks."""

from __future__ import annotations

from math import sqrt

import torch
from jaxtyping import Bool
from torch import Tensor

from modinterp.analyses.checked import checked


@checked
def bootstrap_width(hits: Bool[Tensor, " input"], draws: int = 200, share: float = 0.8, seed: int = 0) -> float:
    """Width of the 95% interval of a share over draws, with replacement, of a part of the inputs.

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
    """Lower bound of the E-value of a risk, from numbers of failures with and without a cause among as many inputs.

    The bound takes the lower end of Wilson's interval of one risk and the upper end of the other, 3 / n where nothing
    failed.

    >>> e_value_bound(0, 0, 100)
    1.0

    Args:
        harmed, spared: failures with the cause, and without it.
        n: inputs of each.
    Source: VanderWeele and Ding 2017.
    """
    z = 1.96
    middle = (harmed + z * z / 2) / (n + z * z)
    low = middle - z * sqrt(harmed * (n - harmed) / n + z * z / 4) / (n + z * z)
    other = (spared + z * z / 2) / (n + z * z) + z * sqrt(spared * (n - spared) / n + z * z / 4) / (n + z * z)
    ratio = low / (other if spared else 3 / n)
    return ratio + sqrt(ratio * (ratio - 1)) if ratio > 1 else 1.0
