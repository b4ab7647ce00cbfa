"""A native TransformerBridge of our weights is the same network."""

from __future__ import annotations

import pytest
import torch
from transformer_lens.model_bridge import sources

from modinterp.models import TransformerConfig, hooked, initial_weights, to_bridge
from modinterp.tasks import addition

TASK = addition(7)
SMALL = {"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 24}


@pytest.mark.parametrize(
    "shape", [{}, {"n_layers": 2, "act_fn": "gelu"}, {"positional": False, "mlp_biases": False}, {"attn_biases": True}]
)
def test_same_logits_and_activations(shape: dict) -> None:
    if not hasattr(sources, "boot_native"):
        pytest.skip("native bridges came with TransformerLens 4.3")
    config = TransformerConfig.of(TASK, **SMALL | shape)
    generator = torch.Generator().manual_seed(0)
    weights = {n: 0.3 * torch.randn(w.shape, generator=generator) for n, w in initial_weights(config, 0).items()}
    ours, theirs = hooked(config, weights), to_bridge(hooked(config, weights))
    assert not any(module.training for module in theirs.modules())  # TransformerLens' patching refuses one that trains
    logits, cache = ours.run_with_cache(TASK.inputs())
    bridge_logits, bridge_cache = theirs.run_with_cache(TASK.inputs())
    torch.testing.assert_close(bridge_logits, logits, rtol=1e-4, atol=1e-5)
    both = set(ours.hook_dict) & set(bridge_cache.keys()) - {"hook_pos_embed"}
    assert {"blocks.0.attn.hook_pattern", "blocks.0.mlp.hook_post", "blocks.0.hook_resid_post"} <= both
    for name in both:
        # the native bridge of TransformerLens 4.3 shows the pattern under the name of the scores
        expected = cache[name.replace("hook_attn_scores", "hook_pattern")]
        torch.testing.assert_close(bridge_cache[name], expected, rtol=1e-4, atol=1e-5, msg=name)


@pytest.mark.parametrize("shape", [{"d_mlp": None}, {"act_fn": "none"}, {"unembed_bias": True}])
def test_what_has_no_native_form_is_refused(shape: dict) -> None:
    config = TransformerConfig.of(TASK, **SMALL | shape)
    with pytest.raises(ValueError, match="no native TransformerBridge for TransformerConfig"):
        to_bridge(hooked(config, initial_weights(config, 0)))
