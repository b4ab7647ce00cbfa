"""Claims on the sum of two numbers: right and wrong answers, and what one layer cannot do."""

from __future__ import annotations

from math import nan

import torch

from modinterp.analyses.sequences.answers import Answers
from modinterp.claims.band import at_least, at_most, between, equals, near
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import mixed, refuted
from modinterp.measurements import SequenceMeasurements
from modinterp.sources.arena.claims.columns import RANK
from modinterp.sources.arena.claims.subject import ACCURACY, LOSS, LOWEST
from modinterp.sources.arena.runs import SUM, SUM1
from modinterp.tasks import Examples
from modinterp.tasks.carries import Columns, columns

WHOLE, SURENESS = "share of the sums that are right throughout", "mean probability of the right digit"
EXCEPTIONS = "pairs of digits that the hierarchy decides wrongly"
BY_DIGIT = [f"share of digit {digit} right with carries from the next column alone" for digit in range(4)]
BY_RULE, SUMS_BY_RULE = "share of the digits right with these carries", "share of the sums right with these carries"
AT_CHAINS = "share of the wrong digits whose carry came through a nine"
ERRORS, WITH_NINE = "wrong sums of 30,000", "share of the wrong sums with a column of nine"
MANY, SEED_OF_MANY = 30_000, 1_000


def _solved(m: SequenceMeasurements) -> dict[str, float]:
    found = m.answered
    return {
        ACCURACY: found.accuracy,
        LOSS: found.loss,
        WHOLE: found.whole_accuracy,
        SURENESS: float(found.sureness.mean()),
        LOWEST: float(found.sureness.min()),
    }


def _rule() -> dict[str, Value]:
    a, b = torch.cartesian_prod(torch.arange(10), torch.arange(10)).T
    deciding = torch.where(RANK[a] <= RANK[b], a, b)
    return {EXCEPTIONS: int(((deciding >= 5) != (a + b >= 10)).sum())}


def _chains() -> dict[str, Value]:
    pairs = torch.cartesian_prod(*[torch.arange(100)] * 3)  # the digits of columns 1 to 3; those of 0 change nothing
    a, b = (torch.nn.functional.pad(digit, (1, 0)) for digit in (pairs // 10, pairs % 10))
    right = columns(a, b).crossed <= 1
    by_digit = right.double().mean(dim=0).tolist()
    return dict(zip(BY_DIGIT, by_digit, strict=True)) | {
        BY_RULE: float(right.double().mean()),
        SUMS_BY_RULE: float(right.all(dim=1).double().mean()),
    }


def many(m: SequenceMeasurements) -> Examples:
    """Return many random sums, more than the held-out inputs of the task."""
    return m.task.draw(MANY, torch.Generator().manual_seed(SEED_OF_MANY))


def _answers_and_columns(m: SequenceMeasurements) -> tuple[Answers, Columns]:
    examples = many(m)
    return m.answers_to(examples), m.task.columns(examples.inputs)


def _errors(m: SequenceMeasurements) -> dict[str, float]:
    found, of = _answers_and_columns(m)
    wrong = ~found.correct.all(dim=1)
    with_nine = of.nine.bool().any(dim=1)[wrong]
    return {ERRORS: int(wrong.sum()), WITH_NINE: float(with_nine.double().mean()) if len(with_nine) else nan}


def _one_layer(m: SequenceMeasurements) -> dict[str, float]:
    found, of = _answers_and_columns(m)
    wrong = ~found.correct
    through_nine = (of.crossed >= 2)[wrong].double()
    return {ACCURACY: m.answered.accuracy, AT_CHAINS: float(through_nine.mean()) if len(through_nine) else nan}


CLAIMS = (
    Claim(
        id="arena.sum.solved",
        where="September, the network",
        statement="The network adds two numbers of four digits.",
        source_says="loss .007; probability of the right answer: mean .993, median .996, smallest .759",
        measure=each(_solved),
        expected={
            ACCURACY: at_least(0.995, "the source's accuracy is 1.000"),
            LOSS: at_most(0.03, "the source's loss is 0.007"),
        },
        behaviour=(ACCURACY,),
        reported=(WHOLE, SURENESS, LOWEST),
        finding=mixed("One network does not learn to add: one digit of its four-digit sums stays unlearned."),
        needs=SUM,
        scope="any seed",
    ),
    Claim(
        id="arena.sum.rule",
        where="September, an algorithm of one layer",
        statement=("Two digits make a carry if the digit that comes first in the order 0918273645 is 5 or more."),
        source_says="the source states this rule",
        measure=_rule,
        expected={EXCEPTIONS: equals(0, "the source states the rule for all pairs of digits")},
        scope="any network",
    ),
    Claim(
        id="arena.sum.chains",
        where="not in the source, which leaves repeated carries aside",
        statement="A rule that takes each carry only from the next column to the right gets 2.4% of the digits wrong.",
        source_says="not stated",
        measure=_chains,
        expected={
            name: near(value, 1e-9, "the share of wrong digits follows by arithmetic")
            for name, value in zip(
                (*BY_DIGIT, BY_RULE, SUMS_BY_RULE), (0.9505, 0.955, 1.0, 1.0, 0.976375, 0.91), strict=True
            )
        },
        scope="any network",
    ),
    Claim(
        id="arena.sum.errors",
        where="not in the source",
        statement="The network's wrong answers are sums in which a column adds up to nine.",
        source_says="not stated",
        measure=each(_errors),
        expected={
            WITH_NINE: at_least(
                0.8, "nearly all wrong sums should have a column of nine; only 0.271 of all sums have such a column"
            )
        },
        given={ERRORS: at_least(5, "the network must make enough errors, otherwise the share is undefined")},
        finding=mixed(
            "The statement fails in one network, which has not learned to add: one digit of its sums stays unlearned."
        ),
        needs=SUM,
        scope="any seed",
    ),
    Claim(
        id="arena.sum.one_layer",
        where="September, end of the probes",
        statement="A network of one layer gets about 95% of the digits right, and gets sums with repeated "
        "carries wrong.",
        source_says="about 95% of the digits are right; repeated carries are probably wrong",
        measure=each(_one_layer),
        expected={
            ACCURACY: between(0.92, 0.985, "in the source about 0.95 of the digits are right"),
            AT_CHAINS: at_least(0.5, "most wrong digits should be in sums with a repeated carry"),
        },
        behaviour=(ACCURACY,),
        needs=SUM1,
        scope="any seed",
        finding=refuted("Networks of one layer get fewer than the stated 95% of digits right."),
    ),
)
