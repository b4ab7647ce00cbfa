"""Tasks of two draws: labels held against plain loops, draws against torch's global generator."""

from __future__ import annotations

import pytest
import torch

from modinterp.models import TransformerConfig
from modinterp.tasks import ColumnSum, FirstUnique, Palindromes, SignOfSum, SortedList, StreamTask
from modinterp.tasks.description import description, task_from_description
from modinterp.training import Recipe, RunSpec

TASKS = [
    kind(size=200, held_out=30, data_seed=5) for kind in (ColumnSum, SortedList, SignOfSum, Palindromes, FirstUnique)
]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_both_draws_have_their_seeds_and_answers_stand_at_the_positions_read(task: StreamTask) -> None:
    inputs, labels = task.inputs(), task.labels()
    assert inputs.shape == (230, task.n_ctx)
    assert labels.shape == (230, task.n_read)
    assert task.read_positions[0] == task.n_ctx - task.n_read
    asked = {task.n_ctx - task.n_read + column for column in range(task.n_read) if (labels[:, column] >= 0).all()}
    assert asked == set(task.read_positions)
    assert (labels >= 0).sum() == 230 * task.n_asked
    assert torch.equal(inputs[:200], task.fresh(200, 5).inputs)
    assert torch.equal(inputs[200:], task.fresh(30, 6).inputs)
    train, test = task.split(task.share, seed=0)
    assert train.tolist() == list(range(200))
    assert test.tolist() == list(range(200, 230))
    with pytest.raises(ValueError, match="share"):
        task.split(0.5, seed=0)
    assert task_from_description(description(task)) == task


def test_digits_of_sums() -> None:
    task = TASKS[0]
    for row, label in zip(task.inputs().tolist(), task.labels().tolist(), strict=True):
        a, b, c = (int("".join(map(str, digits))) for digits in (row[:4], row[5:9], row[10:]))
        assert a + b == c < 10_000
        assert (row[4], row[9]) == (10, 11)
        assert label == [*row[10:], -1]


def test_sorted_lists_have_different_numbers() -> None:
    task = TASKS[1]
    for row, label in zip(task.inputs().tolist(), task.labels().tolist(), strict=True):
        assert row[11:] == sorted(set(row[:10]))
        assert row[10] == 51
        assert label == [*row[11:], -1]
    with pytest.raises(ValueError, match="there are not"):
        SortedList(n=10, limit=9)


def test_signs_of_running_sums_and_what_pulls_them_back() -> None:
    task = SignOfSum(size=4000, held_out=30, data_seed=5)
    assert isinstance(task, SignOfSum)
    numbers = task.numbers(task.inputs())
    back = 0
    for row, label in zip(numbers.tolist(), task.labels().tolist(), strict=True):
        assert label == [(sum(row[: k + 1]) > 0) - (sum(row[: k + 1]) < 0) + 1 for k in range(20)]
        back += sum(row[k] < 0 for k in range(1, 20) if sum(row[:k]) > 0)
    above = (numbers.cumsum(dim=1)[:, :-1] > 0).sum()
    assert abs(back / int(above) - 0.7 * 5 / 6) < 0.01  # a number of size 0 pulls nowhere


def test_the_draws_are_those_of_torchs_global_generator() -> None:
    task = TASKS[2]
    torch.manual_seed(5)
    numbers = torch.randint(-5, 6, (200, 20))
    for place in range(1, 20):
        back, size = torch.rand(200) < 0.7, torch.randint(0, 6, (200,))
        numbers[:, place] = torch.where((numbers[:, :place].sum(1) > 0) == back, -size, size)
    assert torch.equal(task.inputs()[:200], numbers % 11)


def test_trainings_of_other_data_seeds_share_their_recipe() -> None:
    tasks = [SortedList(size=20, held_out=10, data_seed=seed) for seed in (0, 1)]
    recipe = Recipe(epochs=2, fraction=tasks[0].share, log_every=1, snapshot_every=1)
    specs = [RunSpec(task, TransformerConfig.of(task), recipe, task.data_seed) for task in tasks]
    assert specs[0].shared_recipe == specs[1].shared_recipe
    assert specs[0] != specs[1]


def test_half_of_the_inputs_are_palindromes_and_others_differ_in_few_places() -> None:
    task = Palindromes(size=4000, held_out=30, data_seed=5)
    differing = []
    for row, label in zip(task.inputs().tolist(), task.labels().tolist(), strict=True):
        places = sum(row[1 + k] != row[20 - k] for k in range(10))
        differing += [places] if places else []
        assert (row[0], row[21], label[0]) == (31, 32, int(places == 0))
    assert abs(len(differing) / 4030 - 0.5) < 0.01
    assert abs(sum(differing) / len(differing) - 5 * 30 / 31) < 0.1
    with pytest.raises(ValueError, match="half of the inputs"):
        Palindromes(size=3)


def test_first_letters_that_occurred_once() -> None:
    task = TASKS[4]
    for row, label in zip(task.inputs().tolist(), task.labels().tolist(), strict=True):
        assert row[0] == 10
        for place in range(20):
            seen = row[1 : place + 1]
            assert label[place] == next((letter for letter in seen if seen.count(letter) == 1), 10)
