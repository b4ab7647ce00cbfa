"""The hooked transformer: every activation passes through a hook point with HookedTransformer's name."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from modinterp.models.base_config import ACTIVATIONS, Weights
from modinterp.models.base_network import Component, Network, returned
from modinterp.models.config import TransformerConfig
from modinterp.models.lens import HookPoint


class Attention(Component):
    """Attention; scores are divided by sqrt(d_head) before `hook_attn_scores`.

    What passes through `hook_pattern` is what the values are weighted by, `TransformerConfig.attention_rate` included:
    a query's weights add up to the rate, and 1 less the rate for every position that it may attend to.
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

    def _project(self, x: Tensor, letter: str) -> Tensor:
        projected = torch.einsum("bpm,hmd->bphd", x, getattr(self, f"W_{letter}"))
        return projected + getattr(self, f"b_{letter}") if self.biased else projected

    def forward(
        self, x: Float[Tensor, "batch pos d_model"], asking: Float[Tensor, "batch query d_model"]
    ) -> Float[Tensor, "batch query d_model"]:
        """What all heads together add to the residual stream, at the positions that ask, the last ones of x."""
        q, k, v = (
            self.hook_q(self._project(asking, "Q")),
            self.hook_k(self._project(x, "K")),
            self.hook_v(self._project(x, "V")),
        )
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / self.scale
        queries, keys = q.shape[1], k.shape[1]  # fewer queries than keys are the last ones
        unseen = torch.ones(queries, keys, dtype=torch.bool, device=x.device).triu(1 + keys - queries) & self.causal
        scores = self.hook_attn_scores(scores.masked_fill(unseen, -torch.inf))
        pattern = scores.softmax(dim=-1)
        if self.rate != 1:
            pattern = self.rate * pattern + (1 - self.rate) * ~unseen
        pattern = self.hook_pattern(pattern)
        z = self.hook_z(torch.einsum("bhqk,bkhd->bqhd", pattern, v))
        if self.use_result:
            out = self.hook_result(torch.einsum("bqhd,hdm->bqhm", z, self.W_O)).sum(dim=2)
        else:
            out = torch.einsum("bqhd,hdm->bqm", z, self.W_O)
        return out + self.b_O if self.biased else out


class MLP(Component):
    """act(x W_in + b_in) W_out + b_out; biases may be absent; without W_out the output is the neurons themselves.

    Args:
        bias_count: how often b_in is added, 1 but where it comes with every input of a sum.
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
        """What the MLP adds to the residual stream; its neurons, where it has no W_out."""
        pre = x @ self.W_in
        if hasattr(self, "b_in"):
            pre = pre + self.bias_count * self.b_in
        post = self.hook_post(self.act(self.hook_pre(pre)))
        out = post @ self.W_out if hasattr(self, "W_out") else post
        return out + self.b_out if hasattr(self, "b_out") else out


class Block(nn.Module):
    """One layer: the output of attention, then that of the MLP if there is one, is added to the residual stream."""

    def __init__(self, layer: int, weights: Weights, config: TransformerConfig):
        super().__init__()
        self.attn = Attention(f"blocks.{layer}.attn.", weights, config)
        self.hook_resid_pre, self.hook_attn_out, self.hook_resid_post = HookPoint(), HookPoint(), HookPoint()
        self.has_mlp = config.d_mlp is not None
        self.n_asking: int | None = None  # how many of the last positions ask; None for all
        if self.has_mlp:
            self.hook_resid_mid, self.hook_mlp_out = HookPoint(), HookPoint()
            self.mlp = MLP(f"blocks.{layer}.mlp.", weights, config.act_fn)

    def forward(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch query d_model"]:
        """The residual stream after the block, at the positions that ask."""
        x = self.hook_resid_pre(x)
        asking = x if self.n_asking is None else x[:, -self.n_asking :]
        x = asking + self.hook_attn_out(self.attn(x, asking))
        if self.has_mlp:
            x = self.hook_resid_mid(x)
            x = x + self.hook_mlp_out(self.mlp(x))
        return self.hook_resid_post(x)


class Transformer(Network):
    """The transformer of a `TransformerConfig`, with the hook and weight names of HookedTransformer.

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
        self.unembed = Component("unembed.", weights)
        self.setup()

    @contextmanager
    def at_last_position(self, n: int = 1) -> Iterator[Network]:
        """For a while, answers at the last n positions alone: the last layer has no other queries and no other MLP."""
        self.blocks[-1].n_asking = n
        try:
            yield self
        finally:
            self.blocks[-1].n_asking = None

    def forward(
        self,
        tokens: Int[Tensor, "batch pos"],
        return_type: str | None = "logits",
        labels: Int[Tensor, " batch"] | None = None,
        stop_at_layer: int | None = None,
    ) -> Any:
        """Logits of every output at every position; arguments as HookedTransformer has them.

        Args:
            return_type: `logits`, `loss`, `both`, or None for nothing. The loss is the mean cross-entropy of the logits
                at the last position, in nats: there is no next token to predict.
            labels: the right answers, for the loss, such as `task.answers()`.
            stop_at_layer: return the residual stream before this layer instead, counted from the end where negative.
        Raises:
            ValueError: another return type, or a loss without labels.
        """
        x = self.hook_embed(self.W_E[tokens])
        if self.cfg.positional:
            x = x + self.hook_pos_embed(self.pos_embed.W_pos[: tokens.shape[1]].expand_as(x))
        for block in self.blocks[:stop_at_layer]:
            x = block(x)
        if stop_at_layer is not None:
            return x
        logits = x @ self.W_U
        return returned(logits + self.unembed.b_U if self.cfg.unembed_bias else logits, return_type, labels)
