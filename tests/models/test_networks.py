from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from transformer_lens import ActivationCache, HookedRootModule

from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.models import affine as affine_module
from modinterp.models.affine import HAS_ONEDNN, affine, affine_relu, fast_affine, fast_affine_relu, relu_in_place
from modinterp.tasks import addition

TASK = addition(113)
CONFIG = TransformerConfig.of(TASK)


def test_weights_begin_as_in_the_papers_code() -> None:
    weights = initial_weights(CONFIG, seed=0)
    for name, weight in weights.items():
        if ".b_" in name:
            assert not weight.any()
            continue
        std = 1 / math.sqrt(114) if name == "unembed.W_U" else 1 / math.sqrt(128)
        spread = 5 * std / math.sqrt(2 * weight.numel())
        assert weight.std().item() == pytest.approx(std, abs=spread), name
        assert weight.mean().item() == pytest.approx(0, abs=5 * std / math.sqrt(weight.numel())), name
    assert all(torch.equal(w, initial_weights(CONFIG, seed=0)[n]) for n, w in weights.items())
    assert not torch.equal(weights["embed.W_E"], initial_weights(CONFIG, seed=1)["embed.W_E"])


def test_hook_names_are_transformer_lens_names() -> None:
    network = hooked(CONFIG, initial_weights(CONFIG, seed=0))
    assert isinstance(network, HookedRootModule)
    block = ["hook_resid_pre", "hook_attn_out", "hook_resid_mid", "hook_mlp_out", "hook_resid_post", "mlp.hook_pre",
             "mlp.hook_post", *(f"attn.hook_{x}" for x in ("q", "k", "v", "z", "attn_scores", "pattern", "result"))]  # fmt: skip
    assert set(network.hook_dict) == {"hook_embed", "hook_pos_embed", *(f"blocks.0.{name}" for name in block)}


def test_cache_answers_in_transformer_lens_shorthand() -> None:
    network = hooked(CONFIG, initial_weights(CONFIG, seed=0))
    _, cache = network.run_with_cache(TASK.inputs()[:5])
    assert isinstance(cache, ActivationCache)
    assert cache["pattern", 0].shape == (5, 4, 3, 3)
    torch.testing.assert_close(cache["pattern", 0].sum(dim=-1), torch.ones(5, 4, 3))
    torch.testing.assert_close(cache["resid_post", 0], cache["resid_mid", 0] + cache["mlp_out", 0])


def test_no_position_sees_a_later_one() -> None:
    network = hooked(CONFIG, initial_weights(CONFIG, seed=0))
    changed = torch.tensor([[3, 5, 113], [3, 5, 7]])
    first, second = network(changed)
    torch.testing.assert_close(first[:2], second[:2])
    assert not torch.allclose(first[2], second[2])


@pytest.mark.parametrize("bad", [{"d_model": 0}, {"n_layers": -1}, {"d_mlp": 0}, {"act_fn": "swish"}])
def test_bad_configurations_are_named(bad: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(bad)) if "act_fn" not in bad else "swish"):
        TransformerConfig.of(TASK, **bad)


@pytest.mark.skipif(not HAS_ONEDNN, reason="this torch has no oneDNN")
@pytest.mark.parametrize("outer", [64, 256])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("intel", [True, False])
@pytest.mark.parametrize(("fast", "plain"), [(fast_affine, affine), (fast_affine_relu, affine_relu)])
def test_fast_affine_maps_are_affine_maps(
    outer: int, biased: bool, intel: bool, fast: Callable, plain: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(affine_module, "_is_intel", lambda: intel)
    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(shape, generator=generator) for shape in ((200, 128), (128, outer), (outer,))]
    ours, theirs = ([t.clone().requires_grad_() for t in start[: 2 + biased]] for _ in range(2))
    torch.testing.assert_close(fast(*ours), plain(*theirs), rtol=1e-5, atol=1e-4)
    fast(*ours).square().sum().backward()
    plain(*theirs).square().sum().backward()
    for x, y in zip(ours, theirs, strict=True):
        torch.testing.assert_close(x.grad, y.grad, rtol=1e-4, atol=1e-2)


def test_relu_in_place_is_relu() -> None:
    x = torch.linspace(-1, 1, 21).requires_grad_()
    for relu in (torch.relu, relu_in_place):
        (gradient,) = torch.autograd.grad((relu(3 * x) * torch.arange(21)).sum(), x)
        assert torch.equal(gradient, 3.0 * torch.arange(21) * (x > 0))
        with torch.no_grad():
            assert torch.equal(relu(x.clone()), x.clamp(min=0))
