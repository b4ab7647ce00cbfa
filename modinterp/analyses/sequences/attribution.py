"""Compute the contribution of each source position to the logits, through the attention of a one-layer network."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.analyses.checked import checked
from modinterp.models import Transformer


@checked
def attribution_by_source(
    model: Transformer, inputs: Int[Tensor, "input pos"], asking: Int[Tensor, " input"]
) -> Float[Tensor, "input source output"]:
    """Return the part of each logit that comes from each source position through attention.

    The attributions of all sources, the direct path and the biases add up to the logit. The divisor of the last
    LayerNorm is taken from the forward pass.

    Args:
        model: network with one attention layer, without an MLP, with folded weights.
        asking: the position of each input at which the logits are decomposed.
    Raises:
        ValueError: the network has more than one layer, or neurons.
    """
    if len(model.blocks) != 1 or not model.cfg.attn_only:
        raise ValueError(
            f"attribution by source needs a network of one attention layer without an MLP, got {model.cfg.summary}"
        )
    precise = model.in_float64()
    hooks = ["blocks.0.attn.hook_pattern", "blocks.0.attn.hook_v", "ln_final.hook_scale"]
    with torch.no_grad():
        _, cache = precise.run_with_cache(inputs, names_filter=[h for h in hooks if h in precise.hook_dict])
    rows = torch.arange(len(inputs))
    pattern = cache[hooks[0]][rows, :, asking]
    read = precise.blocks[0].attn.W_O @ precise.W_U
    written = torch.einsum("ihs,ishd,hdo->iso", pattern, cache[hooks[1]], read).detach()
    scale = cache[hooks[2]][rows, asking] if hooks[2] in cache.cache_dict else torch.ones(len(inputs), 1)
    return written / scale.unsqueeze(-1)
