from __future__ import annotations

import pytest
import torch
from transformer_lens import ActivationCache

from modinterp.activations import activations, logits_on_grid, logits_with, replaced
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.tasks import addition

TASK = addition(6)
CONFIG = TransformerConfig.of(TASK, d_model=16, n_heads=2, d_head=8, d_mlp=24)
NETWORK = hooked(CONFIG, initial_weights(CONFIG, seed=0)).double()
POST = "blocks.0.mlp.hook_post"


def test_grid_holds_each_input_in_its_place() -> None:
    grid = activations(NETWORK, TASK)
    assert isinstance(grid, ActivationCache)
    logits, cache = NETWORK.run_with_cache(torch.tensor([[4, 1, 6]]))
    torch.testing.assert_close(grid["logits"][4, 1], logits[0, -1])
    torch.testing.assert_close(grid[POST][4, 1], cache[POST][0, -1])
    torch.testing.assert_close(grid["pattern", 0][4, 1], cache["pattern", 0][0, :, -1])
    torch.testing.assert_close(grid["blocks.0.attn.hook_v"][4, 1], cache["blocks.0.attn.hook_v"][0])
    assert grid["logits"].dtype == torch.float64


def test_replacing_neurons_reaches_the_logits_and_ends_with_the_block() -> None:
    before = logits_on_grid(NETWORK, TASK)
    grid = activations(NETWORK, TASK)
    doubled = 2 * grid[POST]
    W_out, b_out = NETWORK.blocks[0].mlp.W_out, NETWORK.blocks[0].mlp.b_out
    by_hand = (grid["resid_mid", 0] + doubled @ W_out + b_out) @ NETWORK.W_U
    torch.testing.assert_close(logits_with(NETWORK, TASK, {POST: doubled}), by_hand.detach())
    torch.testing.assert_close(logits_on_grid(NETWORK, TASK), before)


def test_replacing_the_pattern_touches_the_last_query_alone() -> None:
    uniform = torch.full((6, 6, 2, 3), 1 / 3, dtype=torch.float64)
    with replaced(NETWORK, {"blocks.0.attn.hook_pattern": uniform}):
        _, cache = NETWORK.run_with_cache(TASK.inputs())
    _, plain = NETWORK.run_with_cache(TASK.inputs())
    torch.testing.assert_close(cache["z", 0][:, -1], cache["v", 0].mean(dim=1))
    torch.testing.assert_close(cache["z", 0][:, :-1], plain["z", 0][:, :-1])


def test_replacement_is_undone_after_an_error() -> None:
    before = logits_on_grid(NETWORK, TASK)
    with pytest.raises(RuntimeError, match="on purpose"), replaced(NETWORK, {POST: torch.zeros(24)}):
        raise RuntimeError("on purpose")
    torch.testing.assert_close(logits_on_grid(NETWORK, TASK), before)


def test_unknown_hook_is_named() -> None:
    with pytest.raises(ValueError, match=r"no hook blocks\.7\.hook_post; this network has hook_embed"):
        logits_with(NETWORK, TASK, {"blocks.7.hook_post": torch.zeros(1)})
