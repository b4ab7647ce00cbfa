"""Heads at their mean write nothing of the input; neurons at 0 write nothing."""

from __future__ import annotations

import pytest
import torch

from modinterp.activations import heads_at_mean, mean_outputs, without_neurons
from modinterp.models import TransformerConfig, hooked, initial_weights

CONFIG = TransformerConfig(7, 7, 4, n_layers=2, d_model=12, n_heads=3, d_head=4, d_mlp=10)
NETWORK = hooked(CONFIG, initial_weights(CONFIG, 0)).in_float64()
INPUTS = torch.randint(7, (60, 4), generator=torch.Generator().manual_seed(0))
HEADS = [(layer, head) for layer in range(2) for head in range(3)]


def test_with_all_heads_at_their_mean_each_position_sees_its_own_token_alone() -> None:
    means = mean_outputs(NETWORK, INPUTS)
    assert means.shape == (2, 4, 3, 4)
    others = INPUTS.clone()
    others[:, :3] = INPUTS[:, :3].flip(0)
    with torch.no_grad(), heads_at_mean(NETWORK, means, HEADS) as network:
        cut, cut_others = network(INPUTS)[:, -1], network(others)[:, -1]
    torch.testing.assert_close(cut, cut_others, rtol=0, atol=1e-12)
    with torch.no_grad():
        assert (NETWORK(INPUTS)[:, -1] - NETWORK(others)[:, -1]).abs().max() > 1e-3


def test_one_head_at_one_position_changes_nothing_before_it_and_no_mean() -> None:
    means = mean_outputs(NETWORK, INPUTS)
    with torch.no_grad(), heads_at_mean(NETWORK, means, [(1, 2)], [2]) as network:
        cut = network(INPUTS)
        again = mean_outputs(network, INPUTS)
    whole = NETWORK(INPUTS).detach()
    changed = (cut - whole).abs().amax(dim=(0, 2)) > 1e-9
    assert changed.tolist() == [False, False, True, False]
    torch.testing.assert_close(again, means, rtol=0, atol=1e-12)


def test_heads_and_positions_that_are_not_there_are_refused() -> None:
    means = mean_outputs(NETWORK, INPUTS)
    with pytest.raises(ValueError, match="each head must be a layer below 2"), heads_at_mean(NETWORK, means, [(2, 0)]):
        pass
    with pytest.raises(ValueError, match="positions"), heads_at_mean(NETWORK, means, [(0, 0)], [4]):
        pass


def test_without_all_neurons_a_layer_adds_its_bias_alone() -> None:
    with torch.no_grad(), without_neurons(NETWORK, 1) as network:
        _, cache = network.run_with_cache(INPUTS)
    assert (cache["blocks.1.hook_mlp_out"] - NETWORK.blocks[1].mlp.b_out).abs().max() < 1e-12
    assert cache["blocks.0.hook_mlp_out"].std() > 1e-3
    with torch.no_grad(), without_neurons(NETWORK, 1, [3]) as network:
        _, cache = network.run_with_cache(INPUTS)
    assert not cache["blocks.1.mlp.hook_post"][..., 3].any()
    assert cache["blocks.1.mlp.hook_post"][..., 4].any()
