"""Claims on external validity: whether results hold for other interventions, inputs, tasks and models, and predict
anything.
"""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.validity.runs import GROUP, OTHER_MODELS, SOLVED, WITH_NEURONS
from modinterp.sources.validity.turns import HALF, SEEN, causal, counter_turn, half_turn, half_turn_alone

COUNTERED = "answers that stay under the counter turn"


def _prediction(m: CyclicMeasurements) -> dict[str, Value]:
    found = causal(m).foretold
    return {
        "correlation of margins foretold and measured": found.correlation,
        "slope of margins measured over foretold": found.slope,
    }


def _dose(m: CyclicMeasurements) -> dict[str, Value]:
    table = causal(m).dose_response
    below = table[table["dose"] <= 1]
    about_one = table[table["dose"].between(0.8, 1.25)]
    return {
        "smallest step of the accuracy as the circles grow to their size": float(below["accuracy"].diff().min()),
        "size of the circles at half of the rise": float(
            below["dose"][below["accuracy"] >= below["accuracy"].max() / 2].min()
        ),
        "least accuracy from 0.8 to 1.25 of their size": float(about_one["accuracy"].min()),
        "largest change of another circle when one is out or doubled, share": causal(m).spill,
        "doses": len(table),
        "accuracy with other circles scaled, least": float(table["accuracy, other circles scaled"].min()),
    }


CLAIMS = (
    Claim(
        id="validity.E1.reach",
        where="E1, reach of interventions",
        statement=(
            "Interventions of different kinds agree: removing circles, restoring circles and rotating "
            "circles (in two ways) have the predicted effects on the answers."
        ),
        source_says="confirmed: the audit demands two kinds of intervention that agree",
        measure=each(
            lambda m: {
                "answers that fail without the circles": 1 - m.causal.accuracy_without,
                "answers that move by one under the half turn": half_turn(m).moved,
                COUNTERED: counter_turn(m).moved,
            }
        ),
        expected=dict.fromkeys(
            (
                "answers that fail without the circles",
                "rescue",
                "answers that move by one under the half turn",
                COUNTERED,
            ),
            at_least(0.90, SEEN),
        ),
        needs=SOLVED,
        scope="any seed",
    ),
    Claim(
        id="validity.E2.inputs",
        where="E2, inputs",
        statement=(
            "Circles found from weights alone, without inputs, change the network's answer by one when rotated "
            "by half a step. Rotating circles found from weights alone changes the answer by one on training "
            "pairs and on held-out pairs."
        ),
        source_says="confirmed: the audit demands inputs that were not used to find the mechanism",
        measure=each(
            lambda m: {
                "half turn on training pairs": causal(m).half_turn_on(m.split.train),
                "half turn on held-out pairs": causal(m).half_turn_on(m.split.test),
            }
        ),
        expected={
            "half turn on training pairs": at_least(
                0.95, "we usually require that a rotation by half a step changes 0.95 of the answers by one"
            ),
            "half turn on held-out pairs": at_least(
                0.95, "we usually require that a rotation by half a step changes 0.95 of the answers by one"
            ),
        },
        needs=SOLVED,
        scope="any seed",
    ),
    Claim(
        id="validity.E3.tasks",
        where="E3, tasks",
        statement="A network that learned a cyclic group whose elements are listed in no order also adds by circles.",
        source_says="partial: the audit demands related tasks, and the limits of the result",
        measure=lambda m: {HALF: half_turn(m).moved, COUNTERED: counter_turn(m).moved},
        expected={
            HALF: at_least(0.99, "the theory of circles is exact for a cyclic group"),
            COUNTERED: at_least(0.99, "the theory of circles is exact for a cyclic group"),
        },
        needs=(GROUP,),
        scope="any seed",
    ),
    Claim(
        id="validity.E4.models",
        where="E4, models",
        statement=(
            "In networks of other recipes, the effects that we declared before measuring occur: rotating circles "
            "changes the answer, and restoring circles restores the answer."
        ),
        source_says="partial: the audit demands a declared correspondence with other models",
        measure=each(
            lambda m: {
                HALF: half_turn_alone(m).moved,
                "formula kept by the half turn": half_turn_alone(m).kept,
            }
        ),
        expected={
            HALF: at_least(
                0.95, "we usually require that a rotation by half a step changes 0.95 of the answers by one"
            ),
            "formula kept by the half turn": at_least(
                0.80, "in a network that is only a lookup table of tokens this share is 0.13"
            ),
            "rescue": at_least(0.95, "we usually require that 0.95 of the answers are restored"),
        },
        needs=OTHER_MODELS,
        scope="any seed",
    ),
    Claim(
        id="validity.E5.dose",
        reported=(
            "accuracy with other circles scaled, least",
            "doses",
        ),
        where="E5, dose and response",
        statement=(
            "As the embedding's circles are scaled up from zero, the accuracy rises, with a threshold and a "
            "plateau. Scaling one circle of the embedding hardly changes the amplitudes of the other circles in "
            "the logits."
        ),
        source_says="untested: the audit demands seven doses, a threshold, a plateau and a measurement of side effects",
        measure=each(_dose),
        expected={
            "smallest step of the accuracy as the circles grow to their size": at_least(
                -0.01, "the accuracy should rise at every step, except for the sampling noise of 2,048 pairs"
            ),
            "size of the circles at half of the rise": between(
                0.05,
                0.7,
                "with a threshold below 0.05 of their trained size the circles would hardly matter; with "
                "one above 0.7 the trained size would barely be enough",
            ),
            "least accuracy from 0.8 to 1.25 of their size": at_least(
                0.99, "the accuracy should not depend on the exact size of the circles"
            ),
            "largest change of another circle when one is out or doubled, share": at_most(
                0.15, "the network should read each circle separately"
            ),
        },
        behaviour=(
            "smallest step of the accuracy as the circles grow to their size",
            "least accuracy from 0.8 to 1.25 of their size",
        ),
        needs=WITH_NEURONS,
        scope="any seed",
        figure="doses",
    ),
    Claim(
        id="validity.E6.prediction",
        where="E6, prediction",
        statement=(
            "The logit formula fitted to the intact network predicts, with no free parameter, the right logit's "
            "margins after removing any one circle."
        ),
        source_says="confirmed: the audit demands a prediction made beforehand",
        measure=each(_prediction),
        expected={
            "correlation of margins foretold and measured": at_least(
                0.99, "the theory predicts the margins without a free parameter"
            ),
            "slope of margins measured over foretold": between(
                0.95, 1.05, "the theory predicts the margins without a free parameter"
            ),
        },
        needs=WITH_NEURONS,
        scope="any seed",
    ),
    Claim(
        id="validity.E6.rivals",
        where="E6, prediction",
        statement=(
            "If one circle is removed, the network's wrong answers are among the three answers over which the "
            "right logit has the smallest predicted margins."
        ),
        source_says="confirmed: the audit demands a prediction made beforehand",
        measure=each(
            lambda m: {
                "wrong answers without one circle": causal(m).foretold.wrong,
                "wrong answers among the three rivals foretold, share": causal(m).foretold.among_rivals,
            }
        ),
        expected={
            "wrong answers among the three rivals foretold, share": at_least(
                0.70, "by chance three answers make up 3 / (p - 1) of the wrong answers"
            )
        },
        given={
            "wrong answers without one circle": at_least(
                1, "some answers must be wrong, otherwise there is nothing to predict"
            )
        },
        needs=WITH_NEURONS,
        scope="any seed",
        finding=mixed(
            "After removing one circle, the three answers with the smallest predicted margins make up 0.62 of "
            "the wrong answers in no-pos-0. In other networks, the three answers with the smallest predicted "
            "margins make up at least 0.71 of the wrong answers."
        ),
    ),
)
