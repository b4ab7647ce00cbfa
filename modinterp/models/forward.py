"""Compute the forward pass of training, which gives only the logits at the answers' positions and has no hooks.

The functions of this forward pass are pure functions of weights and of integers that are computed once per batch.
Because the functions are pure, `torch.func.vmap` can map them over many runs. For a one-layer network that is read at
its last position, this forward pass needs about a quarter of the hooked model's arithmetic. Keys and values are
computed once for each pair (position, token) instead of once for each input. Queries, MLP and unembedding are computed
only at the last position. For many inputs, a CPU first multiplies the weights on both sides of the residual stream,
which saves another tenth of a step. `Transformer` computes the same function with hooks at every activation, and a test
compares the two results.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.models.base_config import ACTIVATIONS, Weights
from modinterp.models.config import Config, TransformerConfig
from modinterp.models.lookup import Index
from modinterp.models.mlp_config import MLPConfig
from modinterp.models.normalisation import normalised
from modinterp.models.operations import FAST, Operations

Drop = Callable[[str, int, Tensor], Tensor]


def no_dropout(place: str, layer: int, x: Tensor) -> Tensor:
    """Return activations unchanged; this is the `Drop` function of a forward pass without dropout."""
    return x


def indexed(
    config: Config,
    inputs: Int[Tensor, "input pos"],
    last_tokens: Int[Tensor, " token"],
    n_read: int = 1,
    read: Int[Tensor, "input query"] | None = None,
    operations: Operations = FAST,
) -> Index:
    """Return the table rows that `read_logits` looks up, computed once for a batch of inputs.

    Args:
        last_tokens: all tokens that may occur at the last position, in order.
        n_read: number of positions, counted from the last, at which logits are computed.
        read: for each input, the positions at which logits are computed, if these are only some of the last `n_read`.
        operations: `FAST` or `MAPPABLE`, as in the later call of `read_logits`.
    """
    n_ctx = inputs.shape[1]
    rows = inputs + config.d_vocab * torch.arange(n_ctx, device=inputs.device)
    if isinstance(config, MLPConfig):
        by_place = config.joined == "concatenated"
        if config.one_hot and not by_place:  # a product with few columns is faster than to look up and add rows
            return {"summed": F.one_hot(inputs, config.d_vocab).sum(dim=1).float()}
        return operations.index(rows if by_place else inputs, config.d_vocab * (n_ctx if by_place else 1), 0)
    if not _tabulated(config, n_read):
        index = operations.index(rows, n_ctx * config.d_vocab, 0)
        return index if read is None else index | {"read": read}
    if len(last_tokens) == 1:
        rows, n_rows = rows[:, :-1], (n_ctx - 1) * config.d_vocab + 1  # the last row is that of the last token
        scores, n_scores = rows, n_rows
    else:
        last, n_rows = torch.searchsorted(last_tokens, inputs[:, -1].contiguous()), n_ctx * config.d_vocab
        scores, n_scores = rows + (last * n_rows).unsqueeze(1), n_rows * len(last_tokens)
    index = operations.index(rows.contiguous(), n_rows, config.n_heads)
    index |= {"scores": operations.index(scores.T.contiguous(), n_scores, 0), "last_tokens": last_tokens}
    return index if len(last_tokens) == 1 else index | {"last": last}


def _tabulated(config: TransformerConfig, n_read: int) -> bool:
    return config.n_layers == 1 and n_read == 1 and config.normalization_type is None


def read_logits(
    config: Config,
    weights: Weights,
    index: Index,
    n_read: int = 1,
    drop: Drop = no_dropout,
    operations: Operations = FAST,
) -> Float[Tensor, "input query output"]:
    """Return logits at the last `n_read` positions, or at the positions that were given to `indexed`.

    Args:
        index: the result of calling `indexed` on the inputs.
        drop: function that applies dropout during training. `drop` is applied to the neurons of every MLP (`"neurons"`,
            layer), and to the residual stream after every attention and MLP (`"residual"`, number of the sub-layer).
        operations: `FAST`, or `MAPPABLE` to map over runs.
    """
    if isinstance(config, MLPConfig):
        return _pair_mlp_logits(config, weights, index, drop, operations).unsqueeze(1)
    table = _residual_table(config, weights, _n_ctx(index))
    if _tabulated(config, n_read):
        z, resid = _tabulated_attention(config, weights, index, table, operations)
        if drop is no_dropout and _is_quicker_folded(config, z, resid):
            return _folded_logits(config, weights, z, resid, operations).unsqueeze(1)
        x = _plus_attention(resid, z, weights, 0, operations).unsqueeze(1)
    else:
        x = _layers_before_the_last_mlp(config, weights, index, table, n_read, drop, operations)
    last = config.n_layers - 1
    x = drop("residual", 2 * last, x)
    x = _plus_mlp(x, config, weights, last, drop, operations)
    x = normalised(x, config.normalization_type, weights, "ln_final")
    return operations.affine(x.flatten(0, -2), weights["unembed.W_U"], weights.get("unembed.b_U")).unflatten(
        0, x.shape[:-1]
    )


def _has_one_last_token(index: Index) -> bool:
    return "last_tokens" in index and "last" not in index


def _n_ctx(index: Index) -> int:
    return index["rows"].shape[-1] + _has_one_last_token(index)


def _neurons(x: Tensor, weights: Weights, mlp: str, config: Config, operations: Operations) -> Tensor:
    """Return the neurons of an MLP after their nonlinearity; `name` is the common prefix of its weights' names."""
    W, b = weights[f"{mlp}W_in"], weights.get(f"{mlp}b_in")
    if config.act_fn == "relu":
        return operations.affine_relu(x, W, b)
    return ACTIVATIONS[config.act_fn](operations.affine(x, W, b))


def _pair_mlp_logits(
    config: MLPConfig, weights: Weights, index: Index, drop: Drop, operations: Operations
) -> Float[Tensor, "input output"]:
    """Return the logits of a pair MLP, whose first layer is computed as a table by token (and position)."""
    W_in = weights["blocks.0.mlp.W_in"]
    act = operations.relu if config.act_fn == "relu" else ACTIVATIONS[config.act_fn]
    parts = W_in.split(config.d_model) if config.joined == "concatenated" else (W_in,)
    embedded = parts if config.one_hot else [weights["embed.W_E"] @ part for part in parts]
    table = torch.cat(embedded) if len(parts) > 1 else embedded[0]
    pre = index["summed"].to(table.dtype) @ table if "summed" in index else operations.row_sums(table, index)
    if config.mlp_biases:
        pre = pre + config.bias_count * weights["blocks.0.mlp.b_in"]
    post = drop("neurons", 0, act(pre))
    for layer in range(1, config.n_layers):
        post = drop("neurons", layer, _neurons(post, weights, f"blocks.{layer}.mlp.", config, operations))
    return operations.affine(post, weights["unembed.W_U"], weights.get("unembed.b_U"))


def _residual_table(config: TransformerConfig, weights: Weights, n_ctx: int) -> Float[Tensor, "pos token d_model"]:
    """Return the residual stream before the first block, which depends only on position and token."""
    W_E = weights["embed.W_E"]
    if not config.positional:
        return W_E.expand(n_ctx, -1, -1)
    return W_E + weights["pos_embed.W_pos"][:n_ctx, None]


def _projected(x: Float[Tensor, "*batch d_model"], weights: Weights, layer: int, letter: str) -> Tensor:
    """Compute x W + b for one of Q, K, V, with all heads concatenated: [*batch, head * d_head]."""
    attn = f"blocks.{layer}.attn."
    W = weights[f"{attn}W_{letter}"]
    projected = x @ W.transpose(0, 1).flatten(1)
    bias = weights.get(f"{attn}b_{letter}")
    return projected if bias is None else projected + bias.flatten()


def _tabulated_attention(
    config: TransformerConfig, weights: Weights, index: Index, table: Tensor, operations: Operations
) -> tuple[Float[Tensor, "input d_heads"], Float[Tensor, "*input d_model"]]:
    """Return the attention outputs of a one-layer network at the last position, heads concatenated, from tables.

    The second result is the residual stream to which the outputs are added. If all inputs end with the same token, such
    as "=", the residual stream is a single row.
    """
    one_last, per_head = _has_one_last_token(index), (config.n_heads, config.d_head)
    before, last_place = table.split([len(table) - 1, 1])
    queries_in = F.embedding(index["last_tokens"], last_place.squeeze(0))
    seen = torch.cat([before.flatten(0, 1), queries_in]) if one_last else table.flatten(0, 1)
    projected = (_projected(x, weights, 0, letter) for x, letter in ((queries_in, "Q"), (seen, "K"), (seen, "V")))
    q, k, v = (x.unflatten(-1, per_head) for x in projected)
    scores = torch.einsum("qhd,rhd->qrh", q, k).flatten(0, 1) / math.sqrt(config.d_head)
    scores = scores.contiguous()  # in a table without gaps rows are looked up twenty times as fast
    found = operations.rows(scores, index["scores"])
    if one_last:
        found = torch.cat([found, scores[-1].expand(1, found.shape[1], -1)])
    pattern = found.softmax(dim=0)  # [place, input, head]; the last position sees all, causal or not
    if config.attention_rate != 1:
        pattern = config.attention_rate * pattern + (1 - config.attention_rate)
    looked_up, of_last = pattern.split([index["rows"].shape[1], int(one_last)])
    z = operations.mixed_rows(v, looked_up, index).flatten(-2)
    if one_last:
        own_head = torch.eye(config.n_heads, device=v.device).repeat_interleave(config.d_head, dim=1)
        of_heads = own_head * v[-1].flatten()
        z = torch.addmm(z, of_last.squeeze(0), of_heads)  # of each head its own columns, in one product
    resid = queries_in.squeeze(0) if one_last else F.embedding(index["last"], queries_in)
    return z, resid


def _is_quicker_folded(config: TransformerConfig, z: Tensor, resid: Tensor) -> bool:
    """Return True if `_folded_logits` needs fewer multiplications; on a GPU it is slower and never used.

    On an H200, a training step of five mainline runs takes 1.30 ms folded and 1.16 ms unfolded.
    """
    if config.d_mlp is None or resid.dim() > 1 or z.device.type != "cpu":
        return False
    heads, d_model, d_mlp, d_out = z.shape[-1], config.d_model, config.d_mlp, config.d_vocab_out
    as_they_stand = len(z) * (heads * d_model + 2 * d_model * d_mlp + d_model * d_out)
    folded = len(z) * (heads * d_mlp + d_mlp * d_out + heads * d_out)
    of_weights = heads * d_model * d_mlp + d_mlp * d_model * d_out + heads * d_model * d_out
    return folded + of_weights < as_they_stand


def _folded_logits(
    config: TransformerConfig, weights: Weights, z: Tensor, resid: Float[Tensor, " d_model"], operations: Operations
) -> Float[Tensor, "input output"]:
    """Return the logits of a one-layer network, after multiplying all pairs of weights with only a sum between them.

    The residual stream is then never computed. Neurons read the attention outputs through W_O W_in. Logits read neurons
    through W_out W_U, and attention outputs through W_O W_U.

    Args:
        z: the attention outputs, with heads concatenated in the last axis.
        resid: the residual stream to which the attention outputs would be added, the same for every input.
    """
    W_O, W_U, mlp = weights["blocks.0.attn.W_O"].flatten(0, 1), weights["unembed.W_U"], "blocks.0.mlp."
    W_in, W_out = weights[f"{mlp}W_in"], weights[f"{mlp}W_out"]
    resid = _plus_bias(resid, weights.get("blocks.0.attn.b_O"))
    b_in = _plus_bias(resid @ W_in, weights.get(f"{mlp}b_in"))
    post = _neurons(z, {f"{mlp}W_in": W_O @ W_in, f"{mlp}b_in": b_in}, mlp, config, operations)
    bias = _plus_bias(_plus_bias(resid, weights.get(f"{mlp}b_out")) @ W_U, weights.get("unembed.b_U"))
    return operations.affine(post, W_out @ W_U, bias) + operations.affine(z, W_O @ W_U, None)


def _plus_bias(x: Float[Tensor, "*batch d_out"], bias: Float[Tensor, " d_out"] | None) -> Float[Tensor, "*batch d_out"]:
    return x if bias is None else x + bias


def _layers_before_the_last_mlp(
    config: TransformerConfig,
    weights: Weights,
    index: Index,
    table: Tensor,
    n_read: int,
    drop: Drop,
    operations: Operations,
) -> Float[Tensor, "input query d_model"]:
    """Return the residual stream after the last attention, at the answers' positions only."""
    x, looked_up = operations.rows(table.flatten(0, 1), index), None
    if config.normalization_type is not None:  # what stands before the first layer has few rows to normalise
        read = normalised(table.flatten(0, 1), config.normalization_type, weights, "blocks.0.ln1")
        looked_up = [operations.rows(_projected(read, weights, 0, letter), index) for letter in "QKV"]
    query_pos = torch.arange(x.shape[1], device=x.device).unsqueeze(0)  # [1 or input, query]
    for layer in range(config.n_layers):
        last, asking = layer == config.n_layers - 1, _all_of
        if last:
            query_pos = index.get("read", query_pos[:, -n_read:])
            asking = partial(_at, query_pos if "read" in index else None, n_read)
        if looked_up is not None:
            (q, k, v), looked_up = looked_up, None
            q = asking(q)
        else:
            read = normalised(x, config.normalization_type, weights, f"blocks.{layer}.ln1")
            of = (asking(read), "Q"), (read, "K"), (read, "V")
            q, k, v = (_projected(y, weights, layer, letter) for y, letter in of)
        x = _plus_attention(asking(x), _attend(q, k, v, config, query_pos), weights, layer, operations)
        if not last:
            x = drop("residual", 2 * layer, x)
            x = _plus_mlp(x, config, weights, layer, drop, operations)
    return x


def _all_of(x: Tensor) -> Tensor:
    return x


def _at(positions: Tensor | None, n_read: int, x: Float[Tensor, "input pos column"]) -> Tensor:
    """Return activations at some positions of each input, by default at the last `n_read` positions."""
    return x[:, -n_read:] if positions is None else x.take_along_dim(positions.unsqueeze(-1), dim=1)


def _attend(q: Tensor, k: Tensor, v: Tensor, config: TransformerConfig, query_pos: Tensor) -> Tensor:
    """Return the attention outputs, with heads concatenated in the last axis: [input, query, head * d_head].

    Args:
        query_pos: positions of the queries, `[1 or input, query]`.
    """
    q, k, v = (x.unflatten(-1, (config.n_heads, -1)).transpose(1, 2) for x in (q, k, v))
    if config.normalization_type is not None and config.attention_rate == 1:  # on a CPU half the time, not mapped over
        seen = torch.arange(k.shape[-2], device=query_pos.device) <= query_pos.unsqueeze(-1)
        mask = seen.unsqueeze(1) if config.causal else None
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(-2)
    scores, rate = q / math.sqrt(q.shape[-1]) @ k.transpose(-1, -2), config.attention_rate
    if config.causal and query_pos.shape != (1, 1):  # the last position sees everything
        future = torch.arange(k.shape[-2], device=query_pos.device) > query_pos.unsqueeze(-1)
        scores = scores + torch.where(future, -torch.inf, 0.0).unsqueeze(1)  # faster than to fill a copy
    pattern = scores.softmax(dim=-1)
    if rate != 1:
        pattern = rate * pattern + (1 - rate) * (scores > -torch.inf)
    return (pattern @ v).transpose(1, 2).flatten(-2)


def _plus_attention(
    resid: Float[Tensor, "*#batch d_model"], z: Tensor, weights: Weights, layer: int, operations: Operations
) -> Float[Tensor, "*batch d_model"]:
    """Return the residual stream after an attention layer; a residual row shared by all inputs is added with the bias.

    Args:
        z: the attention outputs, with heads concatenated in the last axis.
    """
    W, b = weights[f"blocks.{layer}.attn.W_O"].flatten(0, 1), weights.get(f"blocks.{layer}.attn.b_O")
    if resid.dim() == 1:
        return operations.affine(z, W, _plus_bias(resid, b))
    return resid + operations.affine(z.flatten(0, -2), W, b).unflatten(0, z.shape[:-1])


def _plus_mlp(
    x: Tensor, config: TransformerConfig, weights: Weights, layer: int, drop: Drop, operations: Operations
) -> Tensor:
    if config.d_mlp is None:
        return x
    mlp = f"blocks.{layer}.mlp."
    read = normalised(x, config.normalization_type, weights, f"blocks.{layer}.ln2").flatten(0, -2)
    post = drop("neurons", layer, _neurons(read, weights, mlp, config, operations))
    out = operations.affine(post, weights[f"{mlp}W_out"], weights.get(f"{mlp}b_out")).unflatten(0, x.shape[:-1])
    return drop("residual", 2 * layer + 1, x + out)
