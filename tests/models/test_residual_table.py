"""Where inputs repeat the rows of the first layer's table, they are looked up; what passes the hooks stays the same."""

from __future__ import annotations

import pytest
import torch

from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.tasks import addition

TASK = addition(7)


@pytest.fixture(scope="module", params=[{}, {"attn_biases": True}, {"n_layers": 2}, {"positional": False}, {"causal": False}], ids=str)  # fmt: skip
def network(request):
    config = TransformerConfig.of(TASK, d_model=12, d_head=4, d_mlp=16, **request.param)
    return hooked(config, initial_weights(config, seed=0)).double()


def _row_by_row(network, inputs):
    """Every activation, by inputs too few for a table."""
    caches = [network.run_with_cache(row[None])[1] for row in inputs]
    return {name: torch.cat([cache[name] for cache in caches]) for name in caches[0].cache_dict}


def test_the_same_activations_as_without_a_table(network):
    inputs = TASK.inputs()
    with torch.no_grad():
        cache = network.run_with_cache(inputs)[1].cache_dict
        expected = _row_by_row(network, inputs)
    assert cache.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(cache[name], value, msg=name)


def test_of_few_inputs_only_their_own_rows_are_computed(network):
    """Fourteen inputs of two numbers a: their table has the rows that are there, and the activations stay."""
    inputs = TASK.inputs()[7:21]
    with torch.no_grad():
        table = network._residual_table(inputs)
        cache = network.run_with_cache(inputs)[1].cache_dict
        expected = _row_by_row(network, inputs)
    assert table is not None
    assert len(table.rows) == 2 + 7 + 1
    for name, value in expected.items():
        torch.testing.assert_close(cache[name], value, msg=name)
    with torch.no_grad():
        assert network._residual_table(TASK.inputs()[:1]) is None, "of one input every row is there once"


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("name", ["hook_embed", "blocks.0.hook_resid_pre"])
def test_what_a_hook_changes_reaches_queries_keys_and_values(network, name, in_place):
    inputs, factors = TASK.inputs(), torch.linspace(0.5, 2, len(TASK.inputs()), dtype=torch.float64)[:, None, None]

    def scaled(x, hook):
        return x.mul_(factors) if in_place else x * factors

    with torch.no_grad():
        whole = network.run_with_hooks(inputs, fwd_hooks=[(name, scaled)])
        each = [
            network.run_with_hooks(row[None], fwd_hooks=[(name, lambda x, hook, f=factor: x * f)])
            for row, factor in zip(inputs, factors, strict=True)
        ]
    torch.testing.assert_close(whole, torch.cat(each))
    with torch.no_grad():
        assert not torch.allclose(whole, network(inputs))


def test_gradients_pass_through_every_hook(network):
    inputs, taken = TASK.inputs(), {}
    hooks = [("blocks.0.hook_resid_pre", lambda gradient, hook: taken.update(at=gradient.clone()))]
    with network.hooks(bwd_hooks=hooks):
        network(inputs)[:, -1].square().sum().backward()
    one = taken["at"][20]
    with network.hooks(bwd_hooks=hooks):
        network(inputs[20:21])[:, -1].square().sum().backward()
    torch.testing.assert_close(one, taken["at"][0])


def test_in_inference_mode_too(network):
    with torch.no_grad():
        expected = network(TASK.inputs())
    with torch.inference_mode():
        torch.testing.assert_close(network(TASK.inputs()), expected)
