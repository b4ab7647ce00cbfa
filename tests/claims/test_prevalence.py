"""Shares with their intervals, what decides where networks differ, and verdicts counted once."""

from __future__ import annotations

import pytest

from modinterp.claims.prevalence import Prevalence, Share
from modinterp.claims.tally import Tally
from modinterp.training.relation import Relation

SAME, ROUNDING, SEED, DRAW = Relation


@pytest.mark.parametrize(("held", "of", "low", "high"), [
    (0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (1, 1, 0.2065, 1.0), (0, 0, 0.0, 1.0)
])  # fmt: skip
def test_intervals_are_wilsons(held: int, of: int, low: float, high: float) -> None:
    assert Share(held, of).interval == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize(("networks", "decides"), [
    ([(True, SAME), (False, ROUNDING)], "rounding"),
    ([(True, SAME), (True, ROUNDING), (False, SEED), (True, SEED)], "seed"),
    ([(True, SAME), (True, ROUNDING), (False, DRAW), (False, DRAW)], "draw order"),
    ([(True, SAME), (True, ROUNDING), (False, DRAW), (True, DRAW)], "seed"),  # of one order, they differ by seed
    ([(True, SAME), (False, SEED)], "seed"),
    ([(True, SAME), (True, SEED)], ""),
    ([(False, SAME)], ""),
])  # fmt: skip
def test_what_decides(networks: list[tuple[bool, Relation]], decides: str) -> None:
    passes, relations = zip(*networks, strict=True)
    prevalence = Prevalence.of(passes, relations)
    assert prevalence.decided_by == decides
    assert sum(share.of for share in prevalence.by.values()) == prevalence.together.of == len(networks)


def test_one_measurement_counts_once() -> None:
    verdicts = [
        *[("a", "holds", "told apart", False)] * 3,
        ("b", "holds", "also true before training", False),
        ("c", "mixed", "told apart", False),
        ("d", "refuted", "told apart", False),
        ("a", "open", "told apart", False),
        *[("e", verdict, "told apart", True) for verdict in ("holds", "mixed")],
    ]
    tally = Tally.of(verdicts)
    assert tally.measurements == {
        "holds": 1, "also untrained": 1, "by selection": 1, "mixed": 1, "refuted": 1, "open": 1,
    }  # fmt: skip
    assert tally.statements["holds"] == 3
    assert str(tally).startswith("9 claims, 6 measurements: 1 hold (3 statements), 1 hold, also untrained")
    assert (tally + tally).statements["holds"] == 6
