"""The claims on several seeds held against planted trainings, and the paper's numbers against one another."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from modinterp.claims import Result
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.sources import source
from modinterp.sources.nanda.claims.seeds import TABLE_3, TABLE_4
from modinterp.sources.nanda.runs import SEEDS
from modinterp.tasks import addition


def planted(grok: int, memorised: int = 1000, spike: int = 0, ahead: int = 2000) -> TrainedRun:
    """A run that memorises, forms its circuit so many epochs before it groks, and may have a spike of the train loss."""
    epochs = np.arange(0, 20_001, 100)
    task = addition(5)
    config = TransformerConfig.of(task, d_model=8, n_heads=1, d_head=8, d_mlp=8)

    def falls(at: int) -> np.ndarray:
        return np.where(epochs < at, 20.0, 20 * np.exp(-(epochs - at) / 150.0)) + 1e-7

    table = pd.DataFrame({
        "epoch": epochs,
        "train_loss": np.where(epochs < 300, 5.0, 1e-5) + np.where((epochs == spike) & (spike > 0), 1.0, 0.0),
        "test_loss": falls(grok), "restricted_loss_all": falls(grok - ahead),
        "restricted_accuracy": np.where(epochs >= grok - ahead, 1.0, 0.1),
        "excluded_loss_train": np.abs(epochs - memorised) + 1.0, "train_accuracy": np.where(epochs >= 300, 1.0, 0.1),
        "test_accuracy": np.where(epochs >= grok + 700, 1.0, 0.05), "cos_1": epochs / 100.0, "cos_2": epochs / 100.0,
    })  # fmt: skip
    return TrainedRun("planted", task, hooked(config, initial_weights(config, seed=0)), history=table, progress=table)


def checked(key: str, *runs: TrainedRun) -> Result:
    return source("nanda")[key].check(*runs)


def test_the_papers_numbers_agree_with_one_another() -> None:
    assert sum(len(table.rows) for table in TABLE_3.values()) == 30
    assert set(TABLE_3) == set(TABLE_4) == {1, 2, 3, 4}
    for table in TABLE_3.values():
        assert [row.wave for row in table.rows] == ["cos", "sin"] * (len(table.rows) // 2)
        for row in table.rows:
            assert row.signs_agree
            assert row.amplitude == pytest.approx((abs(row.first) + abs(row.second)) / 2, abs=0.1)
    for whole, without_keys, without_others in TABLE_4.values():
        assert without_others < whole < 1e-6 < 4.73 < without_keys


def test_every_seed_has_its_own_network() -> None:
    for seed in TABLE_3:
        for claim in source("nanda").matching(f"table[34].seed{seed}*"):
            assert claim.needs == (SEEDS[seed],)


def test_loss_curves_of_seeds_that_grok_at_their_own_time() -> None:
    runs = [planted(grok) for grok in (6000, 7000, 8000, 9000)]
    result = checked("fig18", *runs)
    assert result.verdict == "holds"
    assert result.measured["t1"] == (1000,) * 4
    assert set(result.measured["epochs by which restricted is below 1 before test"]) == {2000}
    assert all(epochs < -3000 for epochs in result.measured["epochs by which restricted is below 1 before train"])


@pytest.mark.parametrize("odd", [{"grok": 9000, "memorised": 3000}, {"grok": 9000, "ahead": -500}])
def test_one_odd_seed_refutes_alike_curves(odd: dict[str, int]) -> None:
    assert checked("fig18", *(planted(grok) for grok in (6000, 7000, 8000)), planted(**odd)).verdict == "refuted"
    assert checked("fig18", *(planted(7000) for _ in range(4))).verdict == "refuted"  # all grok at one time


def test_a_slingshot_counts_only_before_grokking() -> None:
    calm = [planted(7000) for _ in range(3)]
    assert checked("D2.unnecessary", *calm, planted(7000, spike=15_000), planted(7000, spike=3000)).verdict == "holds"
    result = checked("D2.unnecessary", planted(7000, spike=3000), *calm, planted(7000))
    assert result.verdict == "refuted"
    assert result.measured["slingshots of the main network before it groks"] == (1,)
    never = [planted(30_000) for _ in range(2)]  # calm, but they do not grok
    assert checked("D2.unnecessary", *calm, *never).verdict == "refuted"


def test_the_circuit_is_there_when_accuracy_jumps() -> None:
    result = checked("s1.grok_in_cleanup", planted(9500))
    assert result.measured["sum of the coefficients then, over its final value"][0] == pytest.approx(0.51)
    assert result.verdict == "holds"
    assert checked("s1.grok_in_cleanup", planted(8000)).verdict == "refuted"  # most of the growth is yet to come
    assert checked("s1.grok_in_cleanup", planted(9500, ahead=-1500)).verdict == "refuted"  # no circuit yet
