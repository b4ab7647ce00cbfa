"""Operations other than addition: their answers, and which of them are addition under other names."""

from __future__ import annotations

import itertools

import pytest
import torch

from modinterp.tasks import (
    Group,
    ModularArithmetic,
    ModularSum,
    Task,
    addition,
    cyclic,
    division,
    multiplication,
    quadratic_form,
    subtraction,
)

SHUFFLED = [3, 0, 4, 1, 2]  # the cyclic group of 5 under other names
C5 = [[SHUFFLED[(SHUFFLED.index(a) + SHUFFLED.index(b)) % 5] for b in range(5)] for a in range(5)]


@pytest.mark.parametrize(
    "task",
    [addition(7), subtraction(6), multiplication(11), multiplication(9), division(13), Group.of_table(C5)],
    ids=str,
)
def test_what_is_addition_under_other_names(task: Task) -> None:
    found = cyclic(task)
    assert found is not None
    assert task.grid is not None
    labels, order = task.labels().view(task.grid[0], -1), found.order
    i = torch.arange(found.n)
    assert torch.equal(labels[order][:, order], order[(i[:, None] + found.sign * i) % found.n])


@pytest.mark.parametrize("task", [quadratic_form(7), multiplication(8), Group("S3"), ModularSum(5)], ids=str)
def test_what_is_not(task: Task) -> None:
    assert cyclic(task) is None


def test_division_is_right_wherever_it_is_defined() -> None:
    for p in (7, 9):
        for (a, b), (c,) in zip(itertools.product(range(p), repeat=2), division(p).labels().tolist(), strict=True):
            answers = [x for x in range(p) if x * b % p == a]
            assert c == (answers[0] if pow_exists(b, p) else -1)


def pow_exists(b: int, p: int) -> bool:
    return any(b * x % p == 1 for x in range(p))


def test_three_numbers_are_added() -> None:
    task = ModularSum(4)
    assert task.labels()[:, 0].tolist() == [sum(abc) % 4 for abc in itertools.product(range(4), repeat=3)]
    assert (task.n_ctx, task.d_vocab, task.grid, task.name) == (4, 5, (4, 4, 4), "a + b + c mod 4")


def test_vocabularies_are_one_or_two() -> None:
    with pytest.raises(ValueError, match=r"vocabularies must be a whole number in \[1, 2\], got 0"):
        ModularArithmetic(7, vocabularies=0)
