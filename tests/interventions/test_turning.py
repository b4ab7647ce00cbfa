"""Turns of circles: exact on planted networks, and the traps that look like evidence and are none."""

from __future__ import annotations

import math
from functools import cache

import pytest
import torch
from explain import planted

from modinterp.interventions.effects import Cosines, answers_moved, largest_by_chance, margins, pizza_share
from modinterp.interventions.embedded import Embedded
from modinterp.interventions.turning import (
    doubles,
    folded,
    is_turnable,
    moved_at_random,
    step_along_line,
    turn,
    turn_angles,
    turn_of_random_planes,
)
from modinterp.measurements import CyclicMeasurements, measure
from modinterp.models import Weights, from_state_dict
from modinterp.runs import NotRecorded, TrainedRun, load
from modinterp.tasks import ModularArithmetic, addition

P, FREQS = 29, (3, 7, 12)


def measured(weights: Weights, task: ModularArithmetic, act_fn: str = "relu") -> CyclicMeasurements:
    from modinterp.models import ForwardPass

    network = from_state_dict(weights, task, ForwardPass(act_fn=act_fn))
    return measure(TrainedRun("planted", task, network))


@cache
def clock() -> CyclicMeasurements:
    return measured(planted.clock(P, FREQS), addition(P))


@cache
def table() -> CyclicMeasurements:
    return measured(planted.table(P), addition(P))


def test_a_turn_is_a_shift_of_waves_by_any_step() -> None:
    t = torch.arange(P).double()
    for step in (0.5, 1.0, 2.3):
        angles = turn_angles(FREQS, P, step, companions=False)
        for k in FREQS:
            wave = (2 * math.pi * k / P * t).sin()
            moved = (2 * math.pi * k / P * (t + step)).sin()
            assert torch.allclose(turn(P, angles) @ wave, moved)
        other = (2 * math.pi * 5 / P * t).cos()
        assert torch.allclose(turn(P, angles) @ other, other), "other circles stay"


def test_a_companion_turns_by_twice_the_unfolded_angle() -> None:
    k, step = 12, 0.5
    f = folded(2 * k, P)
    assert doubles([k], P) == {f: (k, -1)}
    t = torch.arange(P).double()
    wave, moved = ((2 * math.pi * 2 * k / P * (t + x)).cos() for x in (0, step))
    assert torch.allclose(turn(P, turn_angles([k], P, step)) @ wave, moved)
    own = turn(P, turn_angles([f], P, step, companions=False)) @ wave
    assert torch.allclose(own, -moved), "its own folded angle is wrong by exactly pi"


@pytest.mark.parametrize("op", ["add", "sub"])
def test_half_a_step_each_moves_the_answer_by_one(op: str) -> None:
    m = measured(planted.clock(P, FREQS, sign=1 if op == "add" else -1), ModularArithmetic(P, op))
    half, counter = m.causal.half_turn, m.causal.counter_turn
    assert half.freqs == FREQS
    assert half.moved == counter.moved == 1
    assert half.kept == pytest.approx(1, abs=1e-6)
    assert half.largest_control < 0.15
    assert m.causal.rescue[0] == 1
    assert m.causal.rescue[1] < 0.1
    assert m.causal.accuracy_alone == 1
    assert m.causal.accuracy_without < 0.1
    assert m.causal.margins_foretold == pytest.approx(1, abs=1e-6)
    assert m.causal.agreement == 1


def test_whole_steps_of_all_circles_only_rename_tokens() -> None:
    found = table().causal.turned(1, 1, range(1, P // 2 + 1))
    assert found.moved == 1, "a table passes, so that this is no test"
    assert not is_turnable(range(1, P // 2 + 1), P)
    with pytest.raises(NotRecorded, match="no small set of circles to rotate"):
        _ = table().causal.half_turn


def test_a_table_is_not_turned_by_half_a_step_of_few_circles() -> None:
    found = table().causal.turned(freqs=FREQS, controls=True)
    assert found.moved < 0.1
    assert found.kept < 0.5


def test_a_table_interpolates_under_the_half_turn_of_all_circles() -> None:
    found = table().causal.turn_of_all
    assert found.kept < 0.3 < 0.9 < clock().causal.turn_of_all.kept


def test_multiplied_waves_are_clocks_and_rectified_sums_are_pizzas() -> None:
    products = measured(planted.multiplier(P, FREQS), addition(P), "square")
    assert products.causal.pizza_shares == pytest.approx((0, 0, 0), abs=0.02)
    assert clock().causal.pizza_shares == pytest.approx((1, 1, 1), abs=0.1)
    assert products.causal.count_of_kind("clock") == clock().causal.count_of_kind("pizza") == 3


def test_doses_fall_and_turns_do_not() -> None:
    doses = clock().causal.dose_response
    below = doses.loc[doses["dose"] <= 1, "accuracy"]
    assert below.is_monotonic_increasing
    assert (below.iloc[0], below.iloc[-1]) == pytest.approx((1 / P, 1), abs=0.05)
    assert (doses["accuracy, other circles scaled"] == 1).all()
    turns = clock().causal.turn_response
    assert turns["formula kept"].min() > 0.9
    assert turns["kept, random planes"].iloc[-1] < 0.5


def test_cosines_are_their_own_fit_and_their_margins_add_up() -> None:
    c = torch.arange(P)
    s = c[:, None] + c
    logits = sum(a * (2 * math.pi / P * k * (s[..., None] - c).double()).cos() for k, a in ((3, 2.0), (7, 5.0)))
    assert isinstance(logits, torch.Tensor)
    cosines = Cosines.of(logits, (3, 7), 1)
    assert cosines.alphas == pytest.approx({3: 2.0, 7: 5.0})
    assert cosines.explained(logits) == pytest.approx(1)
    assert torch.allclose(margins(logits), cosines.margins())
    without = logits - 2 * (2 * math.pi / P * 3 * (s[..., None] - c).double()).cos()
    assert torch.allclose(margins(without), cosines.margins(without=[3]))
    assert answers_moved(logits).all()
    assert pizza_share(logits, 3) == pytest.approx(0, abs=1e-9)


def test_integers_move_along_their_line() -> None:
    line = 5.0 + 2.0 * torch.arange(P).double()[:, None]
    assert torch.allclose(step_along_line(line), line + 2)


def test_controls_are_as_large_as_what_they_control() -> None:
    a, _ = clock().causal._embedded.tables
    moved = turn(P, turn_angles(FREQS, P, 0.5)) @ a
    drawn = moved_at_random(a, moved)
    assert torch.allclose((drawn - a).norm(dim=1), (moved - a).norm(dim=1))
    planes = turn_of_random_planes(P, [0.3, 1.2])
    assert torch.allclose(planes @ planes.T, torch.eye(P).double(), atol=1e-9), "a rotation"
    assert torch.allclose(planes.sum(dim=1), torch.ones(P).double(), atol=1e-9), "the constant stays"


def test_vectors_of_an_embedding_come_back_as_they_are() -> None:
    m = clock()
    embedded = Embedded(m.model, m.task, m.basis.order)
    a, b = embedded.tables
    assert torch.allclose(a, m.W_E[:P].double(), atol=1e-6)
    assert torch.allclose(b, a)
    assert torch.allclose(embedded.changed().logits, m.logits.double(), atol=1e-3)


def test_multiplication_turns_its_logarithms() -> None:
    from measurements.test_quantities import multiplying

    m = measure(multiplying())
    assert m.causal.half_turn.moved > 0.95
    assert m.turn(1, 2).moved > 0.95
    assert m.turn(0.25).moved_by is None


@pytest.mark.parametrize("p", [2, 3, 4, 5])
def test_small_moduli_say_what_they_lack(p: int) -> None:
    task = addition(p)
    m = measured(planted.table(p), task)
    for reading in m.readings("causal"):
        assert reading.value is not None or reading.note, reading.key


def test_no_block_is_chosen_by_chance() -> None:
    falls = torch.randn(56, 1024, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    by_chance = largest_by_chance(falls)
    errors = falls.std(dim=1) / 32
    assert 3 < by_chance < 5  # of 56 normal numbers the largest is above 3.9 once in a hundred draws
    assert not (falls.mean(dim=1) > by_chance * errors).any()
    falls[7] += 0.2
    assert (falls.mean(dim=1) > largest_by_chance(falls) * errors).nonzero().flatten().tolist() == [7]
    assert largest_by_chance(torch.zeros(3, 10)) == 0


def test_an_untrained_network_has_no_circle_by_removal_and_a_trained_one_its_own() -> None:
    run = load("nanda/mainline-0")
    trained, untrained = measure(run), measure(run.at_start())
    assert isinstance(trained, CyclicMeasurements)
    assert isinstance(untrained, CyclicMeasurements)
    assert untrained.causal.circles_by_removal == ()
    assert trained.causal.circles_by_removal == (14, 35, 41, 42, 52)
