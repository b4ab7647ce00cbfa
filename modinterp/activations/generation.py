"""Answers said token by token, each fed back in, as opposed to the right ones being fed in training."""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.models import Network


def generated(network: Network, asked: Int[Tensor, "input asked"], n: int) -> Int[Tensor, "input n"]:
    """The `n` most likely tokens after each input, one after the other, every one read with those before it.

    Args:
        asked: the tokens that are given, without any of the answer.
        n: how many to generate.
    """
    tokens = asked.to(network.W_E.device)
    with torch.no_grad():
        for _ in range(n):
            tokens = torch.cat([tokens, network(tokens)[:, -1:].argmax(dim=-1)], dim=1)
    return tokens[:, asked.shape[1] :].to(asked.device)
