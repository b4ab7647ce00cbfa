"""Define the hooked transformer: every activation passes through a hook point with HookedTransformer's name."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from modinterp.models.base_config import ACTIVATIONS, Weights
from modinterp.models.base_network import Component, Network, returned
from modinterp.models.config import TransformerConfig
from modinterp.models.lens import HookPoint
from modinterp.models.normalisation import Normalisation

FEW_ROWS = 4  # tokens for each row that there may be, below which rows are computed only for tokens that are there


@dataclass(frozen=True)
class ResidualTable:
    """The residual stream before the first layer as a table, since this stream depends only on position and token.

    Attributes:
        rows: the table, with one row of the residual stream for each position and token.
        index: the row of the table for each position of each input.
    """

    rows: Float[Tensor, "row d_model"]
    index: Int[Tensor, "batch pos"]


def _scores(q: Float[Tensor, "batch query head d_head"], k: Float[Tensor, "batch key head d_head"]) -> Tensor:
    """Return the products of queries and keys, `[batch, head, query, key]`; a single query has a faster path."""
    if q.shape[1] == 1:
        return (q * k).sum(-1).transpose(1, 2).unsqueeze(2)
    return torch.einsum("bqhd,bkhd->bhqk", q, k)


def _weighted(pattern: Float[Tensor, "batch head query key"], v: Float[Tensor, "batch key head d_head"]) -> Tensor:
    """Return the sums of values weighted by an attention pattern, `[batch, query, head, d_head]`."""
    if pattern.shape[2] == 1:
        return (pattern.squeeze(2).transpose(1, 2).unsqueeze(-1) * v).sum(1, keepdim=True)
    return torch.einsum("bhqk,bkhd->bqhd", pattern, v)


def _softmax(scores: Float[Tensor, "batch head query key"]) -> Float[Tensor, "batch head query key"]:
    """Return the softmax over keys; where no gradients are needed in a third of torch's time, since keys are few."""
    if torch.is_grad_enabled():
        return scores.softmax(dim=-1)
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp_()
    return powers.div_(powers.sum(dim=-1, keepdim=True))


class Attention(Component):
    """The attention of one layer; scores are divided by sqrt(d_head) before `hook_attn_scores`.

    `hook_pattern` holds the final weights of the values: attention rate times softmax, plus (1 - attention rate) for
    each visible position.
    """

    W_O: Tensor
    b_O: Tensor

    def __init__(self, prefix: str, weights: Weights, config: TransformerConfig):
        super().__init__(prefix, weights)
        self.biased, self.scale = config.attn_biases, math.sqrt(config.d_head)
        self.rate, self.causal = config.attention_rate, config.causal
        self.hook_q, self.hook_k, self.hook_v, self.hook_z = HookPoint(), HookPoint(), HookPoint(), HookPoint()
        self.hook_attn_scores, self.hook_pattern = HookPoint(), HookPoint()
        self.use_result, self.hook_result = False, HookPoint()

    def _project(self, x: Tensor, letter: str, table: ResidualTable | None) -> Float[Tensor, "*batch head d_head"]:
        """Return the queries, keys or values at the positions of x; if x has few distinct rows, they are looked up."""
        if table is not None:
            rows = self._project(table.rows, letter, None)
            return F.embedding(table.index[:, -x.shape[1] :], rows.flatten(-2)).unflatten(-1, rows.shape[-2:])
        W = getattr(self, f"W_{letter}")
        projected = (x @ W.transpose(0, 1).flatten(1)).unflatten(-1, (len(W), -1))
        return projected + getattr(self, f"b_{letter}") if self.biased else projected

    def forward(
        self,
        x: Float[Tensor, "batch pos d_model"],
        asking: Float[Tensor, "batch query d_model"],
        table: ResidualTable | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Return the summed output of all heads to the residual stream at the query positions, which are the last
        positions of x.

        Args:
            table: the distinct rows of x, if only few rows are distinct; otherwise None.
        """
        q, k, v = (
            self.hook_q(self._project(asking, "Q", table)),
            self.hook_k(self._project(x, "K", table)),
            self.hook_v(self._project(x, "V", table)),
        )
        scores = _scores(q, k) / self.scale
        queries, keys = q.shape[1], k.shape[1]  # fewer queries than keys are the last ones
        unseen = torch.ones(queries, keys, dtype=torch.bool, device=x.device).triu(1 + keys - queries) & self.causal
        scores = self.hook_attn_scores(scores.masked_fill(unseen, -torch.inf))
        pattern = _softmax(scores)
        if self.rate != 1:
            pattern = self.rate * pattern + (1 - self.rate) * ~unseen
        pattern = self.hook_pattern(pattern)
        z = self.hook_z(_weighted(pattern, v))
        if self.use_result:
            out = self.hook_result(torch.einsum("bqhd,hdm->bqhm", z, self.W_O)).sum(dim=2)
        else:
            out = z.flatten(-2) @ self.W_O.flatten(0, 1)
        return out + self.b_O if self.biased else out


class MLP(Component):
    """The MLP of one layer, act(x W_in + b_in) W_out + b_out.

    The MLP may have no biases. Without W_out, the MLP returns its neurons.

    Args:
        bias_count: how many times b_in is added; more than once if every embedding of a sum brings its own bias.
    """

    W_in: Tensor
    b_in: Tensor
    W_out: Tensor
    b_out: Tensor

    def __init__(self, prefix: str, weights: Weights, act_fn: str, bias_count: int = 1):
        super().__init__(prefix, weights)
        self.act, self.bias_count = ACTIVATIONS[act_fn], bias_count
        self.hook_pre, self.hook_post = HookPoint(), HookPoint()

    def forward(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch pos d_out"]:
        """Return the output of the MLP to the residual stream, or its neurons if it has no W_out."""
        pre = x @ self.W_in
        if hasattr(self, "b_in"):
            pre = pre + self.bias_count * self.b_in
        post = self.hook_post(self.act(self.hook_pre(pre)))
        out = post @ self.W_out if hasattr(self, "W_out") else post
        return out + self.b_out if hasattr(self, "b_out") else out


def _hooked(point: HookPoint, x: Tensor) -> tuple[Tensor, bool]:
    """Pass a tensor through a hook point; return the result, and True if certainly no hook changed it."""
    if x.is_inference():  # such tensors do not count their changes
        return point(x), False
    before = x._version
    passed = point(x)
    return passed, passed is x and x._version == before


class Block(nn.Module):
    """One layer, which adds the outputs of attention and, if it exists, of the MLP to the residual stream."""

    def __init__(self, layer: int, weights: Weights, config: TransformerConfig):
        super().__init__()
        self.attn = Attention(f"blocks.{layer}.attn.", weights, config)
        self.hook_resid_pre, self.hook_attn_out, self.hook_resid_post = HookPoint(), HookPoint(), HookPoint()
        self.has_mlp, kind = config.d_mlp is not None, config.normalization_type
        self.ln1 = nn.Identity() if kind is None else Normalisation(f"blocks.{layer}.ln1", weights, kind)
        self.n_asking: int | None = None  # how many of the last positions ask; None for all
        if self.has_mlp:
            self.hook_resid_mid, self.hook_mlp_out = HookPoint(), HookPoint()
            self.mlp = MLP(f"blocks.{layer}.mlp.", weights, config.act_fn)
            self.ln2 = nn.Identity() if kind is None else Normalisation(f"blocks.{layer}.ln2", weights, kind)

    def forward(
        self, x: Float[Tensor, "batch pos d_model"], table: ResidualTable | None = None
    ) -> Float[Tensor, "batch query d_model"]:
        """Return the residual stream after the block, at the query positions.

        Args:
            table: the distinct rows of x, if only few rows are distinct; otherwise None.
        """
        x, unchanged = _hooked(self.hook_resid_pre, x)
        read = self.ln1(x)
        asking, x = (y if self.n_asking is None else y[:, -self.n_asking :] for y in (read, x))
        x = x + self.hook_attn_out(self.attn(read, asking, table if unchanged else None))
        if self.has_mlp:
            x = self.hook_resid_mid(x)
            x = x + self.hook_mlp_out(self.mlp(self.ln2(x)))
        return self.hook_resid_post(x)


class Transformer(Network):
    """A transformer with the hook and weight names of HookedTransformer, built from a `TransformerConfig`.

    >>> from modinterp.models import TransformerConfig, initial_weights
    >>> config = TransformerConfig(d_vocab=6, d_vocab_out=5, n_ctx=3)
    >>> logits, cache = Transformer(config, initial_weights(config, seed=0)).run_with_cache(torch.tensor([[1, 2, 5]]))
    >>> cache["blocks.0.mlp.hook_post"].shape
    torch.Size([1, 3, 512])
    """

    def __init__(self, config: TransformerConfig, weights: Weights):
        super().__init__(config)
        self.embed, self.hook_embed = Component("embed.", weights), HookPoint()
        if config.positional:
            self.pos_embed, self.hook_pos_embed = Component("pos_embed.", weights), HookPoint()
        self.blocks = nn.ModuleList([Block(layer, weights, config) for layer in range(config.n_layers)])
        kind = config.normalization_type
        self.ln_final = nn.Identity() if kind is None else Normalisation("ln_final", weights, kind)
        self.unembed = Component("unembed.", weights)
        self.setup()

    @contextmanager
    def at_last_position(self, n: int = 1) -> Iterator[Network]:
        """Compute queries and MLP of the last layer only at the last n positions, until the `with` statement ends."""
        self.blocks[-1].n_asking = n
        try:
            yield self
        finally:
            self.blocks[-1].n_asking = None

    def _residual_table(self, tokens: Int[Tensor, "batch pos"]) -> ResidualTable | None:
        """Return the distinct rows of the residual stream before the first layer; None if a table saves nothing.

        The result is also None if gradients are computed, since these must pass through every hook, or after a
        normalisation.
        """
        n_ctx, d_vocab = tokens.shape[1], len(self.W_E)
        is_normalised = self.cfg.normalization_type is not None  # what the attention reads passes more hooks then
        if torch.is_grad_enabled() or is_normalised:
            return None
        if tokens.numel() < FEW_ROWS * n_ctx * d_vocab:  # most rows would be computed for nothing
            return self._table_of_these(tokens)
        if not self.cfg.positional:
            return ResidualTable(self.W_E, tokens)
        rows = self.W_E + self.pos_embed.W_pos[:n_ctx, None]
        return ResidualTable(rows.flatten(0, 1), tokens + d_vocab * torch.arange(n_ctx, device=tokens.device))

    def _table_of_these(self, tokens: Int[Tensor, "batch pos"]) -> ResidualTable | None:
        """Return the distinct (position, token) rows of some inputs; None unless they are fewer than half of the
        tokens.
        """
        d_vocab, places = len(self.W_E), torch.arange(tokens.shape[1], device=tokens.device)
        found, index = (tokens + d_vocab * places).unique(return_inverse=True)
        if 2 * len(found) > tokens.numel():
            return None
        rows = self.W_E[found % d_vocab]
        return ResidualTable(rows + self.pos_embed.W_pos[found // d_vocab] if self.cfg.positional else rows, index)

    def forward(
        self,
        tokens: Int[Tensor, "batch pos"],
        return_type: str | None = "logits",
        labels: Int[Tensor, " batch"] | None = None,
        stop_at_layer: int | None = None,
    ) -> Any:
        """Return the logits of every output at every position; the arguments are those of HookedTransformer.

        Args:
            return_type: `logits`, `loss`, `both`, or None for nothing. The loss is the mean cross-entropy at the last
                position, in nats; these networks do not predict the next token.
            labels: the right answers for the loss, such as `task.answers()`.
            stop_at_layer: index of a layer; the residual stream before this layer is returned. Negative indices of
                layers count from the end.
        Raises:
            ValueError: `return_type` is unknown, or a loss is requested without labels.
        """
        x, unchanged = _hooked(self.hook_embed, self.W_E[tokens])
        if self.cfg.positional:
            positions, as_they_are = _hooked(self.hook_pos_embed, self.pos_embed.W_pos[: tokens.shape[1]].expand_as(x))
            x, unchanged = x + positions, unchanged and as_they_are
        table = self._residual_table(tokens) if unchanged else None
        for block in self.blocks[:stop_at_layer]:
            x, table = block(x, table), None
        if stop_at_layer is not None:
            return x
        logits = self.ln_final(x) @ self.W_U
        return returned(logits + self.unembed.b_U if self.cfg.unembed_bias else logits, return_type, labels)
