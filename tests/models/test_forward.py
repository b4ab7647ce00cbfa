"""The hooked networks and the training forward pass are the same function."""

from __future__ import annotations

import pytest
import torch

from modinterp.models import (
    Config,
    MLPConfig,
    TransformerConfig,
    Weights,
    hooked,
    indexed,
    initial_weights,
    read_logits,
)
from modinterp.tasks import ModularArithmetic, PrimeRemainders, RepeatedSubsequence, SkipTrigram, addition

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
    "He initialisation": TransformerConfig.of(TASK, **SMALL | {"init": "he", "mlp_biases": False}),
    "pair MLP": MLPConfig.of(PAIRS, d_model=16, d_mlp=24),
}


def random_weights(config: Config, seed: int = 0) -> dict[str, torch.Tensor]:
    """Weights in which biases are not zero, so that a forgotten one is noticed."""
    generator = torch.Generator().manual_seed(seed)
    return {
        name: 0.3 * torch.randn(w.shape, generator=generator, dtype=torch.float64)
        for name, w in initial_weights(config, seed).items()
    }


def fast_logits(config: Config, inputs: torch.Tensor, weights: Weights, n_read: int = 1) -> torch.Tensor:
    return read_logits(config, weights, indexed(config, inputs, inputs[:, -1].unique(), n_read), n_read)


@pytest.mark.parametrize("n_read", [1, 2])
@pytest.mark.parametrize("name", CONFIGS)
def test_training_forward_equals_hooked_network(name: str, n_read: int) -> None:
    config = CONFIGS[name]
    if isinstance(config, MLPConfig) and n_read > 1:
        pytest.skip("has one position")
    inputs = (PAIRS if config.n_ctx == 2 else TASK).inputs()
    labels = (inputs[:, 0] + inputs[:, 1]) % 7
    weights = {k: w.requires_grad_() for k, w in random_weights(config).items()}
    reference = hooked(config, weights)
    assert {k: tuple(w.shape) for k, w in reference.named_parameters()} == config.shapes()

    slow = reference(inputs)[:, -n_read:]
    fast = fast_logits(config, inputs, weights, n_read)
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-10)

    for logits in (slow, fast):
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.repeat_interleave(n_read)).backward()
    for key, weight in reference.named_parameters():
        assert weight.grad is not None, key
        grad = weights[key].grad
        assert grad is not None, key
        torch.testing.assert_close(grad, weight.grad, rtol=0, atol=1e-10, msg=key)


def test_float32_training_forward_is_as_near_as_float32_allows() -> None:
    config = CONFIGS["paper's shape"]
    weights = {k: w.float() for k, w in random_weights(config).items()}
    slow = hooked(config, weights)(TASK.inputs())[:, -1:]
    torch.testing.assert_close(fast_logits(config, TASK.inputs(), weights), slow, rtol=1e-4, atol=1e-5)


def test_the_same_weights_for_a_last_token_that_varies() -> None:
    task = SkipTrigram(length=5, size=40)
    config = TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=None)
    weights = random_weights(config)
    slow = hooked(config, weights)(task.inputs())[:, -1:]
    torch.testing.assert_close(fast_logits(config, task.inputs(), weights), slow, rtol=0, atol=1e-10)


@pytest.mark.parametrize("layers", [1, 2])
def test_the_same_logits_where_each_input_is_read_at_positions_of_its_own(layers: int) -> None:
    task = RepeatedSubsequence(vocab=9, length=14, subsequence=4, copies=2, size=40)
    config = TransformerConfig.of(task, **SMALL | {"n_layers": layers})
    weights, inputs = random_weights(config), task.inputs()
    at = torch.stack([torch.randperm(task.n_ctx)[:3].sort().values for _ in inputs])
    index = indexed(config, inputs, inputs[:, -1].unique(), task.n_read, at)
    slow = hooked(config, weights)(inputs).take_along_dim(at.unsqueeze(-1), dim=1)
    torch.testing.assert_close(read_logits(config, weights, index, task.n_read), slow, rtol=0, atol=1e-10)


def test_he_initialisation_counts_the_rows_of_all_heads_and_of_all_tasks() -> None:
    shape = {"d_model": 256, "d_head": 64, "d_mlp": 1024, "init": "he", "mlp_biases": False}
    rows = {"embed.W_E": 114, "blocks.0.attn.W_Q": 4 * 256, "blocks.0.attn.W_O": 256, "blocks.0.mlp.W_out": 1024}
    for task, rows_of_W_U in ((addition(113), 256), (PrimeRemainders(113), 29 * 256)):
        weights = initial_weights(TransformerConfig.of(task, **shape), 0)
        for name, fan_in in {**rows, "unembed.W_U": rows_of_W_U}.items():
            assert weights[name].std().item() == pytest.approx((2 / fan_in) ** 0.5, rel=0.02), name
