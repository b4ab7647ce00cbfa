"""Write the beginning of a source's page: a few sentences with measured numbers, and three figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import NamedTuple

from modinterp.claims import Result


class Part(NamedTuple):
    """A piece of a sentence, and the id of the claim that gave it; the id is empty for the source's own words."""

    text: str
    claim: str = ""


Sentence = tuple[Part, ...]


@dataclass(frozen=True, kw_only=True)
class Story:
    """The statements and findings of a source in a few sentences, for readers with one minute.

    Braces in a sentence of a story are filled in from measurements. `{fig7.phases[grokking epoch]:,.0f}` is the number
    `grokking epoch` of the claim `fig7.phases` on the first network, in Python's format. `{fig7.phases}` is the claim's
    result, such as "holds in 14 of 16 networks". `{fig7.phases!s}` is the statement of the claim `fig7.phases`. A
    sentence of a story is left out if one of its numbers was not measured.

    Attributes:
        sentences: the sentences, in the order of the page.
        figures: keys of the figures below the sentences.
    """

    sentences: tuple[str, ...]
    figures: tuple[str, ...]

    @property
    def numbers(self) -> set[tuple[str, str]]:
        """Return the claims that the sentences name, without the source's name, each with one of its numbers or an
        empty text.
        """
        return {named for sentence in self.sentences for named in _named(sentence)}

    def told(self, results: Mapping[str, Result]) -> list[Sentence]:
        """Return the sentences whose numbers are all measured, with the numbers filled in.

        Args:
            results: map from the id of a claim, without the source's name, to its result.
        """
        return [
            tuple(_filled(sentence, results))
            for sentence in self.sentences
            if all(claim in results and _is_told(results[claim]) for claim, _ in _named(sentence))
        ]


def _is_told(result: Result) -> bool:
    return bool(result.measured) and result.reason != "does not apply"


def _named(sentence: str) -> Iterator[tuple[str, str]]:
    """The claim and the number, empty for none, of each pair of braces."""
    for _, field, _, _ in Formatter().parse(sentence):
        if field is not None:
            claim, _, number = field.partition("[")
            yield claim, number.removesuffix("]")


def _filled(sentence: str, results: Mapping[str, Result]) -> Iterator[Part]:
    named = _named(sentence)
    for text, field, form, conversion in Formatter().parse(sentence):
        yield Part(text)
        if field is None:
            continue
        claim, number = next(named)
        result = results[claim]
        if conversion == "s":
            yield Part(result.claim.source_says)
        else:
            told = format(result.measured[number][0], form or ".4g") if number else found(result)
            yield Part(told, result.claim.id)


def found(result: Result) -> str:
    """Return the finding of a claim, worded as the end of a sentence."""
    if result.prevalence_text:
        return f"holds in {result.prevalence_text}"
    return {"holds": "holds", "refuted": "does not hold", "mixed": "holds in some seeds"}.get(
        result.verdict, f"is {result.words}"
    )


def told_by_itself(results: Sequence[Result]) -> list[Sentence]:
    """Return sentences for a source without a story: one claim that holds in all networks, one in some, one in none.

    If several claims fit, take the first that untrained networks do not satisfy and that is measured on most networks.
    """
    told = []
    for verdict in ("holds", "mixed", "refuted"):
        alike = [r for r in results if r.verdict == verdict and r.measured]
        if alike:
            first = min(alike, key=lambda r: (r.specificity != "told apart", -len(r.networks)))
            told.append(_statement(first))
    return told


def _statement(result: Result) -> Sentence:
    """A statement, what the source says, and what was found."""
    claim = result.claim
    numbers = result.measured_text(list(claim.expected)[:1])
    return (
        Part(f"{claim.statement} (The source: {claim.source_says}; here: {numbers}.) This "),
        Part(found(result), claim.id),
        Part("."),
    )
