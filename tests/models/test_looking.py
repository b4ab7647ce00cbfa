"""Parts of modules of every make are found by calling them, and compared with what the modules give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modinterp.activations import activations
from modinterp.models import Wrapped, to_bridge
from modinterp.models.config import TransformerConfig
from modinterp.models.from_weights import hooked
from modinterp.models.initial import initial_weights
from modinterp.tasks import addition

P, D, HEADS, M = 11, 16, 4, 40
TASK = addition(P)
CAUSAL = torch.ones(3, 3).tril() == 0


def seeded(make: Callable[[], nn.Module]) -> nn.Module:
    torch.manual_seed(0)
    return make().double().eval()


class Encoder(nn.Module):
    """torch's own layers, of any number, with norms before or behind."""

    def __init__(self, layers: int = 1, activation: str = "relu", norm_first: bool = False):
        super().__init__()
        self.tok, self.pos = nn.Embedding(P + 1, D), nn.Embedding(P + 5, D)
        one = nn.TransformerEncoderLayer(D, HEADS, M, 0.1, activation, batch_first=True, norm_first=norm_first)
        self.layers = nn.TransformerEncoder(one, layers, enable_nested_tensor=False)
        for i, w in enumerate(self.layers.parameters()):
            w.data = w.data + 0.05 * torch.randn(w.shape, generator=torch.Generator().manual_seed(i))
        self.head = nn.Linear(D, P)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layers(self.tok(x) + self.pos(torch.arange(x.shape[1])), mask=CAUSAL))


class Gated(nn.Module):
    """RMSNorm, attention by hand, SwiGLU, and an output that is tied to the embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.wte, self.norm1, self.norm2 = nn.Embedding(P + 1, D), nn.RMSNorm(D), nn.RMSNorm(D)
        self.qkv, self.o = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
        self.gate, self.up, self.down = nn.Linear(D, M), nn.Linear(D, M), nn.Linear(M, D)
        self.final = nn.RMSNorm(D)

    def forward(self, x: Tensor) -> Tensor:
        x = self.wte(x)
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-2, -1) / 2).masked_fill(CAUSAL, -torch.inf)
        x = x + self.o((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        hidden = self.norm2(x)
        x = x + self.down(F.silu(self.gate(hidden)) * self.up(hidden))
        return self.final(x) @ self.wte.weight[:P].T


def of_transformers(kind: str) -> nn.Module:
    transformers = pytest.importorskip("transformers")
    if kind == "gpt2":
        config = transformers.GPT2Config(vocab_size=P + 1, n_positions=P + 9, n_embd=D, n_layer=2, n_head=HEADS)
        return seeded(lambda: transformers.GPT2LMHeadModel(config))
    config = transformers.LlamaConfig(
        vocab_size=P + 1, hidden_size=D, intermediate_size=M, num_hidden_layers=2, num_attention_heads=HEADS,
        num_key_value_heads=2, max_position_embeddings=8, tie_word_embeddings=kind == "llama, tied",
    )  # fmt: skip
    return seeded(lambda: transformers.LlamaForCausalLM(config))


def of_ours() -> nn.Module:
    config = TransformerConfig.of(TASK, d_model=D, n_heads=HEADS, d_head=4, d_mlp=M)
    return to_bridge(hooked(config, initial_weights(config, 0)))


EMBEDDING, PATTERN = "hook_embed", "blocks.{}.attn.hook_pattern"
MADE: dict[str, tuple[Callable[[], nn.Module], int, int]] = {  # with the number of layers, and of neurons
    "an encoder": (lambda: seeded(Encoder), 1, M),
    "two encoders, GELU": (lambda: seeded(lambda: Encoder(2, "gelu")), 2, M),
    "norms first": (lambda: seeded(lambda: Encoder(2, "relu", norm_first=True)), 2, M),
    "gated, by hand": (lambda: seeded(Gated), 1, M),
    "gpt2": (lambda: of_transformers("gpt2"), 2, 4 * D),
    "llama": (lambda: of_transformers("llama"), 2, M),
    "llama, tied": (lambda: of_transformers("llama, tied"), 2, M),
    "a bridge": (of_ours, 1, M),
}


@pytest.mark.parametrize("kind", MADE)
def test_embedding_attention_and_neurons_are_found(kind: str) -> None:
    make, layers, neurons = MADE[kind]
    wrapped = Wrapped(make(), TASK)
    assert wrapped.cfg.n_layers == layers
    wanted = {EMBEDDING, *(PATTERN.format(i) for i in range(layers))}
    wanted |= {f"blocks.{i}.mlp.hook_post" for i in range(layers)}
    assert wanted <= set(wrapped.cfg.hooks)
    grid = activations(wrapped, TASK)
    for layer in range(layers):
        pattern = grid[PATTERN.format(layer)]
        assert pattern.shape == (P, P, HEADS, 3)
        torch.testing.assert_close(pattern.sum(-1), torch.ones_like(pattern.sum(-1)))
        assert grid[f"blocks.{layer}.mlp.hook_post"].shape == (P, P, neurons)
    assert wrapped.W_E.shape == (P, D)
    assert wrapped.readout is not None
    assert wrapped.W_L.shape == (neurons, P)
    assert "attention 0" in wrapped.cfg.found or kind == "a bridge"


@pytest.mark.parametrize("kind", MADE)
def test_what_is_seen_makes_the_logits_and_changes_them(kind: str) -> None:
    """Nothing that is seen moves the logits; a pattern that is changed does."""
    network = MADE[kind][0]()
    wrapped, outside = Wrapped(network, TASK), Wrapped(network, TASK, is_looked_into=False)
    inputs = TASK.inputs()
    with torch.no_grad():
        torch.testing.assert_close(wrapped(inputs), outside(inputs), rtol=1e-4, atol=1e-5)

        def even(pattern: Tensor, hook: Any) -> Tensor:
            return torch.full_like(pattern, 1 / pattern.shape[-1])

        changed = wrapped.run_with_hooks(inputs, fwd_hooks=[(PATTERN.format(0), even)])
        assert float((changed - wrapped(inputs)).abs().max()) > 1e-4
        torch.testing.assert_close(wrapped(inputs), outside(inputs), rtol=1e-4, atol=1e-5)


def test_the_pattern_is_the_one_that_torch_gives() -> None:
    network = seeded(Encoder)
    layer = network.layers.layers[0]  # type: ignore[union-attr,index]
    inputs = TASK.inputs()
    with torch.no_grad():
        x = network.tok(inputs) + network.pos(torch.arange(3))  # type: ignore[operator]
        _, wanted = layer.self_attn(x, x, x, attn_mask=CAUSAL, need_weights=True, average_attn_weights=False)
    seen = activations(Wrapped(network, TASK), TASK)[PATTERN.format(0)].flatten(0, 1)
    torch.testing.assert_close(seen.double(), wanted[:, :, -1], rtol=1e-5, atol=1e-6)


def test_the_matrix_behind_a_norm_is_the_mean_gradient() -> None:
    """Of a network without a norm it is the affine map itself."""

    class Plain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tok, self.fc1, self.fc2 = nn.Embedding(P + 1, D), nn.Linear(3 * D, M), nn.Linear(M, P)

        def forward(self, x: Tensor) -> Tensor:
            return self.fc2(F.gelu(self.fc1(self.tok(x).flatten(1))))

    from modinterp.models.looking import mean_gradient

    network = seeded(Plain)
    wrapped = Wrapped(network, TASK)
    assert str(wrapped.cfg.hooks["blocks.0.mlp.hook_post"]) == "fc2:input"
    gradient = mean_gradient(wrapped, wrapped.cfg.hooks["blocks.0.mlp.hook_post"])
    torch.testing.assert_close(gradient, network.fc2.weight.T)  # type: ignore[union-attr,arg-type]
    torch.testing.assert_close(wrapped.W_L, gradient)


def test_a_softmax_that_is_no_attention_is_none() -> None:
    class Mixture(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tok, self.gate, self.out = nn.Embedding(P + 1, D), nn.Linear(D, 5), nn.Linear(5, P)

        def forward(self, x: Tensor) -> Tensor:
            return self.out(self.gate(self.tok(x).sum(1)).softmax(-1))

    assert not any("attn" in name for name in Wrapped(seeded(Mixture), TASK).cfg.hooks)
    assert F.softmax.__module__ == "torch.nn.functional"
    assert Tensor.softmax.__name__ == "softmax"


def test_names_that_are_wrong_say_the_right_ones() -> None:
    with pytest.raises(
        ValueError, match=r"there is no hook 'blocks.0.mlp.hook_pots'; did you mean 'blocks.0.mlp.hook_post'"
    ):
        Wrapped(seeded(Encoder), TASK, hooks={"blocks.0.mlp.hook_pots": "head"})
    with pytest.raises(ValueError, match="the network has no hook point or module 'hed'; there are tok, pos, layers"):
        Wrapped(seeded(Encoder), TASK, hooks={"blocks.0.mlp.hook_post": "hed"})
