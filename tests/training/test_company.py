"""A run gives the same numbers alone and among others, one after the other and mapped over."""

from __future__ import annotations

import pandas as pd
import pytest
import torch

from modinterp.models import MLPConfig, TransformerConfig
from modinterp.tasks import ModularArithmetic, Task, addition
from modinterp.training import ExecutionMode, Recipe, RunSpec, TrainingState, training_states

SIZES: dict[str, int] = {"d_model": 16, "n_heads": 2, "d_head": 8, "d_mlp": 32}


def spec(seed: int = 0, task: Task | None = None, **recipe) -> RunSpec:
    task = task or addition(13)
    given = {"epochs": 60, "log_every": 10, "snapshot_every": 60} | recipe
    return RunSpec(task, TransformerConfig.of(task, **SIZES), Recipe(**given), seed)


VARIED = [
    spec(),
    spec(1, fraction=0.6),
    spec(2, weight_decay=0.0, l1=0.1),
    spec(3, lr=1.5e-3, warmup=0, betas=(0.9, 0.999)),
    spec(4, dropout=0.5, fraction=0.2),
    spec(5, residual_dropout=0.1),
    spec(6, grokfast=0.5, grokfast_start="gradient"),
    spec(7, l1=1.0, l1_of="mean", epochs=40),
    *(spec(seed, fraction=0.2 + seed / 50, weight_decay=seed / 10, dropout=seed / 100) for seed in range(8, 33)),
]


def trained(specs: list[RunSpec], mode: ExecutionMode) -> list[TrainingState]:
    """Last states, in the order of the specs."""
    last = {run: state for run, state in training_states(specs, device="cpu", mode=mode) if state.ended}
    return [last[run] for run in range(len(specs))]


def assert_alike(one: TrainingState, other: TrainingState, rel: float) -> None:
    ours, theirs = pd.DataFrame(one.history), pd.DataFrame(other.history)
    assert list(ours) == list(theirs)
    assert len(ours) == len(theirs) == 1 + one.epoch // 10
    for column in ours:
        assert ours[column].tolist() == pytest.approx(theirs[column].tolist(), rel=rel, abs=1e-7, nan_ok=True), column


@pytest.fixture(scope="module")
def company() -> dict[ExecutionMode, list[TrainingState]]:
    return {
        ExecutionMode.VMAPPED: trained(VARIED, ExecutionMode.VMAPPED),
        ExecutionMode.SEQUENTIAL: trained(VARIED[:8], ExecutionMode.SEQUENTIAL),
    }


def softmax_depends_on_company() -> bool:
    """Whether torch's softmax of one run's scores has other last bits beside those of other runs, on this CPU."""
    scores = torch.randn(4, 3, 50, 2, generator=torch.Generator().manual_seed(0))
    return not torch.equal(scores.softmax(dim=1)[:1], scores[:1].softmax(dim=1))


@pytest.mark.parametrize("mode", [ExecutionMode.SEQUENTIAL, ExecutionMode.VMAPPED])
def test_among_runs_of_the_same_size_not_a_bit_differs(mode: ExecutionMode) -> None:
    """A learning rate at which rounding grows ten thousandfold in 200 epochs."""
    if mode is ExecutionMode.VMAPPED and softmax_depends_on_company():
        pytest.skip("torch's softmax of several runs has other last bits than that of one on this CPU")
    specs = [spec(s, epochs=200, lr=3e-3, warmup=0, betas=(0.9, 0.999), weight_decay=s / 3) for s in range(4)]
    company = trained(specs, mode)
    for run in (0, 3):
        (alone,) = trained([specs[run]], mode)
        assert alone.history == company[run].history
        assert all(torch.equal(w, company[run].weights[name]) for name, w in alone.weights.items())


@pytest.mark.parametrize("mode", [ExecutionMode.SEQUENTIAL, ExecutionMode.VMAPPED])
@pytest.mark.parametrize("run", range(8))
def test_alone_or_among_32_others(
    company: dict[ExecutionMode, list[TrainingState]], run: int, mode: ExecutionMode
) -> None:
    (alone,) = trained([VARIED[run]], mode)
    assert_alike(alone, company[mode][run], rel=1e-5)


@pytest.mark.parametrize("run", range(8))
def test_one_by_one_or_mapped_over(company: dict[ExecutionMode, list[TrainingState]], run: int) -> None:
    assert_alike(company[ExecutionMode.SEQUENTIAL][run], company[ExecutionMode.VMAPPED][run], rel=1e-3)


def test_the_grokking_epoch_is_the_same_in_company() -> None:
    """Runs that grok within a few hundred epochs: small chaos has had the time to grow."""
    task = ModularArithmetic(31, equals=False)
    config = MLPConfig.of(task, d_model=32, d_mlp=128)
    recipe = Recipe(epochs=350, log_every=10, snapshot_every=350, fraction=0.6, lr=1e-2, warmup=0)
    specs = [RunSpec(task, config, recipe, seed) for seed in range(9)]

    def grokking_epoch(state: TrainingState) -> int:
        return next(int(row["epoch"]) for row in state.history if row["test_accuracy"] >= 0.9)

    company = trained(specs, ExecutionMode.VMAPPED)
    for run in (0, 7):
        (alone,) = trained([specs[run]], ExecutionMode.VMAPPED)
        assert 100 < grokking_epoch(alone) == grokking_epoch(company[run])
