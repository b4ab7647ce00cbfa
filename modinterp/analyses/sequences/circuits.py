"""Tables over tokens, from weights alone: the scores of first-layer heads, and the tokens that they copy.

All tables are of folded weights (`modinterp.models.folded`), which a LayerNorm then only divides by a number.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.models import Transformer


@checked
def copying_tables(model: Transformer) -> Float[Tensor, "head token output"]:
    """Contribution to each logit of attending to each token, W_E W_V W_O W_U, by head of the first layer.

    Args:
        model: with folded weights.
    """
    attn = model.blocks[0].attn
    return (model.W_E.double() @ attn.W_V.double() @ attn.W_O.double() @ model.W_U.double()).detach()


@checked
def composed_copying(model: Transformer) -> Float[Tensor, "first second token output"]:
    """Contribution of a token to each logit through a head of the first layer and one of the second.

    The contribution is W_E W_V W_O W_V W_O W_U, with the weights of both heads, and full attention to the position of
    each token.

    Args:
        model: of two layers or more, with folded weights.
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
    """Scores of query tokens with key tokens, W_E W_Q W_K^T W_E^T / sqrt(d_head), by head of the first layer. [nats]

    Positions and biases are left out, and so is what a LayerNorm divides by.

    Args:
        model: with folded weights.
    """
    return _scores(model, model.W_E)


@checked
def position_score_tables(model: Transformer) -> Float[Tensor, "head query key"]:
    """Scores of query positions with key tokens, W_pos W_Q W_K^T W_E^T / sqrt(d_head), first layer. [nats]

    Args:
        model: with folded weights.
    """
    return _scores(model, model.pos_embed.W_pos)


def _scores(model: Transformer, queries: Float[Tensor, "query d_model"]) -> Tensor:
    attn = model.blocks[0].attn
    q, k = queries.double() @ attn.W_Q.double(), model.W_E.double() @ attn.W_K.double()
    return (q @ k.mT / model.cfg.d_head**0.5).detach()


@checked
def is_copied(tables: Float[Tensor, "head token output"]) -> Bool[Tensor, "head token"]:
    """True for each token that raises its own logit more than any other, by head.

    Args:
        tables: `copying_tables` of the tokens that are outputs, too.

    >>> is_copied(torch.tensor([[[2.0, 1.0], [3.0, 0.0]]]))
    tensor([[ True, False]])
    """
    return tables.argmax(dim=-1) == torch.arange(tables.shape[1])


@checked
def owners(tables: Float[Tensor, "head token output"]) -> Int[Tensor, " token"]:
    """The head that raises each token's own logit most above the mean of all logits.

    Args:
        tables: `copying_tables` of the tokens that are outputs, too.

    >>> owners(torch.tensor([[[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 3.0]]]))
    tensor([0, 1])
    """
    own = tables.diagonal(dim1=1, dim2=2) - tables.mean(dim=-1)
    return own.argmax(dim=0)
