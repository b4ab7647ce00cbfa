"""The weights of the released code of Nanda et al. 2023 from its seed, and variants of them in the last bit."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from modinterp.models import TransformerConfig, fitting, hooked, initial_weights
from modinterp.runs import load, train
from modinterp.tasks import PrimeRemainders, addition
from modinterp.training import Nudge, Recipe, RunSpec, training_states

TASK = addition(113)
CONFIG = TransformerConfig.of(TASK, init="left-facing", unlabelled_outputs=1)
SMALL_TASK = addition(7)
SMALL = TransformerConfig.of(
    SMALL_TASK, d_model=16, n_heads=2, d_head=8, d_mlp=24, init="left-facing", unlabelled_outputs=1
)


def spec_of_source(**fields) -> RunSpec:
    return RunSpec(TASK, CONFIG, Recipe(epochs=0), **fields)


def test_losses_before_the_first_step_are_those_of_the_released_code() -> None:
    ((_, state),) = training_states([spec_of_source()], device="cpu")
    assert state.history[0]["train_loss"] == pytest.approx(4.7640523, abs=1e-6)
    assert state.history[0]["test_loss"] == pytest.approx(4.7683473, abs=1e-6)


def test_weights_are_drawn_in_the_order_and_orientation_of_the_released_code() -> None:
    """The code's modules in the order in which they are made, its arrays as they act on column vectors."""
    generator, m = torch.Generator().manual_seed(0), math.sqrt(128)
    W_E, W_pos = (torch.randn(*shape, generator=generator) / m for shape in ((128, 114), (3, 128)))
    W_K, W_Q, W_V = (torch.randn(4, 32, 128, generator=generator) / m for _ in range(3))
    W_O, W_in, W_out = (torch.randn(*shape, generator=generator) / m for shape in ((128, 128), (512, 128), (128, 512)))
    W_U = torch.randn(128, 114, generator=generator) / math.sqrt(114)
    network = hooked(CONFIG, initial_weights(CONFIG, 0))
    tokens = torch.tensor([5, 77, 113])
    x = W_E[:, tokens].T + W_pos
    q, k, v = (torch.einsum("hdm,pm->hpd", W, x) for W in (W_Q, W_K, W_V))
    scores = (q @ k.mT / math.sqrt(32)).masked_fill(torch.ones(3, 3).triu(1).bool(), -torch.inf)
    z = (scores.softmax(dim=-1) @ v).permute(1, 0, 2).reshape(3, 128)
    x = x + z @ W_O.T
    x = x + (x @ W_in.T).relu() @ W_out.T
    torch.testing.assert_close(network(tokens[None])[0], (x @ W_U)[:, :113], rtol=1e-4, atol=1e-5)


def test_the_network_has_no_outputs_that_answer_nothing_and_its_file_has_them(tmp_path: Path) -> None:
    recipe = Recipe(epochs=20, log_every=5, snapshot_every=10)
    spec = RunSpec(SMALL_TASK, SMALL, recipe, nudge=Nudge("embed.W_E", 1))
    train({"mine/0": spec}, tmp_path, device="cpu", progress=False)
    run = load("mine/0", root=tmp_path)
    assert run.spec == spec
    assert run.network.cfg == SMALL.labelled()
    assert run.network.W_U.shape == (16, 7)
    assert run.snapshots[20]["unembed.W_U"].shape == (16, 8)
    for epoch, network in ((10, run.at(10)), (0, run.at_start().network)):
        assert torch.equal(network.W_U, run.snapshots[epoch]["unembed.W_U"][:, :7])
    assert run.activations()["logits"].shape == (7, 7, 7)


@pytest.mark.parametrize("outputs", [7, 8])
def test_weights_fit_with_and_without_the_unlabelled_outputs(outputs: int) -> None:
    weights = initial_weights(SMALL, 0)
    weights["unembed.W_U"] = weights["unembed.W_U"][:, :outputs]
    network = fitting(weights, SMALL, SMALL_TASK)
    assert torch.equal(network.W_U, weights["unembed.W_U"][:, :7])
    with pytest.raises(ValueError, match=r"W_U should have the shape \[16, 8\], but has \[16, 6\]"):
        fitting(weights | {"unembed.W_U": weights["unembed.W_U"][:, :6]}, SMALL, SMALL_TASK)


def test_unlabelled_outputs_count_in_the_softmax() -> None:
    ((_, state),) = training_states([RunSpec(SMALL_TASK, SMALL, Recipe(epochs=0))], device="cpu")
    W_U = initial_weights(SMALL, 0)["unembed.W_U"]
    weights = initial_weights(SMALL, 0) | {"unembed.W_U": torch.cat([W_U, W_U[:, 7:] * 0], dim=1)[:, :7]}
    network = hooked(SMALL, weights)
    ((_, plain),) = training_states([RunSpec(SMALL_TASK, network.cfg, Recipe(epochs=0))], device="cpu")
    assert state.history[0]["train_loss"] != pytest.approx(plain.history[0]["train_loss"], rel=1e-3)
    split, labels = SMALL_TASK.split(0.3, 0), SMALL_TASK.labels()[:, 0]
    wide = torch.nn.Parameter(W_U.clone())
    network.unembed.W_U = wide
    logits = network(SMALL_TASK.inputs()[split.train])[:, -1].double()
    loss = torch.nn.functional.cross_entropy(logits, labels[split.train])
    assert state.history[0]["train_loss"] == pytest.approx(loss.item(), rel=1e-6)


@pytest.mark.parametrize("ulps", [1, -1, 3, -2])
@pytest.mark.parametrize("weight", ["unembed.W_U", "pos_embed.W_pos"])
def test_a_nudge_moves_one_matrix_by_units_in_the_last_place(weight: str, ulps: int) -> None:
    nudged = spec_of_source(nudge=Nudge(weight, ulps))
    before, after = spec_of_source().initial_weights(), nudged.initial_weights()
    assert list(before) == list(after)
    for name, w in before.items():
        moved = after[name].view(torch.int32) - w.view(torch.int32)  # neighbouring floats are neighbouring integers
        assert (moved == (ulps if name == weight else 0)).all(), name
    data = nudged.to_json()
    assert data["nudge"] == {"weight": weight, "ulps": ulps}
    assert RunSpec.from_json(json.loads(json.dumps(data))) == nudged != spec_of_source()
    assert "nudge" not in spec_of_source().to_json()


def test_a_nudge_leaves_zeros_and_never_changes_a_sign() -> None:
    tiny = torch.tensor([0.0, 1e-45, -1e-45, 1.0])
    assert Nudge("w", -5).moved({"w": tiny})["w"][:3].tolist() == [0, 0, 0]
    assert Nudge("w", 1).moved({"w": tiny})["w"][0] == 0


def test_what_cannot_be_nudged_or_left_unlabelled_is_refused() -> None:
    for weight in ("unembed.W_X", "blocks.0.mlp.b_in"):
        with pytest.raises(ValueError, match=f"no matrix '{weight}' to nudge; choose one of embed.W_E"):
            spec_of_source(nudge=Nudge(weight, 1))
    with pytest.raises(ValueError, match="ulps must be a whole number other than 0"):
        Nudge("unembed.W_U", 0)
    with pytest.raises(ValueError, match="unlabelled_outputs"):
        TransformerConfig(8, 7, 3, unlabelled_outputs=-1)
    with pytest.raises(ValueError, match="unlabelled_outputs"):
        TransformerConfig.of(PrimeRemainders(11), unlabelled_outputs=1)


def test_left_facing_weights_of_other_shapes_are_drawn_too() -> None:
    config = TransformerConfig.of(SMALL_TASK, n_layers=2, d_mlp=None, positional=False, attn_biases=True,
                                  init="left-facing")  # fmt: skip
    weights = initial_weights(config, 0)
    assert {name: tuple(w.shape) for name, w in weights.items()} == config.shapes()
    assert not weights["blocks.1.attn.b_O"].any()
    assert weights["blocks.1.attn.W_Q"].std().item() == pytest.approx(1 / math.sqrt(128), rel=0.05)
