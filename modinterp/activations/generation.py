"""Generate answers greedily: each generated token is fed back into the network, instead of the correct token as in
training.
"""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.models import Network


def generated(network: Network, prompts: Int[Tensor, "input pos"], n: int) -> Int[Tensor, "input output"]:
    """Return the `n` tokens that a network generates after each prompt, with the most likely token at every step.

    Args:
        prompts: the tokens before the answer, `[input, pos]`.
        n: number of tokens to generate.
    """
    tokens = prompts.to(network.device)
    with torch.no_grad(), network.at_last_position():
        for _ in range(n):
            tokens = torch.cat([tokens, network(tokens)[:, -1:].argmax(dim=-1)], dim=1)
    return tokens[:, prompts.shape[1] :].to(prompts.device)
