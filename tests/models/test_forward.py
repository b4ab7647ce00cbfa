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
OWN = ModularArithmetic(7, equals=False, vocabularies=2)
SMALL: dict[str, int | str | bool | None] = {"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 24}
BIASED: dict[str, int | str | bool] = {"d_mlp": 24, "mlp_biases": True, "init": "linear"}
LINEAR: dict[str, MLPConfig] = {
    "alpha": MLPConfig.of(PAIRS, d_model=24, **BIASED),
    "beta": MLPConfig.of(PAIRS, d_model=24, n_layers=2, **BIASED),
    "gamma": MLPConfig.of(PAIRS, d_model=24, n_layers=2, joined="sum after W_in", **BIASED),
    "delta": MLPConfig.of(PAIRS, d_model=12, joined="concatenated", **BIASED),
    "X": MLPConfig.of(OWN, d_model=24, **BIASED),
}
CONFIGS: dict[str, Config] = {
    "paper's shape": TransformerConfig.of(TASK, **SMALL),
    "two layers": TransformerConfig.of(TASK, **SMALL | {"n_layers": 2}),
    "three layers, gelu, all biases": TransformerConfig.of(
        TASK, **SMALL | {"n_layers": 3, "act_fn": "gelu", "attn_biases": True, "unembed_bias": True}
    ),
    "attention alone": TransformerConfig.of(TASK, **SMALL | {"d_mlp": None}),
    "no positions, no nonlinearity": TransformerConfig.of(TASK, **SMALL | {"positional": False, "act_fn": "none"}),
    "odd width of heads": TransformerConfig.of(TASK, **SMALL | {"n_heads": 3, "d_head": 5, "mlp_biases": False}),
    "too narrow to be folded": TransformerConfig.of(TASK, **SMALL | {"d_model": 4, "attn_biases": True}),
    "folded, all biases": TransformerConfig.of(
        TASK, **SMALL | {"act_fn": "gelu", "attn_biases": True, "unembed_bias": True}
    ),
    "no equals sign": TransformerConfig.of(PAIRS, **SMALL),
    "He initialisation": TransformerConfig.of(TASK, **SMALL | {"init": "he", "mlp_biases": False}),
    "pair MLP": MLPConfig.of(PAIRS, d_model=16, d_mlp=24),
    "constant attention": TransformerConfig.of(PAIRS, **SMALL | {"attention_rate": 0.0}),
    "mixed attention, not causal": TransformerConfig.of(PAIRS, **SMALL | {"attention_rate": 0.25, "causal": False}),
    "mixed attention of four layers": TransformerConfig.of(TASK, **SMALL | {"n_layers": 4, "attention_rate": 0.7}),
    "two layers, not causal, two vocabularies": TransformerConfig.of(
        OWN, **SMALL | {"n_layers": 2, "attention_rate": 0.6, "causal": False, "act_fn": "tanh"}
    ),
    "LayerNorm, attention alone, all biases": TransformerConfig.of(
        TASK, **SMALL | {"d_mlp": None, "normalization_type": "LN", "attn_biases": True, "unembed_bias": True}
    ),
    "LayerNorm, two layers": TransformerConfig.of(TASK, **SMALL | {"n_layers": 2, "normalization_type": "LN"}),
    "LayerNorm without weights, not causal": TransformerConfig.of(
        PAIRS, **SMALL | {"normalization_type": "LNPre", "causal": False}
    ),
    "RMSNorm, mixed attention": TransformerConfig.of(
        TASK, **SMALL | {"n_layers": 2, "normalization_type": "RMS", "attention_rate": 0.5}
    ),
    "RMSNorm without weights": TransformerConfig.of(TASK, **SMALL | {"normalization_type": "RMSPre"}),
    **{f"linear model {name}": config for name, config in LINEAR.items()},
    "one-hot tokens": MLPConfig.of(PAIRS, one_hot=True, d_mlp=24, act_fn="square"),
    "one-hot tokens in a row": MLPConfig.of(OWN, one_hot=True, d_mlp=24, joined="concatenated", mlp_biases=True),
    "MLP of two embeddings": MLPConfig.of(OWN, d_model=16, d_mlp=24, joined="concatenated", unembed_bias=True),
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
    task = next(t for t in (TASK, PAIRS, OWN) if (t.n_ctx, t.d_vocab) == (config.n_ctx, config.d_vocab))
    inputs, labels = task.inputs(), task.labels()[:, 0]
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


def test_the_linear_models_are_those_of_the_formulas() -> None:
    a, b = PAIRS.inputs().T
    for name, config in LINEAR.items():
        w = random_weights(config)
        E, W, bias, U = (w[n] for n in ("embed.W_E", "blocks.0.mlp.W_in", "blocks.0.mlp.b_in", "unembed.W_U"))
        pre = {
            "gamma": lambda E=E, W=W, bias=bias: E[a] @ W + bias + E[b] @ W + bias,
            "delta": lambda E=E, W=W, bias=bias: torch.cat([E[a], E[b]], dim=1) @ W + bias,
            "X": lambda E=E, W=W, bias=bias: (E[a] + E[7 + b]) @ W + bias,
        }.get(name, lambda E=E, W=W, bias=bias: (E[a] + E[b]) @ W + bias)()
        x = pre.relu()
        if config.n_layers == 2:
            x = (x @ w["blocks.1.mlp.W_in"] + w["blocks.1.mlp.b_in"]).relu()
        inputs = (OWN if name == "X" else PAIRS).inputs()
        torch.testing.assert_close(hooked(config, w).double()(inputs)[:, 0], x @ U, rtol=0, atol=1e-6, msg=name)


def test_attention_is_mixed_with_a_constant() -> None:
    """Rows of the pattern add up to the rate, and 1 - rate for every position that is seen."""
    for causal, seen in ((False, torch.tensor([2.0, 2.0])), (True, torch.tensor([1.0, 2.0]))):
        for rate in (0.0, 0.25, 1.0):
            config = TransformerConfig.of(PAIRS, **SMALL | {"attention_rate": rate, "causal": causal})
            _, cache = hooked(config, random_weights(config)).double().run_with_cache(PAIRS.inputs())
            pattern = cache["blocks.0.attn.hook_pattern"]
            torch.testing.assert_close(pattern.sum(-1), (rate + (1 - rate) * seen).double().expand_as(pattern.sum(-1)))
            assert bool((pattern[:, :, 0, 1] > 0).all()) != causal
            if rate == 0 and not causal:
                assert torch.equal(pattern, torch.ones_like(pattern))


def test_initialisations_of_linear_models_and_of_mixed_attention() -> None:
    task = ModularArithmetic(59, equals=False)
    shape = {"d_model": 128, "joined": "concatenated"}
    linear = initial_weights(MLPConfig.of(task, **BIASED | {"d_mlp": 256} | shape), 0)
    assert linear["embed.W_E"].std().item() == pytest.approx(128**-0.5, rel=0.03)
    assert linear["unembed.W_U"].std().item() == pytest.approx(256**-0.5, rel=0.03)
    for name in ("blocks.0.mlp.W_in", "blocks.0.mlp.b_in"):
        assert 0.9 / 16 < linear[name].abs().max().item() <= 1 / 16
    width = initial_weights(MLPConfig.of(task, d_model=256, d_mlp=128, init="1/sqrt(width)"), 0)
    assert width["embed.W_E"].std().item() == pytest.approx(256**-0.5, rel=0.03)
    mixed = initial_weights(TransformerConfig.of(task, init="W_in 1/sqrt(d_mlp)"), 0)
    assert mixed["blocks.0.mlp.W_in"].std().item() == pytest.approx(512**-0.5, rel=0.03)
    assert mixed["blocks.0.mlp.W_out"].std().item() == pytest.approx(128**-0.5, rel=0.03)
    assert mixed["unembed.W_U"].std().item() == pytest.approx(59**-0.5, rel=0.03)
