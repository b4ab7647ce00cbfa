"""Foreign layouts: the same network comes out, or an error that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from modinterp.models import (
    ForwardPass,
    MLPConfig,
    TransformerConfig,
    Weights,
    from_state_dict,
    hooked,
    initial_weights,
    modular_task,
)
from modinterp.tasks import ModularArithmetic, addition

TASK = addition(7)
CONFIG = TransformerConfig.of(TASK, d_model=16, n_heads=2, d_head=8, d_mlp=24)


def weights() -> Weights:
    drawn = initial_weights(CONFIG, seed=3)
    drawn["blocks.0.mlp.b_in"] += 0.1
    drawn["blocks.0.mlp.b_out"] -= 0.1
    return drawn


def left_facing(ours: Weights, outputs: int) -> Weights:
    """The grokking paper's own layout, written out by hand; the column of "=" is one more output."""
    a, m = "blocks.0.attn.", "blocks.0.mlp."
    W_U = torch.cat([ours["unembed.W_U"], torch.ones(16, outputs - 7)], dim=1)
    return {
        "embed.W_E": ours["embed.W_E"].T,
        "pos_embed.W_pos": ours["pos_embed.W_pos"],
        f"{a}W_K": ours[f"{a}W_K"].permute(0, 2, 1),
        f"{a}W_Q": ours[f"{a}W_Q"].permute(0, 2, 1),
        f"{a}W_V": ours[f"{a}W_V"].permute(0, 2, 1),
        f"{a}W_O": ours[f"{a}W_O"].permute(2, 0, 1).reshape(16, 16),
        f"{a}mask": torch.ones(3, 3).tril(),
        f"{m}W_in": ours[f"{m}W_in"].T,
        f"{m}b_in": ours[f"{m}b_in"],
        f"{m}W_out": ours[f"{m}W_out"].T,
        f"{m}b_out": ours[f"{m}b_out"],
        "unembed.W_U": W_U,
    }


def hooked_transformer(ours: Weights, outputs: int) -> Weights:
    """HookedTransformer's, with all its zero biases and buffers."""
    a = "blocks.0.attn."
    W_U = torch.cat([ours["unembed.W_U"], torch.ones(16, outputs - 7)], dim=1)
    zeros = {f"{a}b_{x}": torch.zeros(2, 8) for x in "QKV"} | {f"{a}b_O": torch.zeros(16)}
    buffers = {f"{a}mask": torch.ones(3, 3).tril().bool(), f"{a}IGNORE": torch.tensor(-torch.inf)}
    return ours | zeros | buffers | {"unembed.W_U": W_U, "unembed.b_U": torch.zeros(outputs)}


@pytest.mark.parametrize("layout", [left_facing, hooked_transformer])
@pytest.mark.parametrize("outputs", [7, 8])
def test_same_logits_from_a_foreign_layout(layout: Callable[[Weights, int], Weights], outputs: int) -> None:
    ours = weights()
    network = from_state_dict(layout(ours, outputs), TASK)
    assert network.cfg == CONFIG
    torch.testing.assert_close(network(TASK.inputs()), hooked(CONFIG, ours)(TASK.inputs()))


def test_biases_that_are_not_zero_are_kept() -> None:
    foreign = hooked_transformer(weights(), 7)
    before = from_state_dict(foreign, TASK)(TASK.inputs())
    foreign["blocks.0.attn.b_O"] = torch.ones(16)
    foreign["unembed.b_U"] = torch.arange(7.0)
    network = from_state_dict(foreign, TASK)
    assert network.cfg.attn_biases
    assert network.cfg.unembed_bias
    assert not torch.allclose(network(TASK.inputs()), before, atol=0.5)


@pytest.mark.parametrize("names", [("W_E", "W_in", "W_U"), ("embed.W_E", "blocks.0.mlp.W_in", "unembed.W_U")])
def test_three_matrices(names: tuple[str, str, str]) -> None:
    task = ModularArithmetic(7, equals=False)
    config = MLPConfig.of(task, d_model=16, d_mlp=24)
    ours = initial_weights(config, seed=0)
    network = from_state_dict(dict(zip(names, ours.values(), strict=True)), task)
    W_E, W_in, W_U = ours.values()
    a, b = task.inputs().T
    torch.testing.assert_close(network(task.inputs())[:, 0], torch.relu((W_E[a] + W_E[b]) @ W_in) @ W_U)
    with pytest.raises(ValueError, match="needs d_vocab 8, but the weights have 7; if the network reads no '='"):
        from_state_dict(dict(zip(names, ours.values(), strict=True)), TASK)


def without(name: str) -> Callable[[Weights], Weights]:
    return lambda ours: {k: w for k, w in ours.items() if k != name}


BROKEN: dict[str, tuple[Callable[[Weights], Weights], str]] = {
    "a bias missing": (without("blocks.0.mlp.b_in"), "missing weights: blocks.0.mlp.b_in"),
    "a weight missing": (without("blocks.0.mlp.W_out"), "missing weights: blocks.0.mlp.W_out"),
    "the embedding missing": (without("embed.W_E"), "the weight embed.W_E is missing"),
    "a weight too many": (lambda w: w | {"ln_final.w": torch.ones(16)}, "have a LayerNorm or RMSNorm, which modinterp does not read from files; in a script, give the module itself"),
    "a wrong shape": (lambda w: w | {"blocks.0.mlp.b_in": torch.ones(23)}, r"b_in should have the shape \[24\], but has \[23\]"),
    "a wrong number of axes": (lambda w: w | {"blocks.0.attn.W_Q": torch.ones(16, 16)}, "should have 3 axes"),
    "another modulus": (lambda w: w | {"embed.W_E": torch.ones(12, 16)}, "needs d_vocab 8, but the weights have 12"),
    "not a number": (lambda w: w | {"embed.W_E": torch.full((8, 16), torch.nan)}, "not finite: embed.W_E"),
    "a complex weight": (lambda w: w | {"embed.W_E": torch.ones(8, 16) * 1j}, "not a dense array of real numbers"),
    "a name that is none": (lambda w: w | {3: torch.ones(2)}, "weight 3 is not a dense array"),
    "a sparse weight": (lambda w: w | {"embed.W_E": torch.ones(8, 16).to_sparse()}, "not a dense array"),
    "a scalar for a matrix": (lambda w: w | {"unembed.W_U": torch.tensor(1.0)}, "W_U should have 2 axes"),
    "a scalar for the positions": (lambda w: w | {"pos_embed.W_pos": torch.tensor(1.0)}, "should have 2 axes"),
    "left-facing without W_Q": (lambda w: without("blocks.0.attn.W_Q")(left_facing(w, 7)), "do not fit it"),
    "left-facing, W_O not of whole heads": (
        lambda w: left_facing(w, 7) | {"blocks.0.attn.W_O": torch.ones(16, 15)}, "do not fit it"),
    "left-facing, W_Q of two axes": (
        lambda w: left_facing(w, 7) | {"blocks.0.attn.W_Q": torch.ones(16, 16)}, "do not fit it"),
    "nothing known": (lambda w: {"layer.weight": torch.ones(2, 2)}, "fit no known layout.*found layer.weight"),
    "nothing": (lambda w: {}, "fit no known layout.*found nothing"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_what_does_not_fit_is_named(case: str) -> None:
    spoil, message = BROKEN[case]
    with pytest.raises(ValueError, match=message):
        from_state_dict(spoil(weights()), TASK)


def test_copies_under_another_name_are_left_out_and_others_refused() -> None:
    ours = hooked_transformer(weights(), 7)
    copies = {"x_embed": ours["embed.W_E"].clone(), "y_embed": ours["embed.W_E"].clone()}
    assert from_state_dict(ours | copies, TASK).cfg == CONFIG
    with pytest.raises(ValueError, match="without a place: y_embed"):
        from_state_dict(ours | copies | {"y_embed": ours["embed.W_E"] + 1}, TASK)


A, B = ModularArithmetic(7, equals=False).inputs().T


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module.model."])
def test_what_wrappers_put_before_all_names_is_left_out(prefix: str) -> None:
    wrapped = {prefix + name: w for name, w in weights().items()}
    network = from_state_dict(wrapped, TASK)
    torch.testing.assert_close(network(TASK.inputs()), from_state_dict(weights(), TASK)(TASK.inputs()))
    assert modular_task(wrapped, "add") == TASK


def test_two_embeddings_and_a_hidden_layer() -> None:
    drawn = torch.randn(4, 60, 60, generator=torch.Generator().manual_seed(0))
    W_x, W_y, W, W_U = drawn[0, :7, :5], drawn[1, :7, :5], drawn[2, :10, :12], drawn[3, :12, :7]
    found = {"W_x": W_x, "W_y": W_y, "W": W, "W_U": W_U}
    task = modular_task(found, "add")
    assert task == ModularArithmetic(7, equals=False, vocabularies=2)
    expected = torch.relu(torch.cat([W_x[A], W_y[B]], dim=1) @ W) @ W_U
    torch.testing.assert_close(from_state_dict(found, task)(task.inputs())[:, 0], expected)


@pytest.mark.parametrize(("layers", "joined"), [(1, "sum"), (2, "sum"), (2, "sum after W_in"), (1, "concatenated")])
def test_modules_of_torch(layers: int, joined: str) -> None:
    torch.manual_seed(0)
    width = 5 if joined == "concatenated" else 10
    net = torch.nn.ModuleDict({"embed": torch.nn.Embedding(7, width), "unembed": torch.nn.Embedding(7, 10)})
    net.update({f"l{i}": torch.nn.Linear(10, 10) for i in range(1, layers + 1)})
    a, b, l1 = net["embed"](A), net["embed"](B), net["l1"]
    pre = {
        "sum": lambda: l1(a + b),
        "sum after W_in": lambda: l1(a) + l1(b),
        "concatenated": lambda: l1(torch.cat([a, b], dim=1)),
    }[joined]()
    post = torch.relu(pre)
    if layers == 2:
        post = torch.relu(net["l2"](post))
    found, task = net.state_dict(), ModularArithmetic(7, equals=False)
    assert modular_task(found, "add") == task
    network = from_state_dict(found, task, ForwardPass(joined=joined if "after" in joined else None))
    torch.testing.assert_close(network(task.inputs())[:, 0], post @ net["unembed"].weight.T)


def test_linear_layers_of_one_hot_pairs() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(14, 9, bias=False), torch.nn.ReLU(), torch.nn.Linear(9, 7))
    task = modular_task(net.state_dict(), "add")
    assert task == ModularArithmetic(7, equals=False, vocabularies=2)
    one_hot = torch.nn.functional.one_hot(torch.stack([A, B], dim=1), 7).flatten(1).float()
    network = from_state_dict(net.state_dict(), task, ForwardPass("square"))
    torch.testing.assert_close(network(task.inputs())[:, 0], net[2](net[0](one_hot) ** 2))


def test_what_is_no_network_over_pairs_is_refused_for_that_reason() -> None:
    ours = weights()
    with pytest.raises(ValueError, match=r"reads 10 tokens, but a network over pairs \(a, b\)"):
        modular_task(ours | {"pos_embed.W_pos": torch.ones(10, 16)}, "add")
    with pytest.raises(ValueError, match="8 tokens with one for = and 5 outputs do not fit a network over pairs"):
        modular_task(ours | {"unembed.W_U": torch.ones(16, 5)}, "add")
    with pytest.raises(ValueError, match="reads 3 tokens, which contradicts equals=False"):
        modular_task(ours, "add", equals=False)


def test_two_vocabularies_follow_from_the_modulus_or_from_the_outputs() -> None:
    own = ModularArithmetic(7, equals=False, vocabularies=2)
    for outputs in (7, 14):  # all tokens have outputs in the code of Zhong et al. 2023
        config = TransformerConfig.of(own, d_model=16, n_heads=2, d_head=8, d_mlp=24, unlabelled_outputs=outputs - 7)
        ours = initial_weights(config, 0)
        assert modular_task(ours, "add", p=7) == own
        assert modular_task(ours, "add", vocabularies=2) == own
        assert modular_task(ours, "add").p == (7 if outputs == 7 else 14)
        assert from_state_dict(ours, own).cfg == config.labelled()
    assert own.inputs()[8].tolist() == [1, 8]
    assert ModularArithmetic(7, vocabularies=2).inputs()[8].tolist() == [1, 8, 14]
    assert ModularArithmetic(7, vocabularies=2).labels().equal(TASK.labels())


def test_how_the_network_computes_is_taken_as_it_is_said() -> None:
    network = from_state_dict(weights(), TASK, ForwardPass("gelu", attention_rate=0.5, causal=False))
    assert (network.cfg.act_fn, network.cfg.attention_rate, network.cfg.causal) == ("gelu", 0.5, False)
    assert network.cfg.forward_pass.startswith(
        "attention rate 0.5, every position attends to all positions, gelu neurons"
    )
