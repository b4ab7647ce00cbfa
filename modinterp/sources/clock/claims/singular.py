"""Sections 9.5 and 9.6: the singular vectors of W_out, and which of the circles' directions it magnifies."""

from __future__ import annotations

import math

from modinterp.analyses.circles.alignment import gains, mean_cosine
from modinterp.claims.band import at_least, between, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.measurements.network import NEURONS
from modinterp.sources.clock.claims.conditions import ACCURATE
from modinterp.sources.clock.claims.turning import FIRST, SECOND
from modinterp.sources.clock.runs import SEEDS


def _singular_values(m: CyclicMeasurements) -> dict[str, Value]:
    values, count = m.circles.singular_directions.values, m.circles.singular_directions.large_count
    return {
        "large singular values less 2 K": count - 2 * len(m.freqs),
        "last of the large singular values over the next": float(values[count - 1] / values[count]),
    }


def _singular_pairs(m: CyclicMeasurements) -> dict[str, Value]:
    owned = {k: m.circles.singular_directions.of_frequency(k) for k in m.freqs}
    return {
        "key frequencies that own two": sum(len(numbers) == 2 for numbers in owned.values()) / len(owned),
        "lowest share of a singular vector in one circle": min(
            direction.share for direction in m.circles.singular_directions.directions
        ),
    }


def _singular_and_principal(m: CyclicMeasurements) -> dict[str, Value]:
    ratios = []
    for k in m.freqs:
        vectors = m.circles.singular_directions.vectors[:, m.circles.singular_directions.of_frequency(k)]
        directions = m.circles.plane_directions(NEURONS, k)
        cosines = [
            mean_cosine(vectors, directions.pair(pair)) if vectors.shape[1] else math.nan for pair in (FIRST, SECOND)
        ]
        ratios.append(cosines[SECOND] / cosines[FIRST])
    return {"share of key frequencies twice as near to directions 3, 4": sum(r >= 2 for r in ratios) / len(ratios)}


def _gains_of_W_out(m: CyclicMeasurements) -> dict[str, Value]:
    ratios = []
    for k in m.freqs:
        first, second = (
            gains(m.W_out, m.circles.plane_directions(NEURONS, k).pair(pair)).mean() for pair in (FIRST, SECOND)
        )
        ratios.append(float(second / first))
    return {"lowest ratio of gains": min(ratios)}


CLAIMS = (
    Claim(
        id="clock.s95.wdown_sv",
        where="section 9.5",
        statement="W_out has two large singular values for each circle.",
        source_says="6 for 3 circles",
        measure=each(_singular_values),
        expected={
            "large singular values less 2 K": between(
                -2, 2, "the source has 6 large singular values; networks of the paper's authors have 10 and 8"
            ),
            "last of the large singular values over the next": at_least(
                1.5,
                "large means compared with the other singular values; networks of the paper's authors have 2.1 and 2.3",
            ),
            **ACCURATE,
        },
        needs=SEEDS,
        scope="any seed",
        figure="singular",
        changed=(
            Change(
                date="2026-11-23",
                what="a second number of the claim has an expected value",
                before=(
                    "the claim tested only the number of values before the largest step, which is also right "
                    "before training (1 value and 1 circle)"
                ),
                now="the step must also be clear: its ratio is 3.96, 12.3 and 6.77, and 1.02 before training",
                why="every list of numbers has a largest step, even without structure",
            ),
        ),
    ),
    Claim(
        id="clock.s95.wdown_pairs",
        where="section 9.5",
        statement="The singular vectors of W_out come in pairs, one pair for each circle.",
        source_says="in the source the singular vectors 3 and 5, 1 and 2, 0 and 4 form pairs",
        measure=each(_singular_pairs),
        expected={
            "key frequencies that own two": equals(1, "every circle has its pair of singular vectors"),
            "lowest share of a singular vector in one circle": at_least(
                0.6, "each singular vector belongs to one circle"
            ),
        },
        needs=SEEDS,
        scope="any seed",
        finding=mixed(),
        figure="singular",
        changed=(
            Change(
                date="2026-11-21",
                was="refuted",
                what="which share along a singular vector is measured",
                before=(
                    "the claim measured the share of all variance along a singular vector: 0.451, 0.928 and "
                    "0.592, refuted"
                ),
                now=(
                    "the claim measures the share of the waves of a + b along a singular vector: 0.528, 0.953 and 0.605"
                ),
                why=(
                    "W_out also passes on other signals than waves of a + b; a singular vector's frequency "
                    "is found among waves of a + b only"
                ),
            ),
        ),
    ),
    Claim(
        id="clock.s95.wdown_cos",
        where="section 9.5",
        statement=(
            "Each circle has a pair of singular vectors of W_out. The pair of singular vectors resembles "
            "the third and fourth principal direction of the neurons' planes, not the first two."
        ),
        source_says="the pair of singular vectors is like the third and fourth principal direction",
        measure=each(_singular_and_principal),
        expected={
            "share of key frequencies twice as near to directions 3, 4": at_least(
                2 / 3, "in the source all three circles resemble the third and fourth direction"
            )
        },
        needs=SEEDS,
        scope="any seed",
        figure="singular",
    ),
    Claim(
        id="clock.s96.focus",
        where="section 9.6",
        statement=(
            "W_out magnifies the neurons' third and fourth principal directions, in which circles turn, more than "
            "the first and second."
        ),
        source_says="W_out magnifies the third and fourth directions",
        measure=each(_gains_of_W_out),
        expected={"lowest ratio of gains": at_least(2, "the images must be clearly longer")},
        needs=SEEDS,
        scope="any seed",
        figure="singular",
        control="also true of another operation",
    ),
)
