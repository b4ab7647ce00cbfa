"""Verdicts on networks that fool correlations: interventions decide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from explain import adversarial, planted
from explain.test_planted_networks import explanation_of

from modinterp.explain import Explanation, explain
from modinterp.explain.labels import FOURIER, INTEGERS, MEMORISED, MIXED, WAVES
from modinterp.tasks import addition

P = 37
FREQS = (4, 11, 15)


def of(network: Any, p: int = P, **said: Any) -> Explanation:
    return explain(network, "add", p, draws=99, **said)


CASES: dict[str, tuple[Callable[[], Explanation], set[str]]] = {
    "carry, cosines looked up, tokens": (
        lambda: of(adversarial.carry_of_tokens(P, lambda s: adversarial.cosines(s, P, FREQS))),
        {WAVES},
    ),
    "carry, cosines looked up, one-hot": (
        lambda: of(adversarial.carry(P, lambda s: adversarial.cosines(s, P, FREQS))),
        {INTEGERS},
    ),
    "carry, circular squares, tokens": (
        lambda: of(adversarial.carry_of_tokens(P, adversarial.circular_squares(P))),
        {WAVES},
    ),
    "carry, circular squares, one-hot": (lambda: of(adversarial.carry(P, adversarial.circular_squares(P))), {INTEGERS}),
    "number line": (lambda: explanation_of(adversarial.number_line(P, FREQS), addition(P), 99), {INTEGERS}),
    "number line, lowest frequencies": (
        lambda: explanation_of(adversarial.number_line(P, (1, 2, 3)), addition(P), 99),
        {INTEGERS},
    ),
    "half a table": (lambda: of(adversarial.half_a_table(P, FREQS)), {MIXED}),
    "dead decoys": (
        lambda: explanation_of(adversarial.dead_decoys(P, FREQS, (2, 7, 17)), addition(P), 99),
        {FOURIER},
    ),
    "adds by few circles": (lambda: explanation_of(planted.clock(P, FREQS), addition(P), 99), {FOURIER}),
    "multiplies few waves": (
        lambda: explanation_of(planted.multiplier(P, FREQS), addition(P), 99, "square"),
        {FOURIER},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_interventions_decide_what_a_network_is(name: str) -> None:
    make, labels = CASES[name]
    x = make()
    assert x["accuracy"] > 0.99
    assert x.verdict.label in labels, str(x)


def test_dead_neurons_choose_no_circle() -> None:
    x = explanation_of(adversarial.dead_decoys(P, FREQS, (2, 7, 17)), addition(P), 99)
    assert x.measurements.causal.circles == FREQS
    assert x.verdict.clock_or_pizza == "3 pizza"


@pytest.mark.parametrize("p", [23, 29, 37])
def test_all_frequencies_are_not_memorised(p: int, tmp_path: Path) -> None:
    torch.save(adversarial.gromov(p), file := tmp_path / "gromov.pt")
    x = of(file, p, act_fn="square")
    assert x["accuracy"] > 0.95
    assert x.verdict.label == FOURIER, str(x)
    assert x.verdict.algorithm in ("all frequencies", "circles", "clock", "pizza")
    assert ("a ratio that also occurs in matrices without structure" in x.verdict.words) is (x["p_value_gap"] > 0.01)


def test_a_table_is_not_moved() -> None:
    x = explanation_of(planted.table(29), addition(29), 99)
    assert x["accuracy"] == 1
    assert x.verdict.label == MEMORISED
    assert x["turn_of_all_kept"] < 0.3, "a table interpolates, and keeps little of the formula"


def test_a_table_of_waves_is_said_to_be_no_sum() -> None:
    x = explanation_of(planted.table_of_waves(29, (3, 7, 12)), addition(29), 99)
    assert x.verdict.label != FOURIER
    assert x["half_turn"] < 0.5
