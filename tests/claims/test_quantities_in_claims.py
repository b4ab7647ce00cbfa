"""A claim may name registered quantities in place of a measure of its own."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from explain import planted
from reproduced import Reproduced

from modinterp.claims import Claim, at_least, at_most
from modinterp.models import from_state_dict
from modinterp.runs import TrainedRun
from modinterp.sources import source, sources
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


def test_what_is_behaviour_is_stated_by_the_quantity_or_the_claim() -> None:
    own = {"ablated accuracy": at_least(0.9), "rise of the loss": at_least(1)}
    named = replace(claim(logit_fve=at_least(0)), expected=own, measure=lambda m: {}, behaviour=("ablated accuracy",))
    assert named.is_behaviour("accuracy")
    assert named.is_behaviour("loss")
    assert not named.is_behaviour("restricted_accuracy"), "it measures what a part is good for"
    assert named.is_behaviour("ablated accuracy")
    assert not named.is_behaviour("rise of the loss")
    for name in ("another accuracy", "loss"):
        with pytest.raises(ValueError, match=f"lists {name} as behaviour"):
            replace(named, behaviour=(name,))


def test_a_claim_may_name_quantities_beside_numbers_of_its_own() -> None:
    mixed = replace(claim(logit_fve=at_least(0.5)), measure=lambda m: {"frequencies": len(m.freqs)},
                    reported=("frequencies", "gap"))  # fmt: skip
    result = mixed.check(RUN)
    assert set(result.measured) == {"logit_fve", "accuracy", "gap", "frequencies"}
    assert mixed.keys == ("logit_fve", "accuracy", "gap")
    several = replace(mixed, measure=lambda *runs: {"frequencies": [len(m.freqs) for m in runs]},
                      needs=("test/x-0", "test/x-1"), scope="any seed")  # fmt: skip
    measured = several.check(RUN, replace(RUN, name="test/x-1")).measured
    assert {name: len(values) for name, values in measured.items()} == dict.fromkeys(result.measured, 2)


def test_no_measure_returns_a_number_under_the_key_of_a_quantity() -> None:
    twice = replace(claim(logit_fve=at_least(0.5)), measure=lambda m: {"logit_fve": 0.0})
    with pytest.raises(ValueError, match="a measure returns logit_fve, which is the key of a registered quantity"):
        twice.check(RUN)


RENAMED = json.loads((Path(__file__).parent / "renamed_numbers.json").read_text())


def test_every_number_that_was_renamed_is_one_that_a_claim_names() -> None:
    """Old names of numbers, by the claims that had them, to new names: what claims.json of earlier versions holds."""
    claims = [c for about in sources().values() for c in about.claims.values()]
    for pattern, names in RENAMED.items():
        alike = {name for c in claims if fnmatchcase(c.id, pattern) for name in (*c.names, *told(c))}
        assert not set(names.values()) - alike, pattern


def told(claim: Claim) -> set[str]:
    """The numbers of a claim that the story of its source or a contradiction tells."""
    about = source(claim.source)
    by_story = {number for key, number in (about.story.numbers if about.story else ()) if about[key] is claim}
    return by_story.union(*(x.settled_by.get(claim.id.partition(".")[2], ()) for x in about.contradictions))


@pytest.mark.parametrize("name", sources())
def test_no_measure_returns_a_number_that_nothing_uses(name: str, reproduced: Callable[[str], Reproduced]) -> None:
    """Every number has a tolerance, is printed by the source, or is told by a finding, a story or a contradiction."""
    measured, used = defaultdict(set), defaultdict(set)
    for result in reproduced(name).reproduction.results:
        own = getattr(result.claim.measure, "of_one", result.claim.measure)
        line = (
            own.__code__.co_firstlineno if hasattr(own, "__code__") else 0
        )  # two functions without a name differ by their line
        key = getattr(own, "__qualname__", type(own).__qualname__), getattr(own, "__module__", ""), line
        measured[key] |= set(result.measured)
        used[key] |= {*result.claim.names, *told(result.claim)}
        assert not result.measured or set(result.claim.reported) <= set(result.measured), result.claim.id
    unused = {key: sorted(measured[key] - used[key]) for key in measured if measured[key] - used[key]}
    assert not unused
