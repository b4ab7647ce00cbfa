"""Analyse skip trigrams in an attention-only layer: a head attends to the token of the answer and copies it.

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
    """Return the logits that a token adds if all heads of the first layer attend only to it: W_E W_V W_O W_U. [logits]

    Args:
        tokens: the tokens whose logits are returned, one row each.
    """
    moved = ov_circuits(network, network.cfg.d_vocab).sum(dim=0)[tokens]
    return moved @ network.W_U.detach().double()


@checked
def attention_to(pattern: Float[Tensor, "input head key"], keys: Bool[Tensor, "input key"]) -> Float[Tensor, " head"]:
    """Return each head's total attention to some key positions, averaged over inputs, in [0, 1].

    Args:
        pattern: attention pattern of one query position.
        keys: mask that is True at the key positions that count.
    """
    return mass_on(pattern.double(), keys.to(pattern.device)).mean(dim=0)
