"""Loss curves with known slingshots, drops and peaks."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modinterp.analyses.training import phases
from modinterp.analyses.training.curves import largest_drop, peak, rank_correlation, slingshots, time_to_fall

EPOCHS = pd.Series(range(0, 1000, 10))


def test_a_dozen_epochs_are_spread_over_the_phases() -> None:
    chosen = phases.Phases(1400.0, 9400.0, 14_000.0, 3.0).dozen_of(range(0, 40_001, 100))
    assert len(chosen) == 13
    assert {0, 1400, 9400, 14_000, 40_000} <= set(chosen)
    assert phases.Phases(*[math.nan] * 4).dozen_of([0, 100]) == [0, 100]


def test_slingshots_are_counted_once_each() -> None:
    loss = pd.Series(np.full(100, 1e-5))
    loss[:5] = 4.0  # before it was ever low
    loss[[30, 31, 32]] = [2e-3, 5e-2, 1.0]  # one, on its way up through the middle
    loss[60] = 5e-3  # not high enough
    loss[[80, 81, 82]] = [2e-2, 5e-3, 2e-2]  # one: it did not come down in between
    assert slingshots(EPOCHS, loss).tolist() == [310, 800]


def test_a_loss_that_was_never_low_does_not_spring_up() -> None:
    assert len(slingshots(EPOCHS, pd.Series(np.tile([2e-3, 1.0], 50)))) == 0
    assert len(slingshots(EPOCHS, pd.Series(np.tile([5e-4, 1.0], 50)))) == 50
    assert len(slingshots(EPOCHS, pd.Series(np.tile([5e-4, 1.0], 50)), low=1e-5)) == 0


def test_the_largest_drop_is_the_planted_one() -> None:
    loss = pd.Series(np.full(100, 3.0))
    loss[40:] = 2.5
    loss[70:72] = [2.0, 1.0]
    loss[72:] = 0.5
    found = largest_drop(EPOCHS, loss, within=30)
    assert (found.size, found.start, found.end) == (2.0, 690, 720)
    assert largest_drop(EPOCHS, loss, within=10).size == 1.0
    assert largest_drop(EPOCHS, loss, within=10_000).size == 2.5
    assert math.isnan(largest_drop(EPOCHS[:1], loss[:1], within=1e9).size)
    assert math.isnan(largest_drop(EPOCHS, loss, within=5).size)


def test_rows_need_not_be_evenly_spaced() -> None:
    epochs, loss = pd.Series([0, 1, 2, 500, 510]), pd.Series([4.0, 3.5, 3.0, 1.5, 0.0])
    assert largest_drop(epochs, loss, within=20).size == 1.5
    assert largest_drop(epochs, loss, within=499).size == 2.0


def test_time_to_fall_is_from_the_last_row_above() -> None:
    loss = pd.Series(np.r_[np.full(20, 2.0), 0.5, 1.6, np.full(3, 1.0), np.full(75, 0.1)])
    assert time_to_fall(EPOCHS, loss, 1.5, 0.3) == 40
    assert math.isnan(time_to_fall(EPOCHS, loss, 1.5, 0.01))
    assert math.isnan(time_to_fall(EPOCHS, loss, 10.0, 0.3))


def test_peak_and_what_comes_after_it() -> None:
    loss = pd.Series(np.r_[0.1, np.full(49, 2.0), 8.0, np.full(49, 1.0)])
    found = peak(EPOCHS, loss)
    assert (found.height, found.epoch, found.share_lost) == (8.0, 500, pytest.approx(1 - 1 / 8))


def test_ranks_know_order_alone_and_leave_out_what_is_missing() -> None:
    assert rank_correlation([1, 2, 3, 4], [1, 10, 100, 1000]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3, 4], [9, 4, math.nan, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 1, 2, 3], [1, 1, 2, 3]) == pytest.approx(1)
    assert math.isnan(rank_correlation([1, 2, 3], [1, math.nan, 2]))
    assert math.isnan(rank_correlation([1, 2, 3], [5, 5, 5]))
    assert rank_correlation([1, 2, 3], [7, math.inf, math.inf]) == pytest.approx(0.75**0.5)  # never comes last, twice


@given(st.permutations(range(8)))
def test_rank_correlation_by_its_definition(order: list[int]) -> None:
    n = len(order)
    by_hand = 1 - 6 * sum((i - place) ** 2 for i, place in enumerate(order)) / (n * (n * n - 1))
    assert rank_correlation(range(n), order) == pytest.approx(by_hand, abs=1e-9)


def test_phases_of_snapshots_too_far_apart_say_so() -> None:
    def progress(every: int) -> pd.DataFrame:
        epochs = np.arange(0, 4001, every)
        test = np.where(epochs < 2000, 5.0, np.where(epochs < 2400, 1.0, 0.01))
        accuracy = np.where(epochs < 2400, 0.1, 1.0)
        excluded = np.abs(epochs - 1000) / 1000
        return pd.DataFrame(
            {"epoch": epochs, "test_loss": test, "test_accuracy": accuracy, "excluded_loss_train": excluded}
        )

    fine, coarse = phases.phases(progress(50)), phases.phases(progress(1000))
    assert (fine.memorisation_ended, fine.formed, fine.cleaned) == (1000, 2000, 2400)
    assert (fine.apart, fine.is_coarse) == (50, False)
    assert fine.words == "boundaries at epochs 1,000, 2,000 and 2,400"
    assert (coarse.apart, coarse.is_coarse) == (1000, True)
    assert "uncertain because snapshots are 1,000 epochs apart" in coarse.words
