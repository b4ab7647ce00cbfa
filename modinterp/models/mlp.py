"""The one-hidden-layer network on pairs: no attention, no biases, the same hook names as a transformer's MLP."""

from __future__ import annotations

from jaxtyping import Float, Int
from torch import Tensor, nn
from transformer_lens.hook_points import HookPoint

from modinterp.models.config import MLPConfig, Weights
from modinterp.models.transformer import MLP, Network, _Weights


class _Layer(nn.Module):
    def __init__(self, weights: Weights, act_fn: str):
        super().__init__()
        self.mlp = MLP("blocks.0.mlp.", weights, act_fn)


class PairMLP(Network):
    """logits = act((W_E[a] + W_E[b]) W_in) W_U, with one position in the output.

    Source: Kissane's notebook on modular addition with a one-hidden-layer MLP.
    """

    def __init__(self, config: MLPConfig, weights: Weights):
        super().__init__(config)
        self.embed, self.hook_embed = _Weights("embed.", weights), HookPoint()
        self.blocks = nn.ModuleList([_Layer(weights, config.act_fn)])
        self.unembed = _Weights("unembed.", weights)
        self.setup()

    def forward(self, tokens: Int[Tensor, "batch pos"]) -> Float[Tensor, "batch 1 output"]:
        """Logits of every output, at the one position there is."""
        x = self.hook_embed(self.W_E[tokens]).sum(dim=1, keepdim=True)
        return self.blocks[0].mlp(x) @ self.W_U
