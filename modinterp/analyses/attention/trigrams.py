"""Skip trigrams in a layer of attention alone: a head attends to the token of the answer and copies it.

Source: Nanda et al. 2023, appendix D.3.
"""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.attention.heads import ov_circuits
from modinterp.analyses.checked import checked
from modinterp.analyses.order.largest_number import mass_on
from modinterp.models import Transformer


@checked
def direct_path(network: Transformer, tokens: Int[Tensor, " token"]) -> Float[Tensor, "token output"]:
    """Logits that a token adds where all heads of the first layer attend to it alone: W_E W_V W_O W_U. [logits]

    Args:
        tokens: the tokens whose logits are returned, one row each.
    """
    moved = ov_circuits(network, network.cfg.d_vocab).sum(dim=0)[tokens]
    return moved @ network.W_U.detach().double()


@checked
def attention_to(pattern: Float[Tensor, "input head key"], keys: Bool[Tensor, "input key"]) -> Float[Tensor, " head"]:
    """Mean over inputs of each head's attention to some key positions of every input together, in [0, 1].

    Args:
        pattern: attention from one query position.
        keys: whether attention to a position counts.
    """
    return mass_on(pattern.double(), keys.to(pattern.device)).mean(dim=0)
