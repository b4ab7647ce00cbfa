"""The training forward pass: the logits at the last position, and nothing that they do not need.

For a one-layer network on pairs this is about a quarter of the arithmetic of the hooked model: keys and values are
tabulated per (position, token) instead of computed per input, and queries, MLP and unembedding see one position.
`Transformer` computes the same function with every activation hooked; a test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.models.config import ACTIVATIONS, Config, MLPConfig, TransformerConfig, Weights
from modinterp.models.product import product

Neurons = Callable[[Tensor], Tensor]


def _projected(x: Float[Tensor, "*batch d_model"], weights: Weights, attn: str, letter: str) -> Tensor:
    """x W + b for one of Q, K, V with all heads side by side: [*batch, head * d_head]."""
    W = weights[f"{attn}W_{letter}"]
    projected = x @ W.transpose(0, 1).reshape(W.shape[1], -1)
    bias = weights.get(f"{attn}b_{letter}")
    return projected if bias is None else projected + bias.flatten()


def _plus_attention(resid: Tensor, z: Float[Tensor, "*batch heads_x_d_head"], weights: Weights, attn: str) -> Tensor:
    out = resid + product(z.flatten(0, -2), weights[f"{attn}W_O"].flatten(0, 1)).view_as(resid)
    return out + weights[f"{attn}b_O"] if f"{attn}b_O" in weights else out


def _plus_mlp(x: Tensor, config: TransformerConfig, weights: Weights, block: str, on_neurons: Neurons | None) -> Tensor:
    if config.d_mlp is None:
        return x
    rows = x.flatten(0, -2)
    pre = _affine(rows, weights, f"{block}mlp.", "in")
    post = ACTIVATIONS[config.act_fn](pre)
    post = post if on_neurons is None else on_neurons(post)
    return x + _affine(post, weights, f"{block}mlp.", "out").view_as(x)


def _affine(x: Float[Tensor, "row inner"], weights: Weights, component: str, name: str) -> Float[Tensor, "row outer"]:
    out, bias = product(x, weights[f"{component}W_{name}"]), weights.get(f"{component}b_{name}")
    return out if bias is None else out + bias


def _attend(q: Tensor, k: Tensor, v: Tensor, n_heads: int, causal: bool) -> Tensor:
    """Attention with heads side by side in the last axis of q, k, v: [batch, query or key, head * d_head]."""
    q, k, v = (x.unflatten(-1, (n_heads, -1)).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(future, -torch.inf)
    return (scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(-2)


def last_position_logits(
    config: Config, tokens: Int[Tensor, "input pos"], on_neurons: Neurons | None = None
) -> Callable[[Weights], Float[Tensor, "input output"]]:
    """The function from weights to the logits at the last position, for fixed inputs.

    Index arithmetic that depends on the inputs alone is done once, here.

    Args:
        on_neurons: applied to the activations of every MLP after its nonlinearity; dropout in training.
    """
    if isinstance(config, MLPConfig):
        act = ACTIVATIONS[config.act_fn]

        def mlp_forward(weights: Weights) -> Tensor:
            table = weights["embed.W_E"] @ weights["blocks.0.mlp.W_in"]
            post = act(F.embedding(tokens, table).sum(dim=1))
            return product(post if on_neurons is None else on_neurons(post), weights["unembed.W_U"])

        return mlp_forward

    n_ctx = tokens.shape[1]
    table_rows = tokens + config.d_vocab * torch.arange(n_ctx, device=tokens.device)
    last_tokens, last_index = tokens[:, -1].unique(return_inverse=True)
    first_attn, last_block = "blocks.0.attn.", f"blocks.{config.n_layers - 1}."

    def residual_table(weights: Weights) -> Float[Tensor, "pos token d_model"]:
        """Residual stream before the first block, which depends on position and token alone."""
        W_E = weights["embed.W_E"]
        if not config.positional:
            return W_E.expand(n_ctx, -1, -1)
        return W_E + weights["pos_embed.W_pos"][:n_ctx, None]

    def first_block_at_last(table: Tensor, weights: Weights) -> Tensor:
        """Residual stream after the attention of the only layer, from tables."""
        queries_in = table[-1, last_tokens]
        q, k, v = (_projected(x, weights, first_attn, letter) for x, letter in
                   ((queries_in, "Q"), (table, "K"), (table, "V")))  # fmt: skip
        per_head = (config.n_heads, config.d_head)
        scores = torch.einsum("qhd,pthd->qpth", q.unflatten(-1, per_head), k.unflatten(-1, per_head))
        scores = scores.flatten(0, 2) / math.sqrt(config.d_head)
        rows = table_rows + (last_index * n_ctx * config.d_vocab).unsqueeze(1)
        pattern = F.embedding(rows, scores).softmax(dim=1)
        values = F.embedding(table_rows, v.flatten(0, 1)).unflatten(-1, per_head)
        z = (pattern.unsqueeze(-1) * values).sum(dim=1).flatten(-2)
        return _plus_attention(F.embedding(last_index, queries_in), z, weights, first_attn)

    def deep_last(table: Tensor, weights: Weights) -> Tensor:
        """Residual stream after the last attention, all earlier layers computed at every position."""
        x = F.embedding(table_rows, table.flatten(0, 1))
        for layer in range(config.n_layers):
            attn, last = f"blocks.{layer}.attn.", layer == config.n_layers - 1
            queries_in = x[:, -1:] if last else x
            q, k, v = (_projected(y, weights, attn, letter) for y, letter in
                       ((queries_in, "Q"), (x, "K"), (x, "V")))  # fmt: skip
            x = _plus_attention(queries_in, _attend(q, k, v, config.n_heads, not last), weights, attn)
            if not last:
                x = _plus_mlp(x, config, weights, f"blocks.{layer}.", on_neurons)
        return x[:, 0]

    def forward(weights: Weights) -> Tensor:
        table = residual_table(weights)
        x = (first_block_at_last if config.n_layers == 1 else deep_last)(table, weights)
        x = _plus_mlp(x, config, weights, last_block, on_neurons)
        logits = product(x, weights["unembed.W_U"])
        return logits + weights["unembed.b_U"] if config.unembed_bias else logits

    return forward
