"""The formulas of one circle: identities, answers, and how agreement with them is counted."""

from __future__ import annotations

import math

import pytest
import torch

from modinterp.analyses.circles import formulas
from modinterp.analyses.circles.formulas import FORMULAS, agreement, formula_logits
from modinterp.analyses.circles.symmetry import distance_irrelevance

P = 13
X = torch.arange(P)


@pytest.mark.parametrize("freq", range(1, P // 2 + 1))
def test_formulas_are_those_that_are_written(freq: int) -> None:
    w = 2 * math.pi * freq / P
    for a, b, c in ((1, 2, 3), (0, 12, 5), (7, 7, 1), (4, 11, 12)):
        half, turn = w * (a - b) / 2, w * (a + b - c)
        x, y = math.cos(w * a) + math.cos(w * b), math.sin(w * a) + math.sin(w * b)
        across = (abs(x + y) - abs(x - y)) / math.sqrt(2) * math.sin(w * c)
        expected = {
            "clock": math.cos(turn),
            "pizza": abs(math.cos(half)) * math.cos(turn),
            "two absolute values": abs(2 * math.cos(half)) * (abs(math.cos(turn / 2)) - abs(math.sin(turn / 2))),
            "four absolute values": (abs(x) - abs(y)) * math.cos(w * c) + across,
            "accompanying": -2 * math.cos(2 * half) * math.cos(turn),
        }
        assert set(expected) == set(FORMULAS)
        for name, value in expected.items():
            assert float(formula_logits(name, P, freq)[a, b, c]) == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("name", ["clock", "pizza", "two absolute values"])
def test_one_circle_answers_every_pair_of_an_odd_modulus(name: str) -> None:
    assert torch.equal(formula_logits(name, P, 4).argmax(dim=-1), (X[:, None] + X) % P)


def test_a_pizza_and_its_accompanying_circle_make_up_for_the_distance() -> None:
    """|cos x| = 2/pi + 4/(3 pi) cos 2x - ...: without the second term less of it depends on the distance."""
    pizza, repair = formula_logits("pizza", P, 3), formula_logits("accompanying", P, 3)
    both = pizza + 2 / (3 * math.pi) * repair
    assert agreement(both, "clock", 3).explained > 0.95
    assert agreement(pizza, "clock", 3).explained < 0.85
    assert distance_irrelevance(pizza).correct == pytest.approx(0, abs=1e-6)


def test_agreement_counts_as_the_paper_does() -> None:
    logits = torch.randn(P, P, P, generator=torch.Generator().manual_seed(0)) + formula_logits("pizza", P, 2)
    y, q = (z.double().flatten() for z in (logits, formula_logits("pizza", P, 2)))
    y, q = ((z - z.mean()) / z.std(correction=0) for z in (y, q))
    found = agreement(logits, "pizza", 2)
    assert found.explained == pytest.approx(float(1 - (y - q).var(correction=0) / y.var(correction=0)))
    assert found.r_squared == pytest.approx(float((y * q).mean()) ** 2)
    assert agreement(5 * formula_logits("pizza", P, 2) - 3, "pizza", 2).explained == pytest.approx(1)
    assert agreement(formula_logits("clock", P, 1), "clock", 2).explained == pytest.approx(-1)


def test_a_sum_of_formulas_is_fitted_with_a_size_each() -> None:
    logits = 3 * formula_logits("clock", P, 2) + formula_logits("clock", P, 5) + torch.randn(P, P, 1)
    assert formulas.explained_by_sum(logits, "clock", (2, 5)) == pytest.approx(1)
    assert formulas.explained_by_sum(logits, "clock", (2,)) == pytest.approx(0.9)
    with pytest.raises(ValueError, match="freqs must contain at least one frequency"):
        formulas.explained_by_sum(logits, "clock", [])


def test_the_profile_of_a_pizza_dies_opposite_and_that_of_a_clock_does_not() -> None:
    found = formulas.distance_profile(formula_logits("pizza", P, 3), 3)
    assert found.correlation == pytest.approx(1)
    assert found.lowest_over_largest == pytest.approx(math.cos(math.pi * 6 / 13))
    assert found.values[0] == pytest.approx(1)
    assert formulas.distance_profile(formula_logits("clock", P, 3), 3).lowest_over_largest == pytest.approx(1)


def test_an_unknown_formula_and_a_frequency_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="formula must be one of clock, pizza"):
        formula_logits("calzone", P, 1)
    with pytest.raises(ValueError, match="from 1 to 6, got 7"):
        formula_logits("pizza", P, 7)
