"""Compute tables over tokens from weights alone: scores of first-layer heads, and the tokens that these heads copy.

All tables use folded weights (`modinterp.models.folded`), so that a LayerNorm only divides by a number.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.models import Transformer


@checked
def copying_tables(model: Transformer) -> Float[Tensor, "head token output"]:
    """Return the contribution to each logit of attending to each token, W_E W_V W_O W_U, by head of the first layer.

    Args:
        model: network with folded weights.
    """
    attn = model.blocks[0].attn
    return (model.W_E.double() @ attn.W_V.double() @ attn.W_O.double() @ model.W_U.double()).detach()


@checked
def composed_copying(model: Transformer) -> Float[Tensor, "first second token output"]:
    """Return the contribution of a token to each logit through a head of the first layer and a head of the second.

    The contribution is W_E W_V W_O W_V W_O W_U, with the weights of both heads, and full attention to the position of
    each token.

    Args:
        model: network with two or more layers, with folded weights.
    Raises:
        ValueError: the network has one layer.
    """
    if len(model.blocks) < 2:
        raise ValueError(f"model must have two layers or more, got {model.cfg.summary}")
    first, second = (block.attn for block in model.blocks[:2])
    written = model.W_E.double() @ first.W_V.double() @ first.W_O.double()
    read = second.W_V.double() @ second.W_O.double() @ model.W_U.double()
    return (written.unsqueeze(1) @ read).detach()


@checked
def score_tables(model: Transformer) -> Float[Tensor, "head query key"]:
    """Return the scores of query tokens with key tokens, W_E W_Q W_K^T W_E^T / sqrt(d_head), by head of the first
    layer. [nats]

    Positions, biases and the divisor of a LayerNorm are left out.

    Args:
        model: network with folded weights.
    """
    return _scores(model, model.W_E)


@checked
def position_score_tables(model: Transformer) -> Float[Tensor, "head query key"]:
    """Return the scores of query positions with key tokens, W_pos W_Q W_K^T W_E^T / sqrt(d_head), first layer. [nats]

    Args:
        model: network with folded weights.
    """
    return _scores(model, model.pos_embed.W_pos)


def _scores(model: Transformer, queries: Float[Tensor, "query d_model"]) -> Tensor:
    attn = model.blocks[0].attn
    q, k = queries.double() @ attn.W_Q.double(), model.W_E.double() @ attn.W_K.double()
    return (q @ k.mT / model.cfg.d_head**0.5).detach()


@checked
def is_copied(tables: Float[Tensor, "head token output"]) -> Bool[Tensor, "head token"]:
    """Return True for each token that raises its own logit more than any other, by head.

    Args:
        tables: `copying_tables`, restricted to tokens that are also outputs.

    >>> is_copied(torch.tensor([[[2.0, 1.0], [3.0, 0.0]]]))
    tensor([[ True, False]])
    """
    return tables.argmax(dim=-1) == torch.arange(tables.shape[1])


@checked
def owners(tables: Float[Tensor, "head token output"]) -> Int[Tensor, " token"]:
    """Return, for each token, the head that raises the token's own logit most above the mean of all logits.

    Args:
        tables: `copying_tables`, restricted to tokens that are also outputs.

    >>> owners(torch.tensor([[[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 3.0]]]))
    tensor([0, 1])
    """
    own = tables.diagonal(dim1=1, dim2=2) - tables.mean(dim=-1)
    return own.argmax(dim=0)
