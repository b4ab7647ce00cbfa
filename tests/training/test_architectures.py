"""The engine trains mixed attention and linear models, one by one or mapped over, to the same numbers."""

from __future__ import annotations

import pytest
import torch

from modinterp.models import Config, MLPConfig, TransformerConfig
from modinterp.tasks import ModularArithmetic
from modinterp.training import ExecutionMode, Recipe, RunSpec, TrainingState, training_states

PAIRS, OWN = ModularArithmetic(7, equals=False), ModularArithmetic(7, equals=False, vocabularies=2)
SMALL = {"d_model": 12, "n_heads": 2, "d_head": 6, "d_mlp": 16}
LINEAR = {"d_model": 12, "d_mlp": 16, "mlp_biases": True, "init": "linear"}
ARCHITECTURES: dict[str, tuple[ModularArithmetic, Config]] = {
    "constant attention": (PAIRS, TransformerConfig.of(PAIRS, **SMALL, attention_rate=0.0, causal=False)),
    "four layers, mixed": (PAIRS, TransformerConfig.of(PAIRS, **SMALL, n_layers=4, attention_rate=0.6, causal=False)),
    "two vocabularies, gelu": (OWN, TransformerConfig.of(OWN, **SMALL, act_fn="gelu", unlabelled_outputs=7)),
    "beta": (PAIRS, MLPConfig.of(PAIRS, **LINEAR, n_layers=2)),
    "gamma": (PAIRS, MLPConfig.of(PAIRS, **LINEAR, n_layers=2, joined="sum after W_in")),
    "one-hot, squares": (
        PAIRS,
        MLPConfig.of(PAIRS, one_hot=True, d_mlp=64, act_fn="square", init="left-facing", init_scale=2.0),
    ),
    "two embeddings in a row": (OWN, MLPConfig.of(OWN, d_model=8, d_mlp=16, joined="concatenated")),
}


def trained(specs: list[RunSpec], mode: ExecutionMode) -> list[TrainingState]:
    """Last states, in the order of the specs."""
    last = {run: state for run, state in training_states(specs, device="cpu", mode=mode) if state.ended}
    return [last[run] for run in range(len(specs))]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_they_learn_what_they_are_shown(name: str) -> None:
    task, config = ARCHITECTURES[name]
    recipe = Recipe(epochs=60, log_every=20, fraction=0.8, lr=1e-2, weight_decay=0.0, warmup=0)
    specs = [RunSpec(task, config, recipe, seed) for seed in (0, 1)]
    ended = {mode: trained(specs, mode) for mode in (ExecutionMode.SEQUENTIAL, ExecutionMode.VMAPPED)}
    for one, other in zip(*ended.values(), strict=True):
        assert one.history[-1]["train_loss"] < 0.5 * one.history[0]["train_loss"]
        assert one.history[-1]["train_loss"] == pytest.approx(other.history[-1]["train_loss"], rel=1e-2)
        assert all(w.isfinite().all() for w in one.weights.values())
        assert set(one.weights) == set(config.shapes())
    assert not torch.equal(*(state.weights["unembed.W_U"] for state in ended[ExecutionMode.SEQUENTIAL]))
