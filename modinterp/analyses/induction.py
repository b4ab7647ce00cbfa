"""Heads that make an induction circuit: one attends to the token before, one to what came after the same token.

Source: Nanda et al. 2023, appendix D.3, figure 31 and appendix E.2; Olsson et al. 2022.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def previous_token_scores(pattern: Float[Tensor, "input head query key"]) -> Float[Tensor, " head"]:
    """Mean attention of each head to the position before its own, the first position left out; in [0, 1]."""
    return pattern.double().diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 2))


def induction_scores(
    pattern: Float[Tensor, "input head query key"],
    tokens: Int[Tensor, "input pos"],
    asked: Bool[Tensor, "input pos"],
    latest: bool = True,
) -> Float[Tensor, " head"]:
    """Mean attention of each head to the position after an earlier occurrence of its own token; in [0, 1].

    Args:
        asked: positions over which to average, such as those whose next token is foretold; of them only those whose
            token occurred before count.
        latest: to the last earlier occurrence alone, or to all of them together.
    Returns:
        one number a head; NaN where no token occurred before.
    """
    n_pos = tokens.shape[1]
    same = (tokens.unsqueeze(2) == tokens.unsqueeze(1)) & torch.ones(n_pos, n_pos, dtype=torch.bool).tril(-1)
    if latest:
        last = torch.where(same, torch.arange(n_pos), -1).amax(dim=2, keepdim=True)
        same = same & (torch.arange(n_pos) == last)
    following = torch.zeros_like(same)
    following[:, :, 1:] = same[:, :, :-1]
    counted = asked & same.any(dim=2)
    attended = (pattern.double().cpu() * following.unsqueeze(1)).sum(dim=3)
    return attended.transpose(1, 2)[counted].mean(dim=0)
