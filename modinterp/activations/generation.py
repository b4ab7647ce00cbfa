"""Greedy generation: answers token by token, each fed back in, where training feeds in the correct ones."""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.models import Network


def generated(network: Network, prompts: Int[Tensor, "input pos"], n: int) -> Int[Tensor, "input output"]:
    """The `n` tokens that a network generates after each prompt, the most likely one at every step.

    Args:
        prompts: the tokens before the answer, `[input, pos]`.
        n: how many tokens to generate.
    """
    tokens = prompts.to(network.device)
    with torch.no_grad(), network.at_last_position():
        for _ in range(n):
            tokens = torch.cat([tokens, network(tokens)[:, -1:].argmax(dim=-1)], dim=1)
    return tokens[:, prompts.shape[1] :].to(prompts.device)
