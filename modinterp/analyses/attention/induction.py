"""Measure previous-token heads and induction heads, which together form an induction circuit.

Source: Nanda et al. 2023, appendix D.3, figure 31 and appendix E.2; Olsson et al. 2022.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked


@checked
def previous_token_scores(pattern: Float[Tensor, "input head query key"]) -> Float[Tensor, " head"]:
    """Return the previous-token score of each head: its mean attention to the preceding position, in [0, 1].

    The first position is left out, since no token stands before it.
    """
    return pattern.double().diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=(0, 2))


@checked
def induction_scores(
    pattern: Float[Tensor, "input head query key"],
    tokens: Int[Tensor, "input pos"],
    positions: Bool[Tensor, "input pos"],
    latest: bool = True,
) -> Float[Tensor, " head"]:
    """Return the induction score of each head: mean attention to the position after an earlier copy of the current
    token.

    Args:
        positions: query positions over which the mean is taken, such as those whose next token can be predicted. Only
            positions whose token occurred earlier in the input count.
        latest: True to count only attention to the token after the last earlier occurrence; False for any earlier
            occurrence.
    Returns:
        one number in [0, 1] for each head; NaN if no token occurs twice.
    """
    n_pos = tokens.shape[1]
    same = (tokens.unsqueeze(2) == tokens.unsqueeze(1)) & torch.ones(n_pos, n_pos, dtype=torch.bool).tril(-1)
    if latest:
        last = torch.where(same, torch.arange(n_pos), -1).amax(dim=2, keepdim=True)
        same = same & (torch.arange(n_pos) == last)
    following = torch.zeros_like(same)
    following[:, :, 1:] = same[:, :, :-1]
    counted = positions & same.any(dim=2)
    attended = (pattern.double().cpu() * following.unsqueeze(1)).sum(dim=3)
    return attended.transpose(1, 2)[counted].mean(dim=0)
