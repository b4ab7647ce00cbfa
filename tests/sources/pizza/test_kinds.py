"""Every kind of network that the source trains, or its sweeps draw, learns an epoch and goes in and out of files."""

from __future__ import annotations

from dataclasses import asdict
from itertools import product
from pathlib import Path

import pytest
import torch

from modinterp import runs
from modinterp.models import ForwardPass, MLPConfig, TransformerConfig
from modinterp.models.config import Config
from modinterp.runs import store
from modinterp.tasks import ModularArithmetic
from modinterp.training import Recipe, RunSpec


def config(task: ModularArithmetic, kind: tuple) -> Config:
    if kind[0] == "linear":
        _, n_layers, joined = kind
        return MLPConfig.of(task, d_model=8, d_mlp=16, n_layers=n_layers, joined=joined, mlp_biases=True, init="linear")
    n_layers, act_fn = kind
    sizes = {"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 32, "attention_rate": 0.5, "causal": False}
    return TransformerConfig.of(task, n_layers=n_layers, act_fn=act_fn, init="W_in 1/sqrt(d_mlp)", **sizes)


LINEAR = [("linear", 1, "sum"), ("linear", 2, "sum"), ("linear", 2, "sum after W_in"), ("linear", 1, "concatenated")]
KINDS = [
    *(((n, act), eq, voc) for n, act, eq, voc in product((1, 2, 3, 4), ("relu", "gelu"), (True, False), (1, 2))),
    *((kind, False, voc) for kind, voc in product(LINEAR, (1, 2))),
]


@pytest.mark.parametrize(("kind", "equals", "vocabularies"), KINDS)
def test_a_kind_is_trained_and_goes_in_and_out_of_files(
    tmp_path: Path, kind: tuple, equals: bool, vocabularies: int
) -> None:
    task = ModularArithmetic(7, "add", equals=equals, vocabularies=vocabularies)
    spec = RunSpec(task, config(task, kind), Recipe(epochs=1, fraction=0.8, shuffle="torch", weight_decay=2), seed=1)
    runs.train({"mine/kind": spec}, out=tmp_path, progress=False)
    run = runs.load("mine/kind", root=tmp_path)
    assert len(run.history) == 2
    weights = run.network.state_dict()
    store.write_weights(tmp_path / "kind.safetensors", weights)
    torch.save(dict(weights), tmp_path / "kind.pt")
    for file in ("kind.safetensors", "kind.pt"):
        read = runs.load(tmp_path / file, task, **asdict(ForwardPass.of(spec.model)))
        torch.testing.assert_close(read.activations()["logits"], run.activations()["logits"], rtol=0, atol=0)
