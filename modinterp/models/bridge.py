"""Export networks to TransformerLens, as a native TransformerBridge or as HookedTransformer's state dict."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import torch
from torch import Tensor, nn

from modinterp.models.base_config import Weights
from modinterp.models.base_network import Network
from modinterp.models.config import TransformerConfig

_NEURONS = ("relu", "gelu")


def _is_plain(config: object) -> TypeGuard[TransformerConfig]:
    """Return True for the configuration of a transformer with causal softmax attention."""
    return isinstance(config, TransformerConfig) and config.attention_rate == 1 and config.causal


def to_bridge(network: Network) -> nn.Module:
    """Return the network as a native `TransformerBridge` in evaluation mode, with equal logits and activations.

    In TransformerLens 4.3, one activation of the bridge differs: `hook_attn_scores` already holds the pattern.

    Raises:
        ValueError: TransformerLens cannot represent the network: a pair MLP, attention alone, attention that is not
            causal softmax, a nonlinearity other than ReLU or GeLU, or a bias in the unembedding.
    """
    c = network.cfg
    if not _is_plain(c) or c.d_mlp is None or c.act_fn not in _NEURONS or c.unembed_bias:
        raise ValueError(f"TransformerLens has no native TransformerBridge for {c}")
    try:
        from transformer_lens.config import TransformerBridgeConfig
        from transformer_lens.model_bridge.sources import boot_native
    except ImportError as error:
        raise ImportError(
            "native bridges need TransformerLens 4.3 or later; an earlier version is installed"
        ) from error
    config = TransformerBridgeConfig(
        n_layers=c.n_layers,
        d_model=c.d_model,
        n_heads=c.n_heads,
        d_head=c.d_head,
        d_mlp=c.d_mlp,
        d_vocab=c.d_vocab,
        d_vocab_out=c.d_vocab_out,
        n_ctx=c.n_ctx,
        act_fn=c.act_fn,
        normalization_type=None,
    )
    bridge = boot_native(config, device=network.W_E.device, dtype=network.W_E.dtype)
    weights, unset = _native_weights(network, c), set()
    with torch.no_grad():
        for name, parameter in bridge.original_model.named_parameters():
            key = name.replace("._original_component", "")
            if key in weights:
                parameter.copy_(weights.pop(key))
            else:
                unset.add(key)
    if weights or unset:
        raise ValueError(
            f"the installed TransformerLens uses other names for its native weights: {sorted(weights) + sorted(unset)}"
        )
    return bridge.eval()


def to_hooked_transformer_state_dict(network: Network) -> Weights:
    """Return the network's weights as a state dict of HookedTransformer, which TransformerLens has up to version 3.

    HookedTransformer always has position embeddings, all biases, and two buffers per layer; weights that the network
    lacks are 0. Load the state dict with `strict=True` into a HookedTransformer of the same sizes, without
    normalisation and without weight processing. The method `from_state_dict` reads the state dict back; missing MLP
    biases come back as zeros.

    Raises:
        ValueError: HookedTransformer cannot represent the network: a pair MLP, attention that is not causal softmax, or
            a nonlinearity other than ReLU or GeLU.
    """
    c = network.cfg
    if not _is_plain(c) or (c.act_fn not in _NEURONS and not c.attn_only):
        raise ValueError(f"HookedTransformer cannot represent {c}")
    full = replace(c, positional=True, attn_biases=True, mlp_biases=True, unembed_bias=True)
    own = {name: w.detach().clone() for name, w in network.state_dict().items()}
    weights = {name: own.get(name, network.W_E.new_zeros(shape)).detach() for name, shape in full.shapes().items()}
    causal = torch.ones(c.n_ctx, c.n_ctx, dtype=torch.bool, device=network.W_E.device).tril()
    for layer in range(c.n_layers):
        weights[f"blocks.{layer}.attn.mask"] = causal.clone()
        weights[f"blocks.{layer}.attn.IGNORE"] = torch.tensor(-torch.inf, device=network.W_E.device)
    return weights


def _native_weights(network: Network, c: TransformerConfig) -> dict[str, Tensor]:
    """Return the weights with the names and orientations of a native bridge; missing biases and positions are zero."""
    own = {name: w.detach() for name, w in network.state_dict().items()}

    def weight_or_zeros(name: str, *shape: int) -> Tensor:
        return own.get(name, network.W_E.new_zeros(shape)).reshape(shape)

    weights = {
        "tok_embed.weight": own["embed.W_E"],
        "pos.weight": weight_or_zeros("pos_embed.W_pos", c.n_ctx, c.d_model),
        "head.weight": own["unembed.W_U"].T,
    }
    inner = c.n_heads * c.d_head
    for layer in range(c.n_layers):
        theirs, attn, mlp = f"layers.{layer}.", f"blocks.{layer}.attn.", f"blocks.{layer}.mlp."
        for letter in "QKV":
            projection = own[f"{attn}W_{letter}"].transpose(1, 2).reshape(inner, c.d_model)
            weights[f"{theirs}attn.{letter.lower()}.weight"] = projection
            weights[f"{theirs}attn.{letter.lower()}.bias"] = weight_or_zeros(f"{attn}b_{letter}", inner)
        weights[f"{theirs}attn.o.weight"] = own[f"{attn}W_O"].reshape(inner, c.d_model).T
        weights[f"{theirs}attn.o.bias"] = weight_or_zeros(f"{attn}b_O", c.d_model)
        weights[f"{theirs}mlp.fc_in.weight"] = own[f"{mlp}W_in"].T
        weights[f"{theirs}mlp.fc_in.bias"] = weight_or_zeros(f"{mlp}b_in", c.d_mlp or 0)
        weights[f"{theirs}mlp.fc_out.weight"] = own[f"{mlp}W_out"].T
        weights[f"{theirs}mlp.fc_out.bias"] = weight_or_zeros(f"{mlp}b_out", c.d_model)
    return weights
