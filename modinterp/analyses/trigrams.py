"""How a layer of attention alone solves skip trigrams: it looks for the token that is asked for, and copies it.

Source: Nanda et al. 2023, appendix D.3.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.models import Network


def direct_path(network: Network, tokens: Int[Tensor, " token"]) -> Float[Tensor, "token output"]:
    """Logits that a token adds where all heads of the first layer attend to it alone: W_E W_V W_O W_U."""
    attention = network.blocks[0].attn
    moved = torch.einsum("tm,hmd,hdn->tn", network.W_E[tokens], attention.W_V, attention.W_O)
    return (moved @ network.W_U).detach().double()


def attention_to(pattern: Float[Tensor, "input head key"], wanted: Bool[Tensor, "input key"]) -> Float[Tensor, " head"]:
    """Mean attention of each head to the wanted positions of every input, in [0, 1]."""
    return (pattern.double() * wanted.to(pattern.device).unsqueeze(1)).sum(dim=2).mean(dim=0)
