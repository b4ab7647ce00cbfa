"""Fold a network's normalisations into the adjacent weights, without changing the network's function.

Statements about QK, OV and unembedding circuits use folded weights. The product of two folded matrices is the whole map
between two points of the residual stream, up to division by one number.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from modinterp.models.base_config import Weights
from modinterp.models.base_network import Network
from modinterp.models.config import TransformerConfig
from modinterp.models.from_weights import hooked


def _centred(w: Float[Tensor, "*rows column"], axis: int = -1) -> Tensor:
    return w - w.mean(dim=axis, keepdim=True)


def folded(network: Network) -> Network:
    """Return an equal network with centred weights, and with each LayerNorm's weights folded into the following
    weights.

    If a LayerNorm or no normalisation precedes the unembedding, each input's logits are centred over the outputs, which
    changes no probability. If the network has LayerNorm, all matrices that write into the residual stream are centred
    over `d_model`. The weights w and b of a LayerNorm are folded into the following weights. Biases of values are
    folded into `b_O`, since attention adds up to 1. If the network has no normalisation, only the unembedding is
    centred.

    Raises:
        ValueError: the network is not a transformer, has RMSNorm, or has attention patterns that do not sum to 1.
    Source: the folding of TransformerLens, `ProcessWeights`.
    """
    config = network.cfg
    if not isinstance(config, TransformerConfig) or config.normalization_type not in (None, "LN", "LNPre"):
        raise ValueError("only a transformer without normalisation, or with LayerNorm, can be folded")
    if config.attention_rate != 1:
        raise ValueError(
            "biases of values can be folded only if attention adds up to 1; here the attention rate is "
            f"{config.attention_rate}"
        )
    weights = {name: w.detach().clone() for name, w in network.named_parameters()}
    if config.normalization_type is not None:
        config = replace(config, normalization_type="LNPre", attn_biases=True, unembed_bias=True)
        for layer in range(config.n_layers):
            _fold_attention(weights, layer)
            if config.d_mlp is not None:
                _fold(weights, f"blocks.{layer}.ln2", f"blocks.{layer}.mlp.W_in", f"blocks.{layer}.mlp.b_in")
                config = replace(config, mlp_biases=True)
                weights.setdefault(f"blocks.{layer}.mlp.b_out", weights["embed.W_E"].new_zeros(config.d_model))
        _fold(weights, "ln_final", "unembed.W_U", "unembed.b_U")
        written = ("W_E", "W_pos", "W_O", "b_O", "W_out", "b_out")
        weights = {n: _centred(w) if n.rpartition(".")[2] in written else w for n, w in weights.items()}
    weights |= {name: _centred(weights[name]) for name in ("unembed.W_U", "unembed.b_U") if name in weights}
    return hooked(config, {name: weights[name] for name in config.shapes()}).to(weights["embed.W_E"].dtype)


def _fold(weights: Weights, norm: str, matrix: str, bias: str) -> None:
    """Fold one normalisation into the matrix that reads it and into a bias, and center the matrix."""
    W, w, b = weights[matrix], weights.pop(f"{norm}.w", None), weights.pop(f"{norm}.b", None)
    weights.setdefault(bias, W.new_zeros(W.shape[:-2] + W.shape[-1:]))
    if b is not None:
        weights[bias] = weights[bias] + torch.einsum("m,...mo->...o", b, W)
    weights[matrix] = _centred(W if w is None else w.unsqueeze(-1) * W, -2)


def _fold_attention(weights: Weights, layer: int) -> None:
    """Fold the normalisation before a layer's attention into the attention weights, and the value biases into `b_O`."""
    attn, norm = f"blocks.{layer}.attn.", f"blocks.{layer}.ln1"
    own = {f"{norm}.{x}": weights.pop(f"{norm}.{x}") for x in "wb" if f"{norm}.{x}" in weights}
    for letter in "QKV":
        weights |= own
        _fold(weights, norm, f"{attn}W_{letter}", f"{attn}b_{letter}")
    W_O, b_V = weights[f"{attn}W_O"], weights[f"{attn}b_V"]
    b_O = weights.get(f"{attn}b_O", W_O.new_zeros(W_O.shape[-1]))
    weights[f"{attn}b_O"] = b_O + torch.einsum("hd,hdm->m", b_V, W_O)
    weights[f"{attn}b_V"] = torch.zeros_like(b_V)
