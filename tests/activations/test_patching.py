"""Patching on the grid does what it says where the answer is known, and refuses to have changed nothing."""

from __future__ import annotations

import pytest
import torch
from explain import planted

import modinterp
from modinterp import tasks
from modinterp.activations import NothingChanged, patched, path_patched
from modinterp.activations.patching import components, other_a, other_b
from modinterp.models import from_state_dict

P = 11
TASK = tasks.addition(P)
NETWORK = from_state_dict(planted.clock(P, (2, 5)), TASK)  # head 0 carries a, head 1 carries b
Z, PRE, POST = "blocks.0.attn.hook_z", "blocks.0.mlp.hook_pre", "blocks.0.mlp.hook_post"
A, B = torch.meshgrid(torch.arange(P), torch.arange(P), indexing="ij")


def test_neurons_of_another_pair_give_its_answer() -> None:
    logits = patched(NETWORK, TASK, [POST], other_b(3))
    assert torch.equal(logits.argmax(dim=-1), (A + B + 3) % P)


def test_the_head_that_carries_a_number_carries_it() -> None:
    assert torch.equal(patched(NETWORK, TASK, [Z], other_b(), head=1).argmax(dim=-1), (A + B + 1) % P)
    assert torch.equal(patched(NETWORK, TASK, [Z], other_a(2), head=0).argmax(dim=-1), (A + B + 2) % P)
    with pytest.raises(NothingChanged, match="patching blocks.0.attn.hook_z changed no logit"):
        patched(NETWORK, TASK, [Z], other_b(0), head=0)


def test_the_path_through_the_neurons_is_all_there_is() -> None:
    logits = path_patched(NETWORK, TASK, Z, PRE, other_b(), head=1)
    assert torch.equal(logits.argmax(dim=-1), (A + B + 1) % P)
    with pytest.raises(NothingChanged, match="the path from blocks.0.mlp.hook_post to blocks.0.attn.hook_q"):
        path_patched(NETWORK, TASK, POST, "blocks.0.attn.hook_q", other_b())


def test_components_share_the_way() -> None:
    table = components(NETWORK, TASK, other_b()).set_index("component")["share of the way"]
    assert table["head 0.1"] == pytest.approx(1)
    assert table["MLP 0"] == pytest.approx(1)
    assert table["head 0.0"] == pytest.approx(0, abs=1e-3)
    with pytest.raises(ValueError, match="patching shows no effect"):
        components(NETWORK, TASK, other_b(0))


def test_what_cannot_be_patched_is_named() -> None:
    with pytest.raises(ValueError, match="no hook blocks.7.attn.hook_z"):
        modinterp.patching.patched(NETWORK, TASK, ["blocks.7.attn.hook_z"], other_b())
    with pytest.raises(ValueError, match="do not form a grid of pairs"):
        patched(NETWORK, tasks.ModularSum(5), [Z], other_b())
    with pytest.raises(ValueError, match="sources should be pairs of numbers from 0 to 10"):
        patched(NETWORK, TASK, [Z], lambda a, b: (a + P, b))
