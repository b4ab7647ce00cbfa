"""Measurement validity: whether the numbers are reliable, and better than their baselines."""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.validity.runs import ONE_OF_EACH, SOLVED

ON_TOP = "keys that cost more margin than every other circle, share"
RATIO = "weakest key to the strongest other circle, ratio of margins lost"


def _selection(m: CyclicMeasurements) -> dict[str, Value]:
    falls = m.causal.without_each["margin lost"]
    keys = falls[falls.index.isin(m.freqs)]
    others = falls[~falls.index.isin(m.freqs)]
    return {
        ON_TOP: float((keys > others.max()).mean()),
        RATIO: float(keys.min() / others.max()),
        "strongest other circle": int(others.idxmax()),
        "circles tried": len(falls),
    }


CLAIMS = (
    Claim(
        id="validity.M2.baseline",
        where="M2, baseline separation",
        statement="The half turn moves the answer, and changes of equal size do not: random planes, random "
        "directions, other circles.",
        source_says="confirmed: it asks for 0.10 above random and untrained baselines",
        expected={
            "half_turn": at_least(0.15, "0.10 above the largest control that is allowed"),
            "half_turn_control": at_most(0.05, "no algorithm foretells that such a change moves the answer by one"),
        },
        needs=SOLVED,
        scope="any seed",
        figure="turn",
    ),
    Claim(
        id="validity.M7.selection",
        where="M7, selection",
        statement="Key frequencies are chosen from W_L alone. Of all circles of the embedding, taken out one by one "
        "on held-out pairs, they cost the most.",
        source_says="untested: it asks for the number of candidates, the rule and its multiplicity",
        measure=each(_selection),
        expected={
            ON_TOP: at_least(1, "one circle outside the keys that costs more refutes the choice"),
            RATIO: at_least(2, "a gap, as the choice from W_L asks for one"),
        },
        needs=ONE_OF_EACH,
        scope="any seed",
    ),
)
