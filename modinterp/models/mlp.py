"""Define networks of hidden layers on pairs of embeddings, without attention, with a transformer's hook names."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from modinterp.models.base_config import Weights
from modinterp.models.base_network import Component, Network, returned
from modinterp.models.lens import HookPoint
from modinterp.models.mlp_config import MLPConfig
from modinterp.models.transformer import MLP


class _Layer(nn.Module):
    def __init__(self, layer: int, weights: Weights, config: MLPConfig):
        super().__init__()
        self.mlp = MLP(f"blocks.{layer}.mlp.", weights, config.act_fn, 1 if layer else config.bias_count)


class PairMLP(Network):
    """A network without attention that maps a pair to logits, such as act((W_E[a] + W_E[b]) W_in) W_U.

    >>> from modinterp.models import MLPConfig, initial_weights
    >>> config = MLPConfig(d_vocab=5, d_vocab_out=5, d_model=4, d_mlp=8)
    >>> PairMLP(config, initial_weights(config, seed=0)).hook_dict.keys()
    dict_keys(['hook_embed', 'blocks.0.mlp.hook_pre', 'blocks.0.mlp.hook_post'])
    """

    def __init__(self, config: MLPConfig, weights: Weights):
        super().__init__(config)
        self.embed, self.hook_embed = Component("embed.", weights), HookPoint()
        if config.one_hot:  # a constant and no weight, so that everything that reads W_E reads it
            identity = torch.eye(config.d_vocab).to(weights["blocks.0.mlp.W_in"])
            self.embed.register_buffer("W_E", identity, persistent=False)
        self.blocks = nn.ModuleList([_Layer(layer, weights, config) for layer in range(config.n_layers)])
        self.unembed = Component("unembed.", weights)
        self.setup()

    def forward(
        self,
        tokens: Int[Tensor, "batch pos"],
        return_type: str | None = "logits",
        labels: Int[Tensor, " batch"] | None = None,
    ) -> Any:
        """Return the logits of all outputs at the only position, or the loss, like `Transformer.forward`."""
        x = self.hook_embed(self.W_E[tokens])
        x = x.flatten(1).unsqueeze(1) if self.cfg.joined == "concatenated" else x.sum(dim=1, keepdim=True)
        for block in self.blocks:
            x = block.mlp(x)
        logits = x @ self.W_U
        return returned(logits + self.unembed.b_U if self.cfg.unembed_bias else logits, return_type, labels)
