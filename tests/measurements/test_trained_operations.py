"""Numbers of networks that were trained to subtract, to multiply and to compose permutations, computed with numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import modinterp as mi
from modinterp.measurements import PairMeasurements
from modinterp.models import MLPConfig, TransformerConfig
from modinterp.tasks import Group, ModularArithmetic
from modinterp.training import Recipe, RunSpec

pytestmark = pytest.mark.long
P, EPOCHS = 13, 300
SUB, MUL, S4 = ModularArithmetic(P, "sub"), ModularArithmetic(P, "mul"), Group("S4", vocabularies=2)
MODELS = {
    "sub": TransformerConfig.of(SUB, d_model=32, n_heads=2, d_head=16, d_mlp=64),
    "mul": MLPConfig.of(MUL, d_model=32, d_mlp=64),
    "s4": MLPConfig.of(S4, d_model=32, d_mlp=64, joined="concatenated"),
}
Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one trained run of each operation."""
    recipe = Recipe(fraction=0.9, epochs=EPOCHS, lr=3e-3, log_every=100)
    tasks = {"sub": SUB, "mul": MUL, "s4": S4}
    specs = {f"mine/{name}": RunSpec(tasks[name], model, recipe, seed=0) for name, model in MODELS.items()}
    out = tmp_path_factory.mktemp("trained")
    mi.train(specs, out=out, progress=False)
    return out


def logits_of(m: PairMeasurements) -> Array:
    """Logits on all pairs, in the order of the task."""
    with torch.no_grad():
        logits = m.model.in_float64()(m.task.inputs())[:, -1].numpy()
    return logits.reshape(*m.task.grid, -1)


def mean_loss(logits: Array, answers: NDArray[np.int64]) -> float:
    shifted = logits - logits.max(axis=2, keepdims=True)
    own = np.take_along_axis(shifted, answers[:, :, None], axis=2)[:, :, 0]
    return float((np.log(np.exp(shifted).sum(axis=2)) - own).mean())


def waves(freqs: tuple[int, ...], n: int) -> Array:
    """Projection onto the waves of some frequencies, as a function of two numbers that are n apart at most."""
    angles = 2 * np.pi * np.subtract.outer(np.arange(n), np.arange(n)) / n
    return np.sum([np.cos(k * angles) * (1 if 2 * k == n else 2) / n for k in freqs], axis=0)


@pytest.mark.parametrize("op", ["sub", "mul"])
def test_losses_without_and_with_keys_alone_are_those_of_the_operation(op: str, folder: Path) -> None:
    m = mi.measure(mi.load(f"mine/{op}", root=folder))
    order = np.arange(P) if op == "sub" else np.array([pow(2, i, P) for i in range(P - 1)])  # 2 generates them
    logits, n = logits_of(m)[order][:, order][:, :, order], len(order)
    i, j = np.indices((n, n))
    answers = (i - j) % n if op == "sub" else (i + j) % n
    means = np.stack([logits[answers == s].mean(axis=0) for s in range(n)])
    part = (waves(m.freqs, n) @ means)[answers]
    assert len(m.freqs) > 0
    assert m["excluded_loss"] == pytest.approx(mean_loss(logits - part, answers), rel=1e-6)
    assert m["restricted_loss"] == pytest.approx(mean_loss(part + logits.mean(axis=(0, 1)), answers), rel=1e-6)
    assert m["loss"] < m["excluded_loss"], "without the waves of its own operation it is worse"


def test_losses_without_and_with_key_representations_are_those_of_the_group(folder: Path) -> None:
    m = mi.measure(mi.load("mine/s4", root=folder))
    logits, table = logits_of(m), S4.table.numpy()
    n, one = len(table), int(np.flatnonzero((table == np.arange(len(table))).all(axis=1))[0])
    inverse = np.array([int(np.flatnonzero(row == one)[0]) for row in table])
    means = np.stack([logits[table == g].mean(axis=0) for g in range(n)])
    characters = sum(rho.dim * rho.character.numpy() for rho in m.keys) / n
    part = (characters[table[inverse].T] @ means)[table]  # a character does not change with the order of a product
    assert 0 < len(m.keys) < len(m.irreps)
    assert m["excluded_loss"] == pytest.approx(mean_loss(logits - part, table), rel=1e-6)
    assert m["restricted_loss"] == pytest.approx(mean_loss(part + logits.mean(axis=(0, 1)), table), rel=1e-6)


@pytest.mark.parametrize("op", MODELS)
def test_measure_and_explain_give_trained_networks_the_same_numbers(op: str, folder: Path) -> None:
    run = mi.load(f"mine/{op}", root=folder)
    m, explained = mi.measure(run, draws=99), mi.explain(run, draws=99)
    for row in explained.rows:
        value = m.reading(row.key).value
        assert value == row.value or value == pytest.approx(row.value, rel=1e-12, nan_ok=True), row.key
    assert {"test_loss", "excluded_loss", "logit_fve_row", "p_value_energy"} <= {row.key for row in explained.rows}
