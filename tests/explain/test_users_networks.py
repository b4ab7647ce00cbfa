"""Networks of any make are explained by their own forward pass, and what is doubtful is said first."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from explain import planted
from reference import REFERENCE
from torch import Tensor, nn
from transformer_lens import HookedRootModule
from transformer_lens.hook_points import HookPoint

from modinterp import tasks
from modinterp.explain import Explanation, explain
from modinterp.explain.labels import BEHAVIOUR, DOUBTFUL, FOURIER, SOLVED, UNSOLVED, WAVES
from modinterp.explain.page import page
from modinterp.models import from_state_dict, to_bridge, to_hooked_transformer_state_dict
from modinterp.runs.store import write_weights

P, FREQS = 23, (3, 7)
WEIGHTS = planted.clock(P, FREQS)
NETWORK = from_state_dict(WEIGHTS, tasks.addition(P))


class Plain(nn.Module):
    """The planted neurons in modules of torch: an embedding, a hidden layer of the concatenation, an output layer."""

    def __init__(self) -> None:
        super().__init__()
        m, W_in = 4, WEIGHTS["blocks.0.mlp.W_in"]
        self.tok = nn.Embedding.from_pretrained(planted.circles(P, FREQS), freeze=False)
        self.fc1, self.fc2 = nn.Linear(2 * m, W_in.shape[1]), nn.Linear(W_in.shape[1], P)
        self.fc1.weight.data, self.fc1.bias.data = W_in[m : 3 * m].T.clone(), WEIGHTS["blocks.0.mlp.b_in"].clone()
        W_L = WEIGHTS["blocks.0.mlp.W_out"] @ WEIGHTS["unembed.W_U"]
        self.fc2.weight.data, self.fc2.bias.data = W_L.T.clone(), torch.zeros(P)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.fc2(torch.relu(self.fc1(self.tok(tokens).flatten(1))))


class Hooked(HookedRootModule):
    """The same, with hook points of names of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.net, self.hook_tok, self.hook_hidden = Plain(), HookPoint(), HookPoint()
        self.setup()

    def forward(self, tokens: Tensor) -> Tensor:
        pre = self.net.fc1(self.hook_tok(self.net.tok(tokens)).flatten(1))
        return self.net.fc2(self.hook_hidden(pre.relu()))


def of_jax() -> Callable[[Any], Any]:
    """The planted neurons as a compiled function of JAX, which takes arrays of numpy."""
    jax = pytest.importorskip("jax")
    plain = Plain()
    tok, W1, b1, W2 = (jax.numpy.asarray(w.detach().numpy()) for w in (
        plain.tok.weight, plain.fc1.weight, plain.fc1.bias, plain.fc2.weight))  # fmt: skip

    def network(tokens: Any) -> Any:
        x = tok[tokens[:, :2]].reshape(len(tokens), -1)
        return jax.nn.relu(x @ W1.T + b1) @ W2.T

    return jax.jit(network)


def one_hot(x: Tensor) -> Tensor:
    """The planted neurons as a function of one-hot pairs [batch, 2, p]."""
    if x.ndim != 3 or not x.is_floating_point():
        raise TypeError("expected one-hot pairs")
    return Plain()(x.argmax(dim=-1))


def hooked_transformer() -> nn.Module:
    """The planted network as TransformerLens' HookedTransformer, whose last release is 3.x."""
    try:
        from transformer_lens import HookedTransformer, HookedTransformerConfig
    except ImportError:
        pytest.skip("this TransformerLens has no HookedTransformer any more")
    names = ("n_layers", "d_model", "n_ctx", "d_head", "n_heads", "d_mlp", "d_vocab", "d_vocab_out")
    sizes: dict[str, Any] = {name: getattr(NETWORK.cfg, name) for name in names}
    sizes |= {"act_fn": "relu", "normalization_type": None, "device": "cpu"}
    network = HookedTransformer(HookedTransformerConfig(**sizes))
    network.load_state_dict(to_hooked_transformer_state_dict(NETWORK), strict=True)
    return network


MAKES: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "a function that hides all": (lambda: lambda tokens: NETWORK(tokens), {}),
    "a function of one-hot pairs": (lambda: one_hot, {}),
    "a function of JAX": (of_jax, {}),
    "modules of torch": (Plain, {}),
    "hook points of other names": (Hooked, {"hook_embed": "hook_tok", "blocks.0.mlp.hook_post": "hook_hidden"}),
    "a native bridge": (lambda: to_bridge(NETWORK), {}),
    "a HookedTransformer": (hooked_transformer, {}),
    "ours": (lambda: NETWORK, {}),
}


@cache
def explained(name: str) -> Explanation:
    make, hooks = MAKES[name]
    return explain(make(), "add", P, hooks=hooks, draws=99)


@pytest.mark.parametrize("make", MAKES)
def test_every_make_of_the_same_network_gives_the_same_numbers(make: str) -> None:
    x, ours = explained(make), explained("ours")
    is_hidden = "function" in make
    assert x.verdict.label == (WAVES if is_hidden else FOURIER)
    assert x.warning is None
    assert x.measurements.freqs == FREQS
    for key in ("accuracy", "logit_fve", "distance_irrelevance", "formula_accuracy"):
        assert x[key] == pytest.approx(ours[key], rel=1e-4), key
    hidden = "function" in make
    for key in ("gini_W_E", "neurons_explained", "gradient_symmetricity", "read_residual"):
        known = key in {row.key for row in x.rows if row.value is not None}
        assert known != hidden or key == "read_residual", key
        if known and key != "read_residual":
            assert x[key] == pytest.approx(ours[key], rel=1e-4), key
    assert ours.verdict.clock_or_pizza == "2 pizza"
    if is_hidden:
        why = "the network rounds the vectors" if make == "a function of one-hot pairs" else "the place at which"
        assert f"No activation inside the network was changed: {why}" in x.verdict.words
    else:
        assert x.verdict.clock_or_pizza == "2 pizza"
        for key in ("half_turn", "half_turn_kept", "accuracy_without", "rescue"):
            assert x[key] == pytest.approx(ours[key], rel=1e-4, abs=1e-9), key
    assert x.assumed in str(x)


def test_a_network_is_left_as_it_was() -> None:
    network = Plain().train()
    before = {name: w.clone() for name, w in network.state_dict().items()}
    explain(network, "add", P, draws=99)
    assert network.training
    assert network.fc1.weight.dtype == torch.float32
    assert all(torch.equal(w, before[name]) for name, w in network.state_dict().items())
    assert not any(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in network.modules())


class Encoder(nn.Module):
    """An untrained encoder of torch, whose logits are no affine map of its neurons where it normalises after them."""

    def __init__(self, norm_first: bool) -> None:
        super().__init__()
        self.embed, self.pos = nn.Embedding(P + 1, 16), nn.Parameter(torch.randn(3, 16))
        layer = nn.TransformerEncoderLayer(16, 2, 24, dropout=0.1, batch_first=True, norm_first=norm_first)
        self.encoder, self.out = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(16, P)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.out(self.encoder(self.embed(tokens) + self.pos))


@pytest.mark.parametrize("norm_first", [True, False])
def test_an_encoder_of_torch(norm_first: bool) -> None:
    torch.manual_seed(0)
    x = explain(Encoder(norm_first), "add", P, draws=99)
    assert x.verdict.label != FOURIER
    assert x.measurements.has_neurons == norm_first
    assert len(x.measurements.model.readout) == (24 if norm_first else 16)  # W_L is found, or else W_U
    assert -1 <= x["gradient_symmetricity"] <= 1
    assert x.verdict.label in page(x)


def test_what_is_right_in_no_way_that_is_seen_is_not_named() -> None:
    x = explain(lambda t: 20.0 * nn.functional.one_hot((t[:, 0] + t[:, 1]) % P, P), "add", P, draws=99)
    assert x["accuracy"] == 1
    assert x.verdict.label == SOLVED


class Casting(nn.Module):
    """A module that makes one-hot vectors in single precision of the tokens itself, whatever its own."""

    def __init__(self, p: int) -> None:
        super().__init__()
        self.p, self.fc1, self.fc2 = p, nn.Linear(2 * p, 32), nn.Linear(32, p)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.fc2(torch.relu(self.fc1(nn.functional.one_hot(tokens, self.p).flatten(1).float())))


def test_a_module_that_casts_is_called_as_it_is() -> None:
    torch.manual_seed(0)
    assert explain(Casting(11), op="add", p=11, draws=99).verdict.label == UNSOLVED


def test_answers_that_hang_on_chance_are_doubted() -> None:
    torch.manual_seed(0)
    dropped = explain(lambda t: nn.functional.dropout(NETWORK(t), 0.1), "add", P, draws=99)
    assert dropped.warning is not None
    assert dropped.verdict.words.startswith("The network gives different logits when it is called again")
    with pytest.raises(ValueError, match="leave out hooks: they are for networks without hook points"):
        explain(NETWORK, "add", P, hooks={"hook_embed": "hook_embed"}, draws=99)


def names(x: Explanation) -> list[str]:
    assert x.warning is not None
    return [trial.assumption for trial in x.warning.trials]


def test_wrong_arguments_are_doubted_and_the_right_ones_named(tmp_path: Path) -> None:
    path = tmp_path / "clock.safetensors"
    write_weights(path, WEIGHTS)
    wrong = explain(path, act_fn="none", draws=99)
    assert wrong.verdict.label == DOUBTFUL
    assert "act_fn='relu'" in names(wrong)[:2]  # squares of two waves add angles, too
    assert wrong.verdict.words.startswith(
        f"The network answers {wrong['accuracy']:.2%} of the inputs correctly under the assumptions"
    )
    assert "act_fn=&#39;relu&#39;" in page(wrong)
    assert wrong.to_json()["tried"]["act_fn='relu'"] == 1
    hidden = explain(lambda t: NETWORK(t), "mul", P, draws=99)
    assert hidden.verdict.label == DOUBTFUL
    assert names(hidden)[0] == "op=add"


def test_a_wrong_modulus_is_doubted_and_the_right_one_named() -> None:
    wrong = explain(lambda t: NETWORK(torch.where(t == P - 4, P, t)), "add", P - 4, draws=99)
    assert wrong.verdict.label == DOUBTFUL
    assert wrong["accuracy"] > 0.4  # a + b where it is below both moduli
    plain = explain(Plain(), "add", P - 4, equals=False, draws=99)
    assert plain.verdict.label == DOUBTFUL
    assert names(plain)[0] == f"p={P}"


def test_two_vocabularies_are_found_by_trying() -> None:
    def network(tokens: Tensor) -> Tensor:
        if int(tokens[:, 1].max()) < P:  # as where the token of b is a row of an embedding of 2 p
            return torch.eye(P)[tokens[:, 0] % P] * 9
        return NETWORK(torch.stack([tokens[:, 0], tokens[:, 1] - P, torch.full_like(tokens[:, 0], P)], dim=1))

    wrong = explain(network, "add", P, equals=False, draws=99)
    assert wrong.verdict.label == DOUBTFUL
    assert names(wrong)[0].startswith("vocabularies=2")
    right = explain(network, "add", P, equals=False, vocabularies=2, draws=99)
    assert right.verdict.label == WAVES


def test_other_operations() -> None:
    def logs(t: Tensor) -> Tensor:
        order = tasks.cyclic(tasks.multiplication(P)).order  # type: ignore[union-attr]
        places = torch.zeros(P, dtype=torch.long)
        places[order] = torch.arange(P - 1)
        x = 2 * math.pi / (P - 1) * (places[t[:, 0]] + places[t[:, 1]])[:, None]
        logits = torch.full((len(t), P), -20.0)
        logits[:, order] = sum(10 * (k * (x - 2 * math.pi / (P - 1) * torch.arange(P - 1))).cos() for k in (1, 5))  # type: ignore[assignment]
        zero = (t[:, :2] == 0).any(dim=1)
        return torch.where(zero[:, None], 20.0 * torch.eye(P)[0], logits)

    x = explain(logs, "mul", P, draws=99)
    assert x.verdict.label == WAVES
    assert x.measurements.freqs == (1, 5)
    assert x["accuracy"] == 1
    assert "that of the cyclic group of 22 elements" in x.verdict.words
    y = explain(lambda t: 9.0 * torch.eye(P)[(t[:, 0] ** 2 + t[:, 1] ** 2) % P], "squares", P)
    assert (y.verdict.label, y["accuracy"]) == (BEHAVIOUR, 1)
    assert BEHAVIOUR in page(y)
    z = explain(lambda t: 9.0 * torch.eye(7)[(t[:, 0] + t[:, 1] + t[:, 2]) % 7], "add3", 7)
    assert (z.verdict.label, z["accuracy"], len(z.rows)) == (BEHAVIOUR, 1, 9)


PUBLISHED = {
    "pizza_p99zdpze5l.pt": (0.0, {"gradient_symmetricity": (0.99367, 2e-3), "distance_irrelevance": (0.17174, 5e-6)}),
    "pizza_l8k1hzciux.pt": (1.0, {"distance_irrelevance": (0.8483, 5e-5)}),
    "pizza_2k4ohj6bhd.pt": (0.8041592198855598, {"distance_irrelevance_wrong": (0.81956, 5e-6)}),
}


@pytest.mark.usefixtures("numbers_when_asked")
@pytest.mark.parametrize("name", PUBLISHED)
def test_numbers_that_their_authors_give(name: str) -> None:
    if not (REFERENCE / name).is_file():
        pytest.skip("the reference networks are not at hand")
    rate, numbers = PUBLISHED[name]
    if "2k4oh" in name:
        silent = explain(REFERENCE / name, draws=99)
        assert float(names(silent)[0].removeprefix("attention_rate=")) == pytest.approx(rate, abs=0.03)
        assert silent.verdict.clock_or_pizza == ""
    x = explain(REFERENCE / name, attention_rate=rate, causal=False, draws=99)
    assert x.warning is None
    assert x.verdict.label == FOURIER
    assert x["accuracy"] == 1
    for key, (value, error) in numbers.items():
        assert x[key] == pytest.approx(value, abs=error), key


def test_outputs_that_are_probabilities_are_doubted() -> None:
    assert explain(lambda x: NETWORK(x)[:, -1].log_softmax(dim=-1), op="add", p=P, draws=99).warning is None
    x = explain(lambda x: NETWORK(x)[:, -1].softmax(dim=-1), op="add", p=P, draws=99)
    assert x.warning is not None
    assert x.warning.words.startswith("The network's outputs are probabilities")
