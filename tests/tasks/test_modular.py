from __future__ import annotations

import itertools
import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from modinterp.tasks import ModularArithmetic, addition, multiplication, quadratic_form, subtraction

ANSWERS = {
    addition: lambda a, b: a + b,
    subtraction: lambda a, b: a - b,
    multiplication: lambda a, b: a * b,
    quadratic_form: lambda a, b: a * a + a * b + b * b,
}


@pytest.mark.parametrize("make", ANSWERS)
@pytest.mark.parametrize("p", [2, 3, 10, 13])
def test_every_pair_once_with_the_right_answer(make, p: int) -> None:
    task = make(p)
    rows = [(*row, label) for row, (label,) in zip(task.inputs().tolist(), task.labels().tolist(), strict=True)]
    assert rows == [(a, b, p, ANSWERS[make](a, b) % p) for a, b in itertools.product(range(p), repeat=2)]
    assert (task.d_vocab, task.d_vocab_out, task.n_ctx, task.grid) == (p + 1, p, 3, (p, p))


def test_without_equals_sign() -> None:
    task = ModularArithmetic(5, equals=False)
    assert task.inputs().shape == (25, 2)
    assert (task.d_vocab, task.n_ctx) == (5, 2)


def test_split_is_the_papers_for_the_same_seed() -> None:
    pairs = [(i, j, 113) for i in range(113) for j in range(113)]
    random.seed(0)
    random.shuffle(pairs)
    split = addition(113).split(0.3, seed=0)
    assert addition(113).inputs()[split.train].tolist() == [list(pair) for pair in pairs[:3830]]
    assert len(split.test) == 8939


@given(p=st.integers(2, 20), fraction=st.floats(0.3, 1), seed=st.integers(0, 2**32))
def test_split_parts_the_inputs(p: int, fraction: float, seed: int) -> None:
    split = addition(p).split(fraction, seed)
    assert torch.equal(torch.cat(split).sort().values, torch.arange(p * p))
    assert len(split.train) == int(fraction * p * p)
    assert torch.equal(split.train, addition(p).split(fraction, seed).train)


@pytest.mark.parametrize("p", [1, 0, -3, True])
def test_bad_modulus_is_named(p) -> None:
    with pytest.raises(ValueError, match=rf"in \[2, 4096\], got {p!r}"):
        ModularArithmetic(p)


@pytest.mark.parametrize("fraction", [0.0, -0.1, 1.01, float("nan"), 1e-9])
def test_bad_fraction_is_named(fraction: float) -> None:
    with pytest.raises(ValueError, match="fraction"):
        addition(7).split(fraction, 0)


def test_unknown_operation_is_named() -> None:
    with pytest.raises(ValueError, match="op must be one of add, sub, mul, div, quadratic.*, got 'plus'"):
        ModularArithmetic(7, "plus")


def test_the_split_of_the_mlp_notebook() -> None:
    task = ModularArithmetic(113, equals=False)
    train, test = (task.inputs()[rows] for rows in task.split(0.3, 0, "torch"))
    assert (len(train), len(test)) == (3830, 8939)
    assert train[:5].tolist() == [[37, 1], [23, 9], [2, 43], [7, 34], [42, 101]]
    assert test[:5].tolist() == [[55, 55], [69, 109], [13, 17], [103, 54], [78, 112]]
    with pytest.raises(ValueError, match="unknown shuffle 'numpy'; known are python, torch"):
        task.split(0.3, 0, "numpy")
