"""Claims on networks that were trained for the audit: exceptions to addition, and what further training undoes."""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.interventions.effects import Cosines, answers_moved
from modinterp.measurements import CyclicMeasurements, measure_as_published
from modinterp.sources.validity import dissociation
from modinterp.sources.validity.runs import EXCEPTIONS, OFFSET

RECALL_INSIDE = "exceptions that are recalled without the keys in the embedding, share"
MOVED = "half turn of the first circles: the answer moves by one, share of held-out pairs"


def _exceptions(m: CyclicMeasurements) -> dict[str, Value]:
    table, inside = dissociation.by_rule(m), dissociation.by_rule(m, "embedding")
    rule, recall = (table[task].to_dict() for task in (dissociation.RULE, dissociation.RECALL))
    return {
        "held-out sums that are right without the keys, share": rule[dissociation.WITHOUT],
        "exceptions that are recalled without the keys, share": recall[dissociation.WITHOUT],
        "held-out sums that are right with the keys alone, share": rule[dissociation.ALONE],
        "exceptions that are recalled with the keys alone, share": recall[dissociation.ALONE],
        RECALL_INSIDE: inside[dissociation.RECALL].to_dict()[dissociation.WITHOUT],
    }


def _offset(m: CyclicMeasurements) -> dict[str, Value]:
    """Measure how much remains of the circles in the initial weights."""
    first = measure_as_published(m.run.at_start())
    assert isinstance(first, CyclicMeasurements)
    freqs, sign = first.causal.circles, first.basis.sign
    before, now = (Cosines.of(x.logits.double().cpu(), freqs, sign) for x in (first, m))
    sizes = [sum(abs(a) for a in cosines.alphas.values()) for cosines in (before, now)]
    turned = m.causal.turned(freqs=freqs).logits
    places = [k - 1 for k in freqs]
    return {
        MOVED: float(answers_moved(turned, 1, sign).flatten()[m.split.test].double().mean()),
        "fit of the formula to the logits, times that before": (
            now.explained(m.logits.double().cpu()) / before.explained(first.logits.double().cpu())
        ),
        "summed size of the cosines in the logits, times that before": sizes[1] / sizes[0],
        "energy of the embedding in the first circles, share": float(m.basis.energy_shares(m.W_E.cpu())[places].sum()),
    }


CLAIMS = (
    Claim(
        id="validity.I6.exceptions",
        reported=(RECALL_INSIDE,),
        where="I6, double dissociation",
        statement=(
            "In a network that learned sums and exceptions, the key circles of the logits compute the rule (the "
            "sum). If the key circles are removed from a network that learned sums and exceptions, only answers "
            "by the rule (the sum) fail. If only the key circles of this network are kept, it answers even the "
            "exceptions by the rule (the sum)."
        ),
        source_says="untested: without a double dissociation the audited claim cannot reach the audit's next tier",
        measure=each(_exceptions),
        expected={
            "held-out sums that are right without the keys, share": at_most(
                0.10,
                "the share should be little above chance, 1 in 59; we chose the tolerance on prototypes of "
                "both networks",
            ),
            "exceptions that are recalled without the keys, share": at_least(
                0.80, "most exceptions should be recalled; we chose the tolerance on prototypes of both networks"
            ),
            "held-out sums that are right with the keys alone, share": at_least(
                0.90, "most sums should be right; we chose the tolerance on prototypes of both networks"
            ),
            "exceptions that are recalled with the keys alone, share": at_most(
                0.10,
                "networks should answer the sum instead of the exception; we chose the tolerance on "
                "prototypes of both networks",
            ),
        },
        needs=EXCEPTIONS,
        scope="any seed",
        figure="exceptions",
    ),
    Claim(
        id="validity.I12.offset",
        reported=("energy of the embedding in the first circles, share",),
        where="I12, offset",
        statement=(
            "If a network that adds is trained further, on 2% of the pairs, until it no longer adds, the circles "
            "of its embedding no longer determine the answer."
        ),
        source_says="untested: the audit demands that the mechanism vanishes where the capability is removed",
        measure=each(_offset),
        given={
            "test_accuracy": at_most(0.05, "after the further training the network should no longer be able to add")
        },
        expected={
            MOVED: at_most(
                0.10,
                "rotating circles that do not determine the answer should not change the answer; we chose "
                "the tolerance on a prototype of one network",
            ),
            "fit of the formula to the logits, times that before": at_most(
                0.10,
                "the fit of the logit formula is measured relative to that of the starting network; we "
                "chose the tolerance on a prototype of one network",
            ),
            "summed size of the cosines in the logits, times that before": at_most(
                0.25,
                "the size of the circles is measured relative to that in the starting network; we chose the"
                " tolerance on a prototype of one network",
            ),
        },
        needs=OFFSET,
        scope="any seed",
    ),
)
