"""Tasks whose inputs are drawn: the labels are right, the sample is distinct and the same everywhere."""

from __future__ import annotations

import pytest
import torch

from modinterp.tasks import DigitAddition, Ordering, RepeatedSubsequence, SkipTrigram, addition
from modinterp.tasks.sampled import SampledTask, first_occurrences

TASKS = [DigitAddition(size=50), RepeatedSubsequence(size=50, length=30, subsequence=5, copies=3), SkipTrigram(size=50),
         *(Ordering(ask, size=50) for ask in ("max", "min", "median", "sort"))]  # fmt: skip


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_samples_are_distinct_repeatable_and_of_the_stated_shape(task: SampledTask) -> None:
    inputs, labels = task.inputs(), task.labels()
    assert inputs.shape == (50, task.n_ctx)
    assert labels.shape == (50, task.n_read)
    assert ((labels >= 0).sum(dim=1) == task.n_asked).all()
    assert len(inputs.unique(dim=0)) == 50
    assert inputs.min() >= 0
    assert inputs.max() < task.d_vocab
    assert labels.max() < sum(task.output_sizes)
    assert torch.equal(inputs, type(task)(**vars(task)).inputs())
    fresh = task.fresh(10, seed=3)
    assert torch.equal(fresh.inputs, task.fresh(10, seed=3).inputs)
    assert not torch.equal(fresh.inputs, task.fresh(10, seed=4).inputs)


def test_sums_of_digits() -> None:
    task = DigitAddition(digits=5, size=200)
    for row, label in zip(task.inputs().tolist(), task.labels().tolist(), strict=True):
        assert (row[5], row[11]) == (10, 11)
        a, b = (int("".join(map(str, digits))) for digits in (row[:5], row[6:11]))
        assert "".join(map(str, label)) == f"{a + b:06d}"
        assert row[12:] == label[:-1]


def test_repeated_subsequences_are_asked_for_after_their_first_copy() -> None:
    task = RepeatedSubsequence(size=100, length=40, subsequence=6, copies=3, vocab=1000)
    for row, label in zip(task.inputs().tolist(), task.labels().tolist(), strict=True):
        asked = [place for place, token in enumerate(label) if token >= 0]
        assert len(asked) == 2 * 5
        for place in asked:
            if place + 1 < len(row):
                assert label[place] == row[place + 1]
            earlier = [i for i in range(place) if row[i] == row[place]]
            assert any(row[i + 1] == label[place] for i in earlier), "an earlier copy tells what comes next"


def test_skip_trigrams_ask_for_their_one_large_token() -> None:
    task = SkipTrigram(size=300, length=6)
    large = task.inputs() >= 10
    assert (large.sum(dim=1) == 1).all()
    assert not large[:, -1].any()
    assert torch.equal(task.inputs()[large] - 10, task.labels()[:, 0])


@pytest.mark.parametrize(
    ("ask", "by_hand"), [("max", max), ("min", min), ("median", lambda x: sorted(x)[(len(x) - 1) // 2])]
)
@pytest.mark.parametrize("n", [1, 4, 5])
def test_one_number_of_several(ask: str, by_hand, n: int) -> None:
    task = Ordering(ask, n=n, limit=60, size=40)
    assert task.labels()[:, 0].tolist() == [by_hand(row[:n]) for row in task.inputs().tolist()]
    assert (task.inputs()[:, -1] == 60).all()


def test_sorting_token_by_token() -> None:
    task = Ordering("sort", n=4, limit=30, size=50)
    for row, label in zip(task.inputs().tolist(), task.labels().tolist(), strict=True):
        assert label == sorted(row[:4])
        assert row[4:] == [30, *label[:-1]]


def test_a_share_of_small_numbers() -> None:
    inputs = Ordering("max", size=4000, small_share=0.25).inputs()[:, :5]
    assert (inputs.amax(dim=1) < 20).double().mean().item() == pytest.approx(0.25, abs=0.03)
    assert (Ordering("max", size=4000).inputs()[:, :5].amax(dim=1) < 20).double().mean().item() < 0.01


def test_test_sets_of_both_kinds_hold_no_excluded_inputs() -> None:
    task = Ordering("max", n=2, limit=30, size=600, small_limit=6)
    excluded = task.inputs()[:500]
    taken = set(map(tuple, excluded.tolist()))
    for below in (None, 6):
        test_set = task.unseen(100, 5, excluded, below)
        rows = list(map(tuple, test_set.inputs.tolist()))
        assert len(set(rows)) == len(rows)
        assert not taken & set(rows)
        assert test_set.inputs[:, :2].max() < (below or 30)
        assert test_set.labels[:, 0].tolist() == [max(row[:2]) for row in rows]
        assert torch.equal(test_set.inputs, task.unseen(100, 5, excluded, below).inputs)
    everything = task.examples(torch.cartesian_prod(torch.arange(6), torch.arange(6)))
    assert task.unseen(10, 0, everything.inputs, 6).inputs.shape == (0, 3)
    with pytest.raises(ValueError, match="numbers below 31"):
        task.unseen(10, 0, excluded, 31)


@pytest.mark.parametrize(("below", "columns"), [(3, 2), (100, 10), (7, 40), (1, 3)])
def test_first_occurrences_are_those_of_a_plain_loop(below: int, columns: int) -> None:
    few = torch.randint(below, (50, columns), generator=torch.Generator().manual_seed(0))
    rows = few[torch.randint(50, (200,), generator=torch.Generator().manual_seed(1))]
    first = {tuple(row): place for place, row in reversed(list(enumerate(rows.tolist())))}
    assert first_occurrences(rows).tolist() == sorted(first.values())
    assert first_occurrences(rows[:0]).tolist() == []


def test_too_large_a_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="too few different inputs for a sample of 100"):
        Ordering("max", n=1, limit=10, size=100).inputs()


@pytest.mark.parametrize("bad", [lambda: Ordering("mode"), lambda: Ordering("max", n=0), lambda: SkipTrigram(length=1),
                                 lambda: Ordering("max", small_share=2.0), lambda: DigitAddition(digits=0),
                                 lambda: RepeatedSubsequence(length=10), lambda: DigitAddition(size=1)])  # fmt: skip
def test_tasks_that_cannot_be_are_refused(bad) -> None:
    with pytest.raises(ValueError, match="unknown|drawn|must|do not fit|share|size"):
        bad()


def test_fresh_inputs_of_a_grid_are_rows_of_it() -> None:
    fresh = addition(7).fresh(100, seed=0)
    assert torch.equal(fresh.labels[:, 0], fresh.inputs[:, :2].sum(dim=1) % 7)


def test_an_order_asked_at_one_rank_has_one_label_an_input() -> None:
    """Each rank is asked of a fifth of the inputs, the label is the full order's, and the inputs are the same."""
    full, one = Ordering("sort", size=4000), Ordering("sort", size=4000, asked=1)
    labels, asked = one.labels(), one.labels() >= 0
    assert asked.sum(dim=1).unique().tolist() == [1]
    assert ((asked.double().mean(dim=0) - 0.2).abs() < 0.03).all()
    assert torch.equal(labels[asked], full.answers(one.inputs())[asked])
    assert one.n_asked == 1
    assert one.output_names == ()
    with pytest.raises(ValueError, match="at most 1"):
        Ordering("max", asked=2)
