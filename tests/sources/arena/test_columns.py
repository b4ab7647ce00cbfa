"""What heads look at in the columns of a sum, on attention that is made so that the answer is known."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from modinterp.measurements import SequenceMeasurements
from modinterp.sources.arena.claims.columns import RANK, for_carry, foretold_share, looks_at, own_sum, sums
from modinterp.sources.arena.claims.sum_answers import BY_RULE, EXCEPTIONS, _chains, _rule
from modinterp.sources.arena.claims.sum_circle import waves_of_two_digits
from modinterp.sources.arena.claims.unique import OVERLOADING, attention_to_copies, tokens_of
from modinterp.tasks import ColumnSum, Examples, FirstUnique, Task

TASK = ColumnSum(size=400, held_out=2)
EARLIER, LATER = 0.7, 0.2  # attention to the digit that decides, and to the other


class Planted(SequenceMeasurements):
    """Measurements of attention that is given, without a network."""

    task: Any = None
    sampled: Any = None

    def __init__(self, task: Task, examples: Examples, pattern: Tensor) -> None:
        self.task, self.sampled, self.planted = task, examples, pattern

    def pattern_of(self, inputs: Tensor) -> Tensor:
        """The attention that is given."""
        return self.planted.unsqueeze(0)


def planted() -> SequenceMeasurements:
    """Head 0 follows the hierarchy in column 1 at =, head 1 goes against it, head 2 looks at no column."""
    examples = TASK.draw(400, torch.Generator().manual_seed(0))
    pattern = torch.zeros(400, 3, TASK.n_ctx, TASK.n_ctx)
    a, b = examples.inputs[:, 1], examples.inputs[:, 6]
    is_first = (RANK[a] < RANK[b]).float()
    to_a = LATER + (EARLIER - LATER) * is_first
    for head, weight in ((0, to_a), (1, EARLIER + LATER - to_a)):
        pattern[:, head, 9, 1], pattern[:, head, 9, 6] = weight, EARLIER + LATER - weight
    pattern[:, 2, :, 0] = 1
    return Planted(TASK, examples, pattern)


def test_heads_that_follow_the_hierarchy_and_those_against_it() -> None:
    m = planted()
    first, second = looks_at(m, 1, [9])
    assert (first.head, first.agreement, second.head, second.agreement) == (0, 1.0, 1, 0.0)
    assert sum(first.weights) == pytest.approx(EARLIER + LATER, abs=1e-5)
    assert first.uneven == pytest.approx((EARLIER - LATER) / 2 / (EARLIER + LATER), abs=1e-5)
    assert [look.head for look in for_carry(m, 1)] == [0, 1]  # whose carry goes into the digit that is read at =
    assert own_sum(m, 1) == []  # which is read one position later
    assert looks_at(m, 2, range(TASK.n_ctx)) == []


def test_shares_that_are_foretold_are_those_of_inputs_that_were_not_fitted() -> None:
    generator = torch.Generator().manual_seed(0)
    x, noise = torch.randn(2000, 3, generator=generator), torch.randn(2000, 3, generator=generator)
    assert foretold_share(x, x @ torch.ones(3, 2) + 5) == pytest.approx(1)
    assert abs(foretold_share(noise, x)) < 0.02
    assert foretold_share(x, x + noise) == pytest.approx(0.5, abs=0.05)


def test_the_rule_has_no_exception_and_carries_through_nines_are_the_rest() -> None:
    assert _rule() == {EXCEPTIONS: 0}
    assert _chains()[BY_RULE] == pytest.approx(0.976375, abs=1e-9)


def test_waves_of_two_digits_are_those_that_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    m, angle = planted(), 2 * torch.pi / 10
    a, b = (m.sampled.inputs[:, place].double() for place in (3, 8))
    written = torch.stack([(angle * (a + b)).cos(), (angle * a).sin()], dim=1)
    monkeypatch.setattr("modinterp.sources.arena.claims.sum_circle.written", lambda m, looks: written.unsqueeze(0))
    shares = waves_of_two_digits(m)
    assert torch.equal(sums(m, 3), m.sampled.inputs[:, 3] + m.sampled.inputs[:, 8])
    assert float(shares[1, 1]) == pytest.approx(0.5, abs=0.05)  # all pairs occur here, but not equally often
    assert float(shares[1, 0]) == pytest.approx(0.5, abs=0.05)


def test_attention_to_earlier_copies_counts_letters_that_have_one() -> None:
    task = FirstUnique(n=5, letters=3)
    examples = task.examples(torch.tensor([[0, 1, 0, 0]]))
    pattern = torch.zeros(1, 1, 5, 5)
    pattern[0, 0, 3, 1], pattern[0, 0, 4, 1], pattern[0, 0, 4, 3] = 0.5, 0.3, 0.4
    found = attention_to_copies(Planted(task, examples, pattern))
    assert float(found[0, 0]) == pytest.approx(0.6)
    assert found[0, 1:].isnan().all()


def test_the_string_that_misleads_asks_for_h_behind_the_h() -> None:
    labels = FirstUnique().examples(tokens_of(OVERLOADING)).labels[0].tolist()
    assert labels[7:] == [7] * 13
