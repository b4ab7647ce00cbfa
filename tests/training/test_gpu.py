"""The engine on a GPU: captured steps are the same steps, and the numbers are those of a CPU up to rounding."""

from __future__ import annotations

import pytest
import torch

from modinterp.models import TransformerConfig
from modinterp.tasks import addition
from modinterp.training import ExecutionMode, Recipe, RunSpec
from modinterp.training.program import Program

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")

TASK = addition(23)
CONFIG = TransformerConfig.of(TASK, d_model=32, n_heads=4, d_head=8, d_mlp=64)
STEPS = 40
MODES = [ExecutionMode.VMAPPED, ExecutionMode.SEQUENTIAL]


def program(seeds: int, device: str, mode: ExecutionMode, batches: str = "full") -> Program:
    recipe = Recipe(fraction=0.5, dropout=0.2, batches=batches, batch_size=0 if batches == "full" else 64)
    specs = [RunSpec(TASK, CONFIG, recipe, seed=seed) for seed in range(seeds)]
    return Program.at_start(specs, torch.device(device), mode)


@pytest.mark.parametrize("batches", ["full", "shuffled", "fresh"])
@pytest.mark.parametrize("mode", MODES)
def test_captured_steps_and_rows_are_those_taken_one_by_one(mode: ExecutionMode, batches: str) -> None:
    plain, captured = program(3, "cuda", mode, batches), program(3, "cuda", mode, batches)
    plain._take_step, plain._measure = plain._step, plain._row_values
    for _ in range(STEPS // 5):
        plain.advance(5)
        captured.advance(5)
        assert captured.rows() == plain.rows()
    assert torch.equal(plain.weights, captured.weights)


@pytest.mark.parametrize("mode", MODES)
def test_the_same_training_has_the_same_bits(mode: ExecutionMode) -> None:
    first, second = program(3, "cuda", mode), program(3, "cuda", mode)
    first.advance(STEPS)
    second.advance(STEPS)
    assert torch.equal(first.weights, second.weights)


@pytest.mark.parametrize("mode", MODES)
def test_numbers_are_those_of_a_cpu_up_to_rounding(mode: ExecutionMode) -> None:
    there, here = program(2, "cuda", mode), program(2, "cpu", mode)
    there.advance(STEPS)
    here.advance(STEPS)
    torch.testing.assert_close(there.weights.cpu(), here.weights, rtol=1e-3, atol=1e-4)
    for ours, theirs in zip(here.rows(), there.rows(), strict=True):
        assert theirs == pytest.approx(ours, rel=1e-3)


def test_company_changes_mapped_numbers_by_rounding_alone() -> None:
    alone, together = (program(runs, "cuda", ExecutionMode.VMAPPED) for runs in (1, 5))
    alone.advance(STEPS)
    together.advance(STEPS)
    torch.testing.assert_close(together.weights[:1], alone.weights, rtol=1e-3, atol=1e-4)


def test_company_beside_one_another_changes_not_a_bit() -> None:
    alone, together = (program(runs, "cuda", ExecutionMode.SEQUENTIAL) for runs in (1, 5))
    alone.advance(STEPS)
    together.advance(STEPS)
    assert torch.equal(together.weights[:1], alone.weights)
