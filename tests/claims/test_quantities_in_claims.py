"""A claim may name registered quantities in place of a measure of its own."""

from __future__ import annotations

import pytest
from explain import planted

from modinterp.claims import Claim, at_least, at_most
from modinterp.models import from_state_dict
from modinterp.runs import TrainedRun
from modinterp.tasks import addition

RUN = TrainedRun("test/x-0", addition(13), from_state_dict(planted.clock(13, (2, 5)), addition(13)))


def claim(**expected: object) -> Claim:
    return Claim(id="test.fve", where="here", statement="The logits are cosines.", source_says="0.9",
                 expected=expected, given={"accuracy": at_least(0.9)}, needs=("test/x-0",))  # fmt: skip


def test_a_claim_measures_the_quantities_that_it_names() -> None:
    result = claim(logit_fve=at_least(0.5), excluded_accuracy=at_most(0.5)).check(RUN)
    assert result.verdict == "holds"
    assert set(result.measured) == {"logit_fve", "excluded_accuracy", "accuracy"}
    assert claim(logit_fve=at_most(0.1)).check(RUN).verdict == "refuted"
    one, other = claim(logit_fve=at_least(0.5)), claim(logit_fve=at_least(0.9))
    assert one.of_one is other.of_one, "two claims about one number count as one measurement"


def test_a_quantity_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(KeyError, match="did you mean 'logit_fve'"):
        claim(logit_fev=at_least(0.5))


def test_what_is_behaviour_is_stated_by_the_quantity() -> None:
    named = claim(logit_fve=at_least(0.5))
    assert named.is_behaviour("accuracy")
    assert named.is_behaviour("loss")
    assert not named.is_behaviour("restricted_accuracy"), "it measures what a part is good for"
    own = Claim(id="test.own", where="here", statement="It breaks.", source_says="5", measure=lambda m: {"loss": 5.0},
                expected={"loss": at_least(4)}, needs=("test/x-0",))  # fmt: skip
    assert own.is_behaviour("accuracy before"), "a number that is no quantity is judged by its name"
    assert not own.is_behaviour("loss"), "this one is the loss after an ablation, not the quantity `loss`"
