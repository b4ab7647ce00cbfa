"""What TransformerLens does with its own models it does with ours: caches, attributions, patching, state dicts."""

from __future__ import annotations

import pytest
import torch
from transformer_lens import ActivationCache, patching

from modinterp.models import (
    ForwardPass,
    MLPConfig,
    TransformerConfig,
    from_state_dict,
    hooked,
    initial_weights,
    to_hooked_transformer_state_dict,
)
from modinterp.models.base_network import Network
from modinterp.tasks import ModularArithmetic, PrimeRemainders, addition

TASK = addition(7)
SMALL = {"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 24}
SHAPES: dict[str, dict] = {
    "one layer": {},
    "two layers, all biases": {"n_layers": 2, "attn_biases": True, "unembed_bias": True},
    "no biases, no positions": {"mlp_biases": False, "positional": False},
    "attention alone": {"d_mlp": None, "n_layers": 2},
    "gelu": {"act_fn": "gelu"},
}


def drawn(shape: dict) -> Network:
    config = TransformerConfig.of(TASK, **SMALL | shape)
    generator = torch.Generator().manual_seed(0)
    weights = {n: 0.3 * torch.randn(w.shape, generator=generator) for n, w in initial_weights(config, 0).items()}
    return hooked(config, weights)


@pytest.fixture(params=SHAPES)
def network(request: pytest.FixtureRequest) -> Network:
    return drawn(SHAPES[request.param])


@pytest.fixture
def cache(network: Network) -> ActivationCache:
    with torch.no_grad():
        return network.run_with_cache(TASK.inputs())[1]


def test_residual_stream_is_the_sum_of_its_parts(network: Network, cache: ActivationCache) -> None:
    last = cache["resid_post", -1]
    parts, labels = cache.decompose_resid(return_labels=True)
    torch.testing.assert_close(parts.sum(dim=0), last)
    assert labels[0] == "embed"
    assert ("pos_embed" in labels) == network.cfg.positional
    heads, names = cache.stack_head_results(return_labels=True, incl_remainder=True)
    assert names == [f"L{x}H{h}" for x in range(network.cfg.n_layers) for h in range(2)] + ["remainder"]
    torch.testing.assert_close(heads.sum(dim=0), last)
    torch.testing.assert_close(cache.accumulated_resid(layer=-1)[-1], last)
    torch.testing.assert_close(cache.get_full_resid_decomposition(expand_neurons=False).sum(dim=0), last)


def test_neurons_add_up_too() -> None:
    network = drawn({"n_layers": 2, "attn_biases": True})
    with torch.no_grad():
        _, cache = network.run_with_cache(TASK.inputs()[:4])
    parts, labels = cache.get_full_resid_decomposition(expand_neurons=True, return_labels=True)
    assert len(labels) == 2 * 2 + 2 * 24 + 3
    torch.testing.assert_close(parts.sum(dim=0), cache["resid_post", -1])


def test_logits_are_the_sum_of_their_attributions(network: Network, cache: ActivationCache) -> None:
    answers = TASK.labels()[:, 0]
    with torch.no_grad():
        logits = network(TASK.inputs())[:, -1]
    parts = cache.decompose_resid(pos_slice=-1)
    bias = network.unembed.b_U if network.cfg.unembed_bias else torch.zeros(7)
    attributed = cache.logit_attrs(parts, answers, pos_slice=-1).sum(dim=0)
    torch.testing.assert_close(attributed + bias[answers], logits.gather(1, answers[:, None])[:, 0])
    difference = cache.logit_attrs(parts, answers, incorrect_tokens=(answers + 1) % 7, pos_slice=-1).sum(dim=0)
    wrong = logits.gather(1, ((answers + 1) % 7)[:, None])[:, 0] - bias[(answers + 1) % 7]
    torch.testing.assert_close(difference, attributed - wrong)
    assert cache.logit_attrs(parts, 3, pos_slice=-1).shape == (len(parts), 49)
    by_word = cache.logit_attrs(parts, "3", pos_slice=-1)
    torch.testing.assert_close(by_word, cache.logit_attrs(parts, 3, pos_slice=-1))
    for wrong_answer in ("seven", 7, -1):
        with pytest.raises(ValueError, match="answers are numbers from 0 to 6, got"):
            cache.logit_attrs(parts, wrong_answer, pos_slice=-1)


def test_a_cache_without_attention_names_what_is_not_there() -> None:
    task = ModularArithmetic(7, equals=False)
    config = MLPConfig.of(task, d_model=16, d_mlp=24)
    _, cache = hooked(config, initial_weights(config, 0)).run_with_cache(task.inputs())
    assert cache["post", 0].shape == (49, 1, 24)
    for ask in (cache.stack_head_results, cache.decompose_resid, lambda: cache["pattern", 0]):
        with pytest.raises(KeyError, match=r"blocks\.0\.(attn\.)?hook_"):
            ask()


def test_activation_patching_moves_the_answer() -> None:
    """Everything that the last position knows of a comes through attention: patching it moves the whole answer."""
    network = drawn({})
    clean, corrupted = torch.tensor([[1, 2, 7], [3, 3, 7]]), torch.tensor([[5, 2, 7], [0, 3, 7]])
    with torch.no_grad():
        logits, cache = network.run_with_cache(clean)
        before = network(corrupted)

    def distance(patched: torch.Tensor) -> torch.Tensor:
        return (patched[:, -1] - logits[:, -1]).norm()

    by_place = patching.get_act_patch_resid_pre(network, corrupted, cache, distance)
    assert by_place.shape == (1, 3)
    assert by_place[0, 0].item() == pytest.approx(0, abs=1e-5)  # the differing number stands at position 0
    assert by_place[0, 1].item() == pytest.approx(distance(before).item(), rel=1e-5)
    whole = patching.get_act_patch_attn_out(network, corrupted, cache, distance)
    assert whole[0, 2].item() == pytest.approx(0, abs=1e-5)
    heads = patching.get_act_patch_attn_head_out_all_pos(network, corrupted, cache, distance)
    assert heads.shape == (1, 2)
    assert (heads < 2 * distance(before)).all()
    patterns = patching.generic_activation_patch(
        network,
        corrupted,
        cache,
        distance,
        patching.layer_head_pattern_patch_setter,
        "pattern",
        ["layer", "head_index"],
    )
    assert patterns.shape == (1, 2)


def test_patterns_have_the_shape_that_circuitsvis_draws() -> None:
    """`attention_patterns(tokens: list of words, attention: [head, destination, source])`, rows that sum to 1."""
    network = drawn({})
    with torch.no_grad():
        _, cache = network.run_with_cache(torch.tensor([[1, 2, 7]]), remove_batch_dim=True)
    attention, tokens = cache["pattern", 0], ["1", "2", "="]
    assert attention.shape == (2, len(tokens), len(tokens))
    torch.testing.assert_close(attention.sum(dim=-1), torch.ones(2, 3))
    assert not attention.triu(1).any()


def hooked_transformer_keys(c: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the state dict of HookedTransformer 3.x without normalisation, written out by hand."""
    keys: dict[str, tuple[int, ...]] = {"embed.W_E": (c.d_vocab, c.d_model), "pos_embed.W_pos": (c.n_ctx, c.d_model)}
    for layer in range(c.n_layers):
        attn, mlp = f"blocks.{layer}.attn", f"blocks.{layer}.mlp"
        keys |= {
            f"{attn}.W_Q": (c.n_heads, c.d_model, c.d_head), f"{attn}.W_K": (c.n_heads, c.d_model, c.d_head),
            f"{attn}.W_V": (c.n_heads, c.d_model, c.d_head), f"{attn}.W_O": (c.n_heads, c.d_head, c.d_model),
            f"{attn}.b_Q": (c.n_heads, c.d_head), f"{attn}.b_K": (c.n_heads, c.d_head), f"{attn}.b_V": (c.n_heads, c.d_head),
            f"{attn}.b_O": (c.d_model,), f"{attn}.mask": (c.n_ctx, c.n_ctx), f"{attn}.IGNORE": (),
        }  # fmt: skip
        if c.d_mlp is not None:
            keys |= {f"{mlp}.W_in": (c.d_model, c.d_mlp), f"{mlp}.b_in": (c.d_mlp,),
                     f"{mlp}.W_out": (c.d_mlp, c.d_model), f"{mlp}.b_out": (c.d_model,)}  # fmt: skip
    return keys | {"unembed.W_U": (c.d_model, c.d_vocab_out), "unembed.b_U": (c.d_vocab_out,)}


def test_exported_weights_fit_a_hooked_transformer_and_come_back(network: Network) -> None:
    exported = to_hooked_transformer_state_dict(network)
    assert {name: tuple(w.shape) for name, w in exported.items()} == hooked_transformer_keys(network.cfg)
    mask = exported["blocks.0.attn.mask"]
    assert mask.dtype == torch.bool
    assert torch.equal(mask, torch.ones(3, 3).tril().bool())
    assert exported["blocks.0.attn.IGNORE"] == -torch.inf
    back = from_state_dict(exported, TASK, ForwardPass(network.cfg.act_fn))
    for name, w in network.state_dict().items():
        assert torch.equal(back.state_dict()[name], w), name
    extra = {name: w for name, w in back.state_dict().items() if name not in network.state_dict()}
    assert all("mlp.b_" in name and not w.any() for name, w in extra.items())
    assert bool(extra) == (not network.cfg.mlp_biases)
    torch.testing.assert_close(back(TASK.inputs()), network(TASK.inputs()))
    exported["embed.W_E"] += 1  # a copy
    assert not torch.equal(exported["embed.W_E"], network.W_E)


def test_what_a_hooked_transformer_cannot_be_is_refused() -> None:
    task = ModularArithmetic(7, equals=False)
    config = MLPConfig.of(task, d_model=16, d_mlp=24)
    for other in (hooked(config, initial_weights(config, 0)), drawn({"act_fn": "none"})):
        with pytest.raises(ValueError, match="HookedTransformer cannot represent"):
            to_hooked_transformer_state_dict(other)


def test_weights_and_circuits_of_all_layers(network: Network) -> None:
    c = network.cfg
    assert network.W_Q.shape == network.W_K.shape == network.W_V.shape == (c.n_layers, 2, 16, 8)
    block = network.blocks[-1].attn
    torch.testing.assert_close(network.OV[-1, 0].AB, block.W_V[0] @ block.W_O[0])
    torch.testing.assert_close(network.QK[-1, 1].AB, block.W_Q[1] @ block.W_K[1].T)


def test_calling_as_hooked_transformer_is_called(network: Network) -> None:
    inputs, answers = TASK.inputs(), TASK.answers()
    logits, loss = network(inputs, return_type="both", labels=answers)
    torch.testing.assert_close(loss, torch.nn.functional.cross_entropy(logits[:, -1], answers))
    torch.testing.assert_close(network(inputs, return_type="loss", labels=answers), loss)
    assert network(inputs, return_type=None) is None
    with pytest.raises(ValueError, match="a loss needs the right answers"):
        network(inputs, return_type="loss")
    with pytest.raises(ValueError, match="got 'probabilities'"):
        network(inputs, return_type="probabilities")
    _, cache = network.run_with_cache(inputs)
    last = network.cfg.n_layers - 1
    torch.testing.assert_close(network(inputs, stop_at_layer=last), cache[f"blocks.{last}.hook_resid_pre"])
    torch.testing.assert_close(network(inputs, stop_at_layer=-1), network(inputs, stop_at_layer=last))
    assert network.to_tokens("3 5 =").tolist() == [[3, 5, 7]]
    assert torch.equal(network.to_tokens(["0 0 =", "0 1 ="]), inputs[:2])
    with pytest.raises(ValueError, match="got \\['3 9 ='\\]"):
        network.to_tokens("3 9 =")


def test_results_of_heads_pass_their_hook_where_they_are_asked_for(network: Network) -> None:
    inputs = TASK.inputs()
    before, cache = network.run_with_cache(inputs)
    assert "blocks.0.attn.hook_result" not in cache.cache_dict
    network.set_use_attn_result(True)
    after, cache = network.run_with_cache(inputs)
    torch.testing.assert_close(after, before)
    result = torch.einsum("bphd,hdm->bphm", cache["blocks.0.attn.hook_z"], network.blocks[0].attn.W_O)
    torch.testing.assert_close(cache["blocks.0.attn.hook_result"], result)


def test_answers_compare_input_by_input() -> None:
    assert torch.equal(TASK.answers(), TASK.labels()[:, 0])
    with pytest.raises(ValueError, match="answers for each input"):
        PrimeRemainders(7).answers()
    task = ModularArithmetic(7, equals=False)
    pair = hooked(config := MLPConfig.of(task, d_model=4, d_mlp=4), initial_weights(config, 0))
    assert pair(task.inputs(), return_type="loss", labels=task.answers()).ndim == 0
    with pytest.raises(ValueError, match="this network has no W_Q: it is pair mlp"):
        _ = pair.W_Q
    with pytest.raises(ValueError, match="this network has no heads: it is pair mlp"):
        pair.set_use_attn_result(True)
