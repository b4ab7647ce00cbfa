"""Accuracy and loss of float32 logits are those of float64, for small losses and large ones."""

import math

import pytest
import torch
from torch.nn.functional import cross_entropy

from modinterp.measurements.score import Each


@pytest.mark.parametrize("size", [0.1, 10.0, 300.0])
def test_float32_gives_the_loss_of_float64(size: float) -> None:
    generator = torch.Generator().manual_seed(0)
    logits, answers = size * torch.randn(200, 31, generator=generator), torch.randint(31, (200,), generator=generator)
    logits[torch.arange(100), answers[:100]] = logits[:100].amax(dim=1) + 0.5  # right, by more or less
    found = Each.of(iter(logits.split(64)), answers)
    assert torch.equal(found.given, logits.argmax(dim=1))
    assert torch.equal(found.right, logits.argmax(dim=1) == answers)
    wanted = cross_entropy(logits.double(), answers, reduction="none")
    torch.testing.assert_close(found.loss, wanted, rtol=1e-5, atol=1e-14)


def test_a_loss_far_below_the_rounding_of_float32_is_kept() -> None:
    found = Each.of([torch.tensor([[0.0, 30.0, 1.0]])], torch.tensor([1]))
    assert math.isclose(float(found.loss), math.log1p(math.exp(-30) + math.exp(-29)), rel_tol=1e-6)


def test_infinite_logits_give_a_loss_that_is_not_finite() -> None:
    for value in (torch.inf, torch.nan):
        found = Each.of([torch.tensor([[0.0, value, 1.0]])], torch.tensor([1]))
        assert not found.loss.isfinite().any()
