"""Claims of the appendices held against trainings with a known course; each must be able to hold and to fail."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sources.nanda.planted import GROKKING, fractions, trained

from modinterp.claims import Result
from modinterp.runs import TrainedRun
from modinterp.sources import source, spec
from modinterp.sources.nanda.runs import SEEDS
from modinterp.sources.nanda.tables import TABLE_5, TABLE_6

DECAYS = [f"nanda/decay-{decay}-{seed}" for decay in (0.3, 3) for seed in range(3)]


def check(key: str, *runs: TrainedRun) -> Result:
    result = source("nanda")[key].check_available({run.name: run for run in runs})
    return replace(result, of_source=False)  # of these trainings, however few their seeds


def test_a_sweep_over_fractions_as_the_paper_tells_it() -> None:
    for key in ("fig20", "fig21", "C22.frac_smaller_slower", "E1.no_grok_if_together"):
        result = check(key, *fractions())
        assert result.verdict == "holds", str(result)
    assert check("fig20", *fractions()).measured["epochs from memorising to generalising, 90%"] == (50,)


@pytest.mark.parametrize("changed", [{10: 5000}, {40: 900}, {60: 1500}, {60: math.inf}])
def test_one_fraction_out_of_line_refutes_it(changed: dict[int, float]) -> None:
    assert check("fig20", *fractions(GROKKING | changed)).verdict == "refuted"


def test_a_part_of_the_sweep_is_measured_where_it_can_tell_something() -> None:
    part = fractions({percent: GROKKING[percent] for percent in (30, 60)})
    assert check("fig20", *part).runs == tuple(m.name for m in part)
    assert check("fig21", *part).verdict == "open"
    assert check("fig20", *fractions({30: 9000})).verdict == "open"
    four = fractions({percent: GROKKING[percent] for percent in (30, 40, 50, 90)})
    assert check("fig21", *four).verdict == "holds"


def test_decays_are_compared_by_their_medians() -> None:
    def runs(**grokked: tuple[float, ...]) -> list[TrainedRun]:
        names = {"less": DECAYS[:3], "one": SEEDS, "more": DECAYS[3:]}
        return [trained(name, grokked=at) for kind, ats in grokked.items()
                for name, at in zip(names[kind], ats, strict=False)]  # fmt: skip

    right = runs(less=(20_000, 30_000), one=(9_000, 10_000, 11_000), more=(3_000,))
    result = check("fig27", *right)
    assert result.verdict == "holds", str(result)
    assert result.measured["median grokking epoch, weight decay 1"] == (10_000,)
    assert check("fig27", *runs(less=(3_000,), one=(10_000,), more=(20_000,))).verdict == "refuted"
    assert check("fig27", *runs(less=(11_000,), one=(10_000,), more=(3_000,))).verdict == "refuted"
    assert check("fig27", *runs(less=(20_000,), one=(10_000,))).verdict == "open"


def test_slingshots_count_where_they_are_planted() -> None:
    springing = (5_000, 9_000, 15_000)
    layers = [trained(f"nanda/two-layers-{n}", grokked=3_000, spring=springing[:n]) for n in range(5)]
    result = check("fig22", *layers)
    assert result.verdict == "holds", str(result)
    calm = [trained(f"nanda/two-layers-{n}", grokked=3_000) for n in range(3)]
    assert check("D2.slingshot2L", *calm).verdict == "refuted"
    assert check("D2.slingshot2L", *layers[:1]).reason == "pending"


def test_precisions_are_compared_on_curves_seen_equally_often() -> None:
    seldom = range(2_000, 20_000, 2_000)
    often = range(2_510, 20_000, 2_000)  # seen every 10 epochs, not every 20
    low = [trained(f"nanda/float32-{seed}", every=10, spring=(*seldom, *often)) for seed in range(3)]
    main = trained("nanda/mainline-0", every=20)
    result = check("D2.lowprec", *low, main)
    assert result.verdict == "holds", str(result)
    assert result.measured["slingshots in float32"] == (9, 9, 9)
    assert result.measured["slingshots in float64"] == (0,)
    beyond = trained("nanda/float32-2", spring=tuple(range(21_000, 40_000, 1_000)))
    assert check("D2.lowprec", *low[:2], beyond, main).verdict == "refuted"
    assert check("D2.lowprec", *low[:2], main).reason == "pending"


def test_other_moduli() -> None:
    names = [f"nanda/p53-decay-5-{seed}" for seed in range(5)]
    late = [trained(name, grokked=3_000) for name in names[:4]]
    assert check("fig24", *late, trained(names[4])).verdict == "holds"
    assert check("fig24", *late[:3], trained(names[3]), trained(names[4])).verdict == "refuted"
    decays = [trained(f"nanda/p401-decay-{d}-0", grokked=300) for d in (0.3, 0.5, 1, 3)]
    dead = trained("nanda/p401-decay-8-0", memorised=math.inf)
    result = check("fig25", *decays, dead)
    assert result.verdict == "holds", str(result)
    assert check("fig25", *decays[:2], dead).reason == "pending"
    assert check("fig25", *decays, trained("nanda/p401-decay-5-0", grokked=2_000)).verdict == "refuted"


def test_penalties_and_dropout() -> None:
    assert check("fig28.l1", trained("nanda/l1-sum-1-0", epochs=20_000)).verdict == "holds"
    assert check("fig28.l1", trained("nanda/l1-sum-1-0", epochs=10_000)).verdict == "refuted"
    assert check("fig28.l1", trained("nanda/l1-sum-10-1", grokked=9_000)).verdict == "refuted"
    able = [trained(f"nanda/dropout-{rate}-0", grokked=9_000) for rate in (0.2, 0.5)]
    assert check("fig28.dropout", *able, trained("nanda/dropout-0.8-0")).verdict == "holds"
    assert check("fig28.dropout", able[0], trained("nanda/dropout-0.5-0")).verdict == "refuted"
    assert check("fig28.dropout", able[0]).verdict == "open"
    slow = trained("nanda/dropout-0.5-0")
    slow.history["test_accuracy"] = np.linspace(0, 0.6, len(slow.history))  # nobody knows where it will end
    result = check("fig28.dropout", able[0], slow)
    assert result.verdict == "open"
    assert result.measured["seeds still learning when their epochs are over, dropout 0.5"] == (1,)


def test_long_sums_fall_late_or_not() -> None:
    late = trained("nanda/digits-700-0", memorised=500, grokked=6_000, epochs=18_000)
    assert check("fig30", late).verdict == "holds"
    assert (
        check("fig30", trained("nanda/digits-700-0", memorised=500, grokked=2_000, epochs=18_000)).verdict == "refuted"
    )
    flat = trained("nanda/digits-700-0", memorised=500, grokked=6_000, epochs=18_000, peak=2.4)
    assert check("fig30", flat).verdict == "refuted"


def test_rows_of_the_tables_are_those_of_the_paper() -> None:
    assert len(TABLE_5) == 27
    assert len({row.run for row in TABLE_5}) == 27
    assert [len(row.runs) for row in TABLE_6] == [6, 5, 5, 5, 3, 3]
    for row in TABLE_5:
        assert list(row.freqs) == sorted(set(row.freqs)), row.key
        assert row.freqs[-1] <= spec(row.run).task.output_sizes[0] // 2, row.key
