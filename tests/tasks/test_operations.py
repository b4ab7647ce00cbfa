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
from modinterp.tasks.cyclic import is_sum_of_functions
from modinterp.tasks.polynomials import as_polynomial

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


def test_polynomials_are_operations() -> None:
    task = ModularArithmetic(7, "b+a^2 - 3")
    assert (task.op, task.name) == ("a^2 + b - 3", "a^2 + b - 3 mod 7")
    a, b = torch.cartesian_prod(torch.arange(7), torch.arange(7)).unbind(1)
    assert torch.equal(task.answers(), (a * a + b - 3) % 7)
    assert ModularArithmetic(7, "a^2 + b a + b^2") == quadratic_form(7)
    assert (ModularArithmetic(7, "b + a"), ModularArithmetic(7, "a - b")) == (addition(7), subtraction(7))
    for text in ("a +", "a + + b", "7", "x + b", "a^^2", "a^10", "* a"):
        with pytest.raises(ValueError, match="op must be one of"):
            ModularArithmetic(7, text)


def test_which_operations_are_sums_of_a_function_of_each_number() -> None:
    sums = ("add", "sub", "squares", "a^2 + b", "3a^3 - 2b", "3a + 5")
    assert all(is_sum_of_functions(ModularArithmetic(11, op)) for op in sums)
    assert not any(
        is_sum_of_functions(ModularArithmetic(11, op)) for op in ("mul", "div", "quadratic", "cubic", "a^2b + b")
    )
    assert not is_sum_of_functions(ModularSum(5))


def test_a_function_is_known_as_a_polynomial_of_third_degree_or_less() -> None:
    x = torch.arange(11)
    assert as_polynomial((4 * x**3 + 10 * x + 2) % 11, 11) == (2, 10, 0, 4)
    assert as_polynomial(x**4 % 11, 11) is None
    assert as_polynomial(torch.arange(9), 9) is None
