from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from modinterp.tasks import PrimeRemainders
from modinterp.training import accuracy, cross_entropy
from modinterp.training.loss import OutputLayout, correct, fast_losses, losses, mean_loss


def test_small_losses_survive_in_float64_and_not_in_float32() -> None:
    logits, labels = torch.tensor([[25.0, 0.0, 0.0]]), torch.tensor([0])
    assert cross_entropy(logits, labels).item() == pytest.approx(2 * math.exp(-25), rel=1e-4, abs=0)
    for dtype, small in ((torch.float64, 2 * math.exp(-25)), (torch.float32, 0), (torch.float16, 0)):
        each = losses(logits.unsqueeze(1), labels.unsqueeze(1), OutputLayout.of((3,)), dtype)
        assert each.item() == pytest.approx(small, rel=1e-4, abs=0)


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


def test_loss_of_many_heads_is_that_of_a_loop_over_them() -> None:
    task, generator = PrimeRemainders(31, masked=(2,)), torch.Generator().manual_seed(0)
    logits = (5 * torch.randn(40, 1, sum(task.output_sizes), generator=generator, dtype=torch.float64)).requires_grad_()
    labels, weights = task.labels()[:40], torch.tensor(task.loss_weights, dtype=torch.float64)
    ours = mean_loss(losses(logits, labels, OutputLayout.of(task.output_sizes)).sum(0), (labels >= 0).sum(0), weights)
    parts = logits[:, 0].split(list(task.output_sizes), dim=-1)
    looped = torch.zeros(()) + sum(
        torch.nn.functional.cross_entropy(part, labels[:, i]) / math.log(q) / len(task.output_sizes)
        for i, (q, part) in enumerate(zip(task.output_sizes, parts, strict=True))
        if q != 2
    )
    assert ours.item() == pytest.approx(looped.item(), rel=1e-12)
    by_hand = torch.autograd.grad(looped, logits)[0]
    torch.testing.assert_close(torch.autograd.grad(ours, logits)[0], by_hand, rtol=1e-10, atol=1e-15)
    assert not by_hand[..., :2].any()
    best = torch.stack([part.argmax(dim=-1) for part in parts], dim=1)
    assert torch.equal(correct(logits, labels, OutputLayout.of(task.output_sizes)), best == labels)


def test_weighted_loss_of_remainders_begins_at_one() -> None:
    task = PrimeRemainders(113)
    uniform = losses(
        torch.zeros(100, 1, sum(task.output_sizes)), task.labels()[:100], OutputLayout.of(task.output_sizes)
    )
    weights = torch.tensor(task.loss_weights, dtype=torch.float64)
    assert mean_loss(uniform.sum(0), torch.full((29,), 100), weights).item() == pytest.approx(1, rel=1e-12)


def test_answers_that_are_not_asked_for_count_nothing() -> None:
    logits = torch.randn(6, 3, 4, generator=torch.Generator().manual_seed(1))
    labels = torch.tensor([[-1, 2, 1]]).expand(6, 3)
    each = losses(logits, labels, OutputLayout.of((4,)))
    assert not each[:, 0].any()
    mean = mean_loss(each.sum(0), (labels >= 0).sum(0), torch.ones(1, dtype=torch.float64))
    assert mean.item() == pytest.approx(cross_entropy(logits[:, 1:], labels[:, 1:]).item(), rel=1e-12)


@pytest.mark.parametrize("classes", [2, 9])
def test_the_fast_loss_and_its_gradient_are_those_of_the_plain_one(classes: int) -> None:
    generator = torch.Generator().manual_seed(classes)
    logits = (30 * torch.randn(6, 3, classes, generator=generator)).requires_grad_()
    labels = torch.randint(-1, classes, (6, 3), generator=generator)
    assert (labels < 0).any()
    layout, weights = OutputLayout.of((classes,)), torch.rand(6, 3, generator=generator, dtype=torch.float64)
    plain, fast = losses(logits, labels, layout), fast_losses(logits, labels, layout)
    torch.testing.assert_close(fast, plain, rtol=1e-12, atol=1e-15)
    expected, measured = (torch.autograd.grad((each * weights).sum(), logits)[0] for each in (plain, fast))
    assert measured.dtype == logits.dtype
    torch.testing.assert_close(measured, expected, rtol=1e-6, atol=0)
    assert fast_losses(torch.tensor([[[0.0, 25.0]]]), torch.tensor([[1]]), OutputLayout.of((2,))).item() == (
        pytest.approx(math.exp(-25), rel=1e-4, abs=0)
    )
