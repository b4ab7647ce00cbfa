"""How a layer of attention alone solves skip trigrams: it looks for the token that is asked for, and copies it.

Source: Nanda et al. 2023, appendix D.3.
"""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.attention import ov_circuits
from modinterp.analyses.ordering import mass_on
from modinterp.models import Network


def direct_path(network: Network, tokens: Int[Tensor, " token"]) -> Float[Tensor, "token output"]:
    """Logits that a token adds where all heads of the first layer attend to it alone: W_E W_V W_O W_U."""
    moved = ov_circuits(network, network.cfg.d_vocab).sum(dim=0)[tokens]
    return moved @ network.W_U.detach().double()


def attention_to(pattern: Float[Tensor, "input head key"], wanted: Bool[Tensor, "input key"]) -> Float[Tensor, " head"]:
    """Mean attention of each head to the wanted positions of every input, in [0, 1]."""
    return mass_on(pattern.double(), wanted.to(pattern.device)).mean(dim=0)
