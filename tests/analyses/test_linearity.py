"""The battery that asks whether an MLP is affine."""

from __future__ import annotations

import pytest
import torch

from modinterp.activations import activations
from modinterp.analyses.circles.linearity import decodability, line_explained, linearity
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.tasks import addition


def battery(act_fn: str):
    task = addition(11)
    config = TransformerConfig.of(task, d_model=16, n_heads=2, d_head=8, d_mlp=64, act_fn=act_fn, positional=False)
    network = hooked(config, initial_weights(config, seed=0))
    grid = activations(network, task)
    right = (grid["logits"].argmax(dim=-1).flatten() == task.labels()[:, 0]).double().mean()
    return linearity(grid, task, task.labels(), (2, 5)), float(right)


def test_without_a_nonlinearity_the_affine_map_is_the_mlp() -> None:
    found, right = battery("none")
    assert found.line_explained == pytest.approx(1)
    assert found.affine_explained == pytest.approx(1)
    assert found.affine_accuracy == pytest.approx(right)
    assert found.identity_accuracy == pytest.approx(right)


def test_with_relu_it_is_not() -> None:
    found, _ = battery("relu")
    assert found.line_explained < 0.95
    assert found.affine_explained < 0.999
    assert 0.2 < found.negative < 0.8
    shares = list(found.products.values())
    assert shares[2] > 2 * shares[1]
    assert list(found.decodability) == [2, 5]
    assert len(found.table()) == 7 + 4 + 2


def test_a_wave_that_is_there_can_be_read_and_one_that_is_not_cannot() -> None:
    p = 11
    x = torch.arange(p)
    angle = 2 * torch.pi / p * 3 * (x[:, None] + x)
    field = torch.stack([angle.cos(), angle.sin(), torch.ones(p, p)], dim=-1)
    mixed = field.double() @ torch.randn(3, 4, generator=torch.Generator().manual_seed(0)).double()
    assert decodability(mixed, 3) == pytest.approx(1)
    assert decodability(mixed, 2) == pytest.approx(0, abs=1e-9)


def test_a_dead_neuron_has_no_line() -> None:
    pre = torch.randn(3, 3, 2, generator=torch.Generator().manual_seed(0))
    post = torch.stack([2 * pre[..., 0], torch.zeros(3, 3)], dim=-1)
    found = line_explained(pre, post)
    assert float(found[0]) == pytest.approx(1)
    assert found[1].isnan()
