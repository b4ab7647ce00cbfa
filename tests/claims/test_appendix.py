"""Claims of the appendices held against trainings with a known course; each must be able to hold and to fail."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from modinterp.claims import Claim, nanda
from modinterp.claims.band import at_least, equals
from modinterp.claims.nanda.rows import TABLE_5, TABLE_6
from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun, named
from modinterp.tasks import addition

SMALL = addition(5)
CONFIG = TransformerConfig.of(SMALL, d_model=8, n_heads=1, d_head=8, d_mlp=8)


def trained(name: str, memorised: float = 200, grokked: float = math.inf, epochs: int = 40_000, peak: float = 20.0,
            every: int = 100, spring: tuple[int, ...] = ()) -> TrainedRun:  # fmt: skip
    """A run by the recipe of the catalogue that memorises, generalises and springs up at known epochs."""
    epoch = np.arange(0, epochs + 1, every)

    def fallen(at: float) -> np.ndarray:
        return np.clip(epoch - at + every, 0, None) / every

    train, late = 4.7 * 10.0 ** -np.clip(fallen(memorised) * 3, 0, 8), fallen(grokked)
    test = np.where(late > 0, peak * 10.0 ** -np.clip(late * 3, 0, 9), np.where(epoch > 0, peak, min(4.8, peak)))
    train[np.isin(epoch, spring)] = 1.0
    history = pd.DataFrame({
        "epoch": epoch, "train_loss": train, "test_loss": test, "train_accuracy": np.where(epoch < memorised, 0.1, 1.0),
        "test_accuracy": np.where(epoch < grokked, 0.1, 1.0), "sum_of_squared_weights": 100.0,
    })  # fmt: skip
    spec = replace(named(name), task=SMALL, model=CONFIG)
    return TrainedRun(name, SMALL, hooked(CONFIG, initial_weights(CONFIG, seed=0)), spec, history)


def check(key: str, *runs: TrainedRun):
    return nanda[key].check_available({run.name: run for run in runs})


GROKKING = {10: math.inf, 20: math.inf, 30: 9000, 40: 2000, 50: 700, 60: 500, 70: 400, 80: 300, 90: 250}


def fractions(grokked: dict[int, float] = GROKKING) -> list[TrainedRun]:
    return [
        trained("nanda/mainline-0" if percent == 30 else f"nanda/fraction-{percent}-0", grokked=at, every=10,
                peak=20.0 - percent / 10)
        for percent, at in grokked.items()
    ]  # fmt: skip


def test_a_sweep_over_fractions_as_the_paper_tells_it() -> None:
    for key in ("fig20", "fig21", "C22.frac_smaller_slower", "E1.no_grok_if_together"):
        result = check(key, *fractions())
        assert result.verdict == "holds", str(result)
    assert check("fig20", *fractions()).measured["fractions"] == (9,)
    assert check("fig20", *fractions()).measured["epochs from memorising to generalising, 40%"] == (1800,)


@pytest.mark.parametrize("changed", [{10: 5000}, {40: 900}, {60: 1500}, {60: math.inf}])
def test_one_fraction_out_of_line_refutes_it(changed: dict[int, float]) -> None:
    assert check("fig20", *fractions(GROKKING | changed)).verdict == "refuted"


def test_a_part_of_the_sweep_is_measured_where_it_can_tell_something() -> None:
    part = fractions({percent: GROKKING[percent] for percent in (30, 60)})
    assert check("fig20", *part).measured["fractions"] == (2,)
    assert check("fig21", *part).verdict == "not measured"
    assert check("fig20", *fractions({30: 9000})).verdict == "not measured"
    three = fractions({percent: GROKKING[percent] for percent in (30, 50, 90)})
    assert check("fig21", *three).verdict == "holds"


def test_decays_are_compared_by_their_medians() -> None:
    def runs(**grokked: tuple[float, ...]) -> list[TrainedRun]:
        names = {"less": "nanda/decay-0.3", "one": "nanda/mainline", "more": "nanda/decay-3"}
        return [trained(f"{names[kind]}-{seed}", grokked=at) for kind, ats in grokked.items()
                for seed, at in enumerate(ats)]  # fmt: skip

    right = runs(less=(20_000, 30_000), one=(9_000, 10_000, 11_000), more=(3_000,))
    result = check("fig27", *right)
    assert result.verdict == "holds", str(result)
    assert result.measured["median grokking epoch, weight decay 1"] == (10_000,)
    assert result.measured["seeds, weight decay 0.3"] == (2,)
    assert check("fig27", *runs(less=(3_000,), one=(10_000,), more=(20_000,))).verdict == "refuted"
    assert check("fig27", *runs(less=(11_000,), one=(10_000,), more=(3_000,))).verdict == "refuted"
    assert check("fig27", *runs(less=(20_000,), one=(10_000,))).verdict == "not measured"


def test_slingshots_count_where_they_are_planted() -> None:
    springing = (5_000, 9_000, 15_000)
    layers = [trained(f"nanda/two-layers-{n}", grokked=3_000, spring=springing[:n]) for n in range(5)]
    result = check("fig22", *layers)
    assert result.verdict == "holds", str(result)
    assert result.measured["slingshots"] == (0, 1, 2, 3, 3)
    assert check("D2.slingshot2L", *layers[:1]).verdict == "refuted"


def test_precisions_are_compared_on_curves_seen_equally_often() -> None:
    seldom = range(2_000, 20_000, 2_000)
    often = range(2_510, 20_000, 2_000)  # seen every 10 epochs, not every 20
    low = trained("nanda/float32-0", every=10, spring=(*seldom, *often))
    result = check("D2.lowprec", low, trained("nanda/mainline-0", every=20))
    assert result.verdict == "holds", str(result)
    assert result.measured["slingshots in float32"] == (9,)
    assert result.measured["slingshots in float64"] == (0,)
    beyond = trained("nanda/float32-0", spring=tuple(range(21_000, 40_000, 1_000)))
    assert check("D2.lowprec", beyond, trained("nanda/mainline-0", every=20)).verdict == "refuted"


def test_other_moduli() -> None:
    names = [f"nanda/p53-decay-5-{seed}" for seed in range(5)]
    late = [trained(name, grokked=3_000) for name in names[:4]]
    assert check("fig24", *late, trained(names[4])).verdict == "holds"
    assert check("fig24", *late[:3], trained(names[3]), trained(names[4])).verdict == "refuted"
    decays = [trained(f"nanda/p401-decay-{d}-0", grokked=300) for d in (0.3, 1)]
    dead = trained("nanda/p401-decay-8-0", memorised=math.inf)
    result = check("fig25", *decays, dead)
    assert result.verdict == "holds", str(result)
    assert result.measured["weight decays with which it never memorises"] == (1,)
    assert check("fig25", dead).verdict == "refuted"
    assert check("fig25", *decays, trained("nanda/p401-decay-5-0", grokked=2_000)).verdict == "refuted"


def test_penalties_and_dropout() -> None:
    assert check("fig28.l1", trained("nanda/l1-sum-1-0", epochs=20_000)).verdict == "holds"
    assert check("fig28.l1", trained("nanda/l1-sum-1-0", epochs=10_000)).verdict == "refuted"
    assert check("fig28.l1", trained("nanda/l1-mean-10-1", grokked=9_000)).verdict == "refuted"
    able = [trained(f"nanda/dropout-{rate}-0", grokked=9_000) for rate in (0.2, 0.5)]
    assert check("fig28.dropout", *able, trained("nanda/dropout-0.8-0")).verdict == "holds"
    assert check("fig28.dropout", able[0], trained("nanda/dropout-0.5-0")).verdict == "refuted"
    assert check("fig28.dropout", able[0]).verdict == "not measured"
    slow = trained("nanda/dropout-0.5-0")
    slow.history["test_accuracy"] = np.linspace(0, 0.6, len(slow.history))  # nobody knows where it will end
    result = check("fig28.dropout", able[0], slow)
    assert result.verdict == "not measured"
    assert result.measured["seeds still learning when their epochs are over, dropout 0.5"] == (1,)


def test_long_sums_fall_late_or_not() -> None:
    late = trained("nanda/digits-700-0", memorised=500, grokked=6_000, epochs=18_000)
    assert check("fig30", late).verdict == "holds"
    assert (
        check("fig30", trained("nanda/digits-700-0", memorised=500, grokked=2_000, epochs=18_000)).verdict == "refuted"
    )
    flat = trained("nanda/digits-700-0", memorised=500, grokked=6_000, epochs=18_000, peak=2.4)
    assert check("fig30", flat).verdict == "refuted"


def test_requirements_are_patterns_of_which_each_must_be_met() -> None:
    def claim(required: tuple[str, ...]) -> Claim:
        return Claim("test.x", "nowhere", "Something.", "1", lambda *runs: {"runs": len(runs)}, {"runs": at_least(1)},
                     ("a/x-0", "a/x-1", "a/y-0"), "any seed", required=required)  # fmt: skip

    there = {name: trained("nanda/mainline-0") for name in ("a/x-1", "a/y-0")}
    assert claim(()).check_available(there).measured["runs"] == (2,)
    assert claim(("a/x-*", "a/y-*")).check_available(there).verdict == "holds"
    assert claim(("a/x-0",)).check_available(there).verdict == "not measured"
    assert claim(("a/*",)).check_available({}).verdict == "not measured"
    assert claim(("a/x-*",)).check_foreign(there["a/x-1"]).verdict == "not measured"
    with pytest.raises(ValueError, match="requires a/z, which none of its needs fits"):
        claim(("a/z",))


def test_of_no_run_a_number_is_missing_and_holds_nothing() -> None:
    claim = Claim("test.x", "nowhere", "Something.", "1", lambda *_: {"x": []}, {"x": equals(1)}, ("nanda/mainline-0",))
    result = claim.check(trained("nanda/mainline-0"))
    assert result.verdict == "refuted"
    assert result.measured_text() == "x nan"
    assert result.to_json()["measured"] == {"x": None}


def test_rows_of_the_tables_are_those_of_the_paper() -> None:
    assert len(TABLE_5) == 27
    assert len({row.run for row in TABLE_5}) == 27
    assert [len(row.runs) for row in TABLE_6] == [6, 5, 5, 5, 3, 3]
    for row in TABLE_5:
        assert list(row.freqs) == sorted(set(row.freqs)), row.key
        assert row.freqs[-1] <= named(row.run).task.heads[0] // 2, row.key
