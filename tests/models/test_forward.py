"""The hooked networks and the training forward pass are the same function."""

from __future__ import annotations

import pytest
import torch

from modinterp.models import (
    Config,
    MLPConfig,
    TransformerConfig,
    hooked,
    initial_weights,
    last_position_logits,
)
from modinterp.tasks import ModularArithmetic, addition

TASK = addition(7)
PAIRS = ModularArithmetic(7, equals=False)
SMALL: dict[str, int | str | bool | None] = {"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 24}
CONFIGS: dict[str, Config] = {
    "paper's shape": TransformerConfig.of(TASK, **SMALL),
    "two layers": TransformerConfig.of(TASK, **SMALL | {"n_layers": 2}),
    "three layers, gelu, all biases": TransformerConfig.of(
        TASK, **SMALL | {"n_layers": 3, "act_fn": "gelu", "attn_biases": True, "unembed_bias": True}
    ),
    "attention alone": TransformerConfig.of(TASK, **SMALL | {"d_mlp": None}),
    "no positions, no nonlinearity": TransformerConfig.of(TASK, **SMALL | {"positional": False, "act_fn": "none"}),
    "odd width of heads": TransformerConfig.of(TASK, **SMALL | {"n_heads": 3, "d_head": 5, "mlp_biases": False}),
    "no equals sign": TransformerConfig.of(PAIRS, **SMALL),
    "pair MLP": MLPConfig.of(PAIRS, d_model=16, d_mlp=24),
}


def random_weights(config: Config, seed: int = 0) -> dict[str, torch.Tensor]:
    """Weights in which biases are not zero, so that a forgotten one is noticed."""
    generator = torch.Generator().manual_seed(seed)
    return {
        name: 0.3 * torch.randn(w.shape, generator=generator, dtype=torch.float64)
        for name, w in initial_weights(config, seed).items()
    }


@pytest.mark.parametrize("name", CONFIGS)
def test_training_forward_equals_hooked_network(name: str) -> None:
    config = CONFIGS[name]
    tokens = (PAIRS if config.n_ctx == 2 else TASK).inputs()
    labels = (tokens[:, 0] + tokens[:, 1]) % 7
    weights = {k: w.requires_grad_() for k, w in random_weights(config).items()}
    reference = hooked(config, weights)
    assert {k: tuple(w.shape) for k, w in reference.named_parameters()} == config.shapes()

    slow = reference(tokens)[:, -1]
    fast = last_position_logits(config, tokens)(weights)
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-10)

    torch.nn.functional.cross_entropy(slow, labels).backward()
    torch.nn.functional.cross_entropy(fast, labels).backward()
    for key, weight in reference.named_parameters():
        assert weight.grad is not None, key
        grad = weights[key].grad
        assert grad is not None, key
        torch.testing.assert_close(grad, weight.grad, rtol=0, atol=1e-10, msg=key)


def test_float32_training_forward_is_as_near_as_float32_allows() -> None:
    config = CONFIGS["paper's shape"]
    weights = {k: w.float() for k, w in random_weights(config).items()}
    slow = hooked(config, weights)(TASK.inputs())[:, -1]
    torch.testing.assert_close(last_position_logits(config, TASK.inputs())(weights), slow, rtol=1e-4, atol=1e-5)
