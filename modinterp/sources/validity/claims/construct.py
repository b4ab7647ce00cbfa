"""Construct validity: whether the thing that is named is the thing that is measured."""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Value, each
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.validity.runs import SOLVED, UNSOLVED

MOVED = "half turn of the key circles: the answer moves by one"


def _half_turn_of_keys(m: CyclicMeasurements) -> dict[str, Value]:
    turned = m.causal.turned(freqs=m.freqs)
    return {MOVED: turned.moved, "formula kept": turned.kept}


CLAIMS = (
    Claim(
        id="validity.C4.discriminant",
        where="C4, discriminant",
        statement="Half a step, where no token stands, moves the answer by one, and every circle is a Clock or a "
        "Pizza, none between.",
        source_says="partial: it asks for a named neighbour and a number that separates it",
        expected={
            "half_turn": at_least(0.95, "a table of tokens has nothing to look up there"),
            "other_circles": equals(0, "a share below 0.25 is a Clock and above 0.75 a Pizza"),
        },
        needs=SOLVED,
        scope="any seed",
        figure="turn",
    ),
    Claim(
        id="validity.C4.memorised",
        where="C4, discriminant",
        statement="In networks that fit their training pairs and generalise nothing, the half turn moves no answer.",
        source_says="partial: it asks for a named neighbour and a number that separates it",
        measure=each(_half_turn_of_keys),
        expected={MOVED: at_most(0.05, "chance is one in p")},
        needs=UNSOLVED,
        scope="any seed",
    ),
)
