"""Draw a random sample of pairs of fixed size, for moduli at which all pairs would take too long."""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.analyses.checked import checked

MOST = 2**16  # pairs that are all looked at, which there are up to n = 256
SAMPLE = 2**14  # pairs of a sample: a share of half of them has a 95% interval of 0.8 points either way


@checked
def some_pairs(n: int) -> Int[Tensor, " pair"] | None:
    """Return the indices a n + b of a random sample of all pairs of n numbers, ascending; None for a small n.

    Use the sample for shares of pairs after an intervention, and for null distributions. The random seed is 0.

    >>> some_pairs(256), some_pairs(257).shape
    (None, torch.Size([16384]))
    """
    if n * n <= MOST:
        return None
    return torch.randperm(n * n, generator=torch.Generator().manual_seed(0))[:SAMPLE].sort().values
