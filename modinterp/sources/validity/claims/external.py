"""External validity: whether it holds for other interventions, inputs, tasks and models, and foretells anything."""

from __future__ import annotations

from modinterp.claims.band import at_least, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.validity.runs import ONE_OF_EACH, SOLVED

REMOVED = "answers that fail without the circles"
INSERTED = "answers recovered by the circles alone"
TURNED = "answers that move by one under the half turn"
COUNTERED = "answers that stay under the counter turn"
ON_TRAINED = "half turn on training pairs"
ON_HELD_OUT = "half turn on held-out pairs"
CORRELATION = "correlation of margins foretold and measured"
SLOPE = "slope of margins measured over foretold"
WRONG = "wrong answers without one circle"
RIVALS = "wrong answers among the three rivals foretold, share"
_SEEN = "set after numbers had been seen"


def _reach(m: CyclicMeasurements) -> dict[str, Value]:
    return {
        REMOVED: 1 - m.causal.accuracy_without,
        INSERTED: m.causal.rescue[0],
        TURNED: m.causal.half_turn.moved,
        COUNTERED: m.causal.counter_turn.moved,
    }


def _inputs(m: CyclicMeasurements) -> dict[str, Value]:
    return {ON_TRAINED: m.causal.half_turn_on(m.split.train), ON_HELD_OUT: m.causal.half_turn_on(m.split.test)}


def _prediction(m: CyclicMeasurements) -> dict[str, Value]:
    found = m.causal.foretold
    return {CORRELATION: found.correlation, SLOPE: found.slope}


def _wrong_answers(m: CyclicMeasurements) -> dict[str, Value]:
    return {WRONG: m.causal.foretold.wrong, RIVALS: m.causal.foretold.among_rivals}


CLAIMS = (
    Claim(
        id="validity.E1.reach",
        where="E1, reach of interventions",
        statement="Interventions of different kinds agree: removal, restoration and two turns do what the account "
        "says.",
        source_says="confirmed: it asks for two kinds of intervention that agree",
        measure=each(_reach),
        expected=dict.fromkeys((REMOVED, INSERTED, TURNED, COUNTERED), at_least(0.90, _SEEN)),
        needs=SOLVED,
        scope="any seed",
    ),
    Claim(
        id="validity.E2.inputs",
        where="E2, inputs",
        statement="The circles are found from weights, without inputs, and their half turn works on training and on "
        "held-out pairs.",
        source_says="confirmed: it asks for other inputs than those of the discovery",
        measure=each(_inputs),
        expected={
            ON_TRAINED: at_least(0.95, "the tolerance of the half turn"),
            ON_HELD_OUT: at_least(0.95, "the tolerance of the half turn"),
        },
        needs=SOLVED,
        scope="any seed",
    ),
    Claim(
        id="validity.E6.prediction",
        where="E6, prediction",
        statement="The formula of the intact network foretells the margins without each circle, with no free "
        "parameter.",
        source_says="confirmed: it asks for a prediction made before",
        measure=each(_prediction),
        expected={
            CORRELATION: at_least(0.99, "the account has no free parameter here"),
            SLOPE: between(0.95, 1.05, "the account has no free parameter here"),
        },
        needs=ONE_OF_EACH,
        scope="any seed",
    ),
    Claim(
        id="validity.E6.rivals",
        where="E6, prediction",
        statement="Without one circle the wrong answers are those three whose margins the formula foretells as the "
        "smallest.",
        source_says="confirmed: it asks for a prediction made before",
        measure=each(_wrong_answers),
        expected={RIVALS: at_least(0.70, "three of p - 1 wrong answers")},
        given={WRONG: at_least(1, "without a wrong answer there is nothing to foretell")},
        needs=ONE_OF_EACH,
        scope="any seed",
    ),
)
