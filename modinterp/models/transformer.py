"""The hooked transformer: every activation passes through a hook point with HookedTransformer's name."""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformer_lens import ActivationCache, HookedRootModule
from transformer_lens.hook_points import HookPoint

from modinterp.models.config import ACTIVATIONS, MLPConfig, TransformerConfig, Weights


class _Weights(nn.Module):
    """Holds the weights of one component, under HookedTransformer's names."""

    def __init__(self, prefix: str, weights: Weights):
        super().__init__()
        for name, tensor in weights.items():
            if name.startswith(prefix) and "." not in name[len(prefix) :]:
                setattr(self, name[len(prefix) :], nn.Parameter(tensor.clone()))


class Attention(_Weights):
    """Causal attention; scores are divided by sqrt(d_head) before `hook_attn_scores`."""

    W_O: Tensor
    b_O: Tensor

    def __init__(self, prefix: str, weights: Weights, config: TransformerConfig):
        super().__init__(prefix, weights)
        self.biased, self.scale = config.attn_biases, math.sqrt(config.d_head)
        self.hook_q, self.hook_k, self.hook_v, self.hook_z = HookPoint(), HookPoint(), HookPoint(), HookPoint()
        self.hook_attn_scores, self.hook_pattern = HookPoint(), HookPoint()

    def _project(self, x: Tensor, letter: str) -> Tensor:
        projected = torch.einsum("bpm,hmd->bphd", x, getattr(self, f"W_{letter}"))
        return projected + getattr(self, f"b_{letter}") if self.biased else projected

    def forward(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch pos d_model"]:
        """What all heads together add to the residual stream, at every position."""
        q, k, v = (
            self.hook_q(self._project(x, "Q")),
            self.hook_k(self._project(x, "K")),
            self.hook_v(self._project(x, "V")),
        )
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / self.scale
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        scores = self.hook_attn_scores(scores.masked_fill(future, -torch.inf))
        pattern = self.hook_pattern(scores.softmax(dim=-1))
        z = self.hook_z(torch.einsum("bhqk,bkhd->bqhd", pattern, v))
        out = torch.einsum("bqhd,hdm->bqm", z, self.W_O)
        return out + self.b_O if self.biased else out


class MLP(_Weights):
    """act(x W_in + b_in) W_out + b_out; biases may be absent; without W_out the output is the neurons themselves."""

    W_in: Tensor
    b_in: Tensor
    W_out: Tensor
    b_out: Tensor

    def __init__(self, prefix: str, weights: Weights, act_fn: str):
        super().__init__(prefix, weights)
        self.act = ACTIVATIONS[act_fn]
        self.hook_pre, self.hook_post = HookPoint(), HookPoint()

    def forward(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch pos d_out"]:
        """What the MLP adds to the residual stream; its neurons, where it has no W_out."""
        pre = x @ self.W_in
        post = self.hook_post(self.act(self.hook_pre(pre + self.b_in if hasattr(self, "b_in") else pre)))
        out = post @ self.W_out if hasattr(self, "W_out") else post
        return out + self.b_out if hasattr(self, "b_out") else out


class Block(nn.Module):
    """One layer: the output of attention, then that of the MLP if there is one, is added to the residual stream."""

    def __init__(self, layer: int, weights: Weights, config: TransformerConfig):
        super().__init__()
        self.attn = Attention(f"blocks.{layer}.attn.", weights, config)
        self.hook_resid_pre, self.hook_attn_out, self.hook_resid_post = HookPoint(), HookPoint(), HookPoint()
        self.has_mlp = config.d_mlp is not None
        if self.has_mlp:
            self.hook_resid_mid, self.hook_mlp_out = HookPoint(), HookPoint()
            self.mlp = MLP(f"blocks.{layer}.mlp.", weights, config.act_fn)

    def forward(self, x: Float[Tensor, "batch pos d_model"]) -> Float[Tensor, "batch pos d_model"]:
        """The residual stream after the block."""
        x = self.hook_resid_pre(x)
        x = x + self.hook_attn_out(self.attn(x))
        if self.has_mlp:
            x = self.hook_resid_mid(x)
            x = x + self.hook_mlp_out(self.mlp(x))
        return self.hook_resid_post(x)


class Network(HookedRootModule):
    """What all networks of this package share: a config, weights under fixed names, and products of weights."""

    embed: Any
    pos_embed: Any
    blocks: Any
    unembed: Any

    def __init__(self, config: TransformerConfig | MLPConfig):
        super().__init__()
        self.cfg = config

    def run_with_cache(self, *args: Any, **kwargs: Any) -> tuple[Tensor, ActivationCache]:
        """Logits and every activation; arguments as in `HookedRootModule.run_with_cache`."""
        logits, cache = super().run_with_cache(*args, **kwargs)
        return logits, ActivationCache(cache, self)

    @property
    def W_E(self) -> Float[Tensor, "d_vocab d_model"]:
        """The embedding of the tokens."""
        return self.embed.W_E

    @property
    def W_U(self) -> Float[Tensor, "d_in output"]:
        """The unembedding, which maps the last residual stream to logits; in a pair MLP, the neurons."""
        return self.unembed.W_U

    @property
    def W_L(self) -> Float[Tensor, "neuron output"]:
        """The map from neurons to logits, W_out W_U of the last layer, without a gradient.

        Raises:
            ValueError: a network of attention alone, whose W_U reads the residual stream.
        Source: Nanda et al. 2023, section 3, equation 3.
        """
        if not hasattr(self.blocks[-1], "mlp"):
            raise ValueError("a network of attention alone has no W_L: W_U reads the residual stream")
        mlp = self.blocks[-1].mlp
        return (mlp.W_out @ self.W_U if hasattr(mlp, "W_out") else self.W_U).detach()

    def tokens_to_residual_directions(self, tokens: str | int | Tensor) -> Float[Tensor, "*batch d_model"]:
        """The columns of W_U, directions that raise the logits of these answers; for `ActivationCache.logit_attrs`.

        Raises:
            ValueError: an answer that the network has no output for.
        """
        answers = torch.as_tensor(self.to_single_token(tokens) if isinstance(tokens, str) else tokens)
        outputs = self.W_U.shape[1]
        if answers.is_floating_point() or bool(((answers < 0) | (answers >= outputs)).any()):
            raise ValueError(f"answers are numbers from 0 to {outputs - 1}, got {tokens!r}")
        return self.W_U.T[answers.to(self.W_U.device)]

    def to_single_token(self, word: str) -> int:
        """The token whose number is written in a string; for `ActivationCache`.

        Raises:
            ValueError: the string is no number.
        """
        if not word.strip().isdecimal():
            raise ValueError(f"answers are numbers from 0 to {self.W_U.shape[1] - 1}, got {word!r}")
        return int(word)

    def accumulated_bias(
        self, layer: int, mlp_input: bool = False, include_mlp_biases: bool = True
    ) -> Float[Tensor, " d_model"]:
        """The sum of the biases that are added to the residual stream before a layer; for `ActivationCache`.

        Args:
            layer: number of the layer; the number of layers for the sum of all biases.
            mlp_input: whether the bias of the attention of the layer itself is included.
            include_mlp_biases: whether the biases of the MLPs are included.
        """
        total = torch.zeros_like(self.W_E[0])
        for number, block in enumerate(self.blocks):
            if number < layer + mlp_input and hasattr(block, "attn"):
                total = total + getattr(block.attn, "b_O", 0)
            if number < layer and include_mlp_biases and hasattr(block, "mlp"):
                total = total + getattr(block.mlp, "b_out", 0)
        return total


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
        self.embed, self.hook_embed = _Weights("embed.", weights), HookPoint()
        if config.positional:
            self.pos_embed, self.hook_pos_embed = _Weights("pos_embed.", weights), HookPoint()
        self.blocks = nn.ModuleList([Block(layer, weights, config) for layer in range(config.n_layers)])
        self.unembed = _Weights("unembed.", weights)
        self.setup()

    def forward(self, tokens: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch pos output"]:
        """Logits of every output at every position."""
        x = self.hook_embed(self.W_E[tokens])
        if self.cfg.positional:
            x = x + self.hook_pos_embed(self.pos_embed.W_pos[: tokens.shape[1]].expand_as(x))
        for block in self.blocks:
            x = block(x)
        logits = x @ self.W_U
        return logits + self.unembed.b_U if self.cfg.unembed_bias else logits
