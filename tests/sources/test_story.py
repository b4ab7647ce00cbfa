"""Stories of sources: sentences are filled in from what was measured, and one that cannot be is not told."""

from __future__ import annotations

import pytest

from modinterp.claims import Claim, Result
from modinterp.claims.band import at_least
from modinterp.claims.relatives import Network
from modinterp.sources import sources
from modinterp.sources.story import Story, told_by_itself
from modinterp.training.relation import Relation


def result(id: str, *values: float) -> Result:
    claim = Claim(id=f"own.{id}", where="section 1", statement="It learns.", source_says="about 100",
                  measure=lambda m: {"epoch": 0.0}, expected={"epoch": at_least(100, "about 100")}, needs=("own/0",))  # fmt: skip
    relations = [Relation.SAME, *[Relation.SEED] * (len(values) - 1)]
    networks = tuple(Network(f"own/{n}", relation) for n, relation in enumerate(relations[: len(values)]))
    return Result(claim, {"epoch": values} if values else {}, networks, "" if values else "pending")


def text(sentence) -> str:
    return "".join(part.text for part in sentence)


def test_numbers_verdicts_and_what_the_source_says_are_filled_in() -> None:
    story = Story(sentences=("At epoch {s1.a[epoch]:,.0f} (the paper: {s1.a!s}) it learns; this {s1.a}.",), figures=())
    (sentence,) = story.told({"s1.a": result("s1.a", 1234.4, 50.0, 200.0)})
    assert text(sentence) == "At epoch 1,234 (the paper: about 100) it learns; this holds in 2 of 3 seeds, preliminary."
    assert [part.text for part in sentence if part.claim == "own.s1.a"] == [
        "1,234",
        "holds in 2 of 3 seeds, preliminary",
    ]
    assert story.numbers == {("s1.a", "epoch"), ("s1.a", "")}


def test_a_sentence_of_what_was_not_measured_is_not_told() -> None:
    story = Story(sentences=("One {s1.a}.", "Two {s1.b}.", "Three {s1.c}."), figures=())
    told = story.told({"s1.a": result("s1.a"), "s1.b": result("s1.b", 200.0)})
    assert [text(sentence) for sentence in told] == ["Two holds."]


def test_a_source_without_a_story_tells_what_holds_of_all_of_some_and_of_none() -> None:
    found = [result("a", 200.0, 300.0), result("b", 50.0, 200.0), result("c", 50.0, 60.0)]
    told = [text(sentence) for sentence in told_by_itself(found)]
    assert [sentence.rpartition("This ")[2] for sentence in told] == [
        "holds in 2 of 2 seeds, preliminary.",
        "holds in 1 of 2 seeds, preliminary.",
        "holds in 0 of 2 seeds, preliminary.",
    ]


@pytest.mark.parametrize("name", sources())
def test_stories_name_claims_numbers_and_figures_that_there_are(name: str) -> None:
    story = sources()[name].story
    if story is not None:
        assert len(story.sentences) == 5
        assert len(story.figures) == 3
