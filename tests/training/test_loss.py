from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from modinterp.training import accuracy, cross_entropy


def test_small_losses_survive_in_float64_and_not_in_float32() -> None:
    logits, labels = torch.tensor([[25.0, 0.0, 0.0]]), torch.tensor([0])
    assert cross_entropy(logits, labels).item() == pytest.approx(2 * math.exp(-25), rel=1e-4, abs=0)
    assert cross_entropy(logits, labels, torch.float32).item() == 0


@given(n=st.integers(1, 20), classes=st.integers(2, 50), seed=st.integers(0, 1000))
def test_cross_entropy_by_its_definition(n: int, classes: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(n, classes, generator=generator, dtype=torch.float64)
    labels = torch.randint(classes, (n,), generator=generator)
    by_hand = -(logits.exp() / logits.exp().sum(dim=1, keepdim=True))[torch.arange(n), labels].log().mean()
    assert cross_entropy(logits, labels).item() == pytest.approx(by_hand.item(), rel=1e-10)


def test_uniform_logits_cost_the_logarithm_of_the_number_of_classes() -> None:
    assert cross_entropy(torch.zeros(4, 113), torch.arange(4)).item() == pytest.approx(math.log(113))


def test_accuracy_counts_nan_as_wrong() -> None:
    logits = torch.tensor([[0.0, 1.0], [1.0, 0.0], [torch.nan, 0.0]])
    assert accuracy(logits, torch.tensor([1, 1, 0])) == pytest.approx(1 / 3)
