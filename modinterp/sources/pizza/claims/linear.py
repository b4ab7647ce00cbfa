"""Linear models: hidden layers on a sum of embeddings, and on two embeddings in a row (section 4.3, table 2)."""

from __future__ import annotations

from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.pizza.claims.circles import NAN
from modinterp.sources.pizza.claims.conditions import CIRCULAR, SOLVED, circularity
from modinterp.sources.pizza.claims.models import GS
from modinterp.sources.pizza.runs import BETA, DELTA

ADVANTAGE = "pizza less clock formula on the first circle"


def _linear(m: CyclicMeasurements) -> dict[str, Value]:
    """Both formulas on the first circle, as one frequency, and the symmetricity."""
    circles = m.isolation.leading_circles
    pizza, clock = (
        m.isolation.agreement(circles[0], name).explained if circles else NAN for name in ("pizza", "clock")
    )
    return circularity(m) | {
        "pizza formula on the first circle": pizza,
        ADVANTAGE: pizza - clock,
        GS: m.symmetricity_over_pairs,
    }


def _as_frequency(before: str, now: str) -> Change:
    return Change(
        date="2026-11-25",
        what="how the first circle is kept alone, and for which networks",
        before=f"as two principal components, of circular networks alone; {before}",
        now=f"as one frequency; {now}",
        why=(
            "principal components mix circles of equal size; our prior statement on symmetricity and irrelevance "
            "has no condition on circles."
        ),
    )


CLAIMS = (
    Claim(
        id="pizza.linear.beta",
        where="section 4.3, table 2; notebook on linear models",
        statement="Two layers on the sum of the embeddings are a pizza.",
        source_says="symmetricity 1.0000, irrelevance 0.2302; clock formula 75.27%, absolute values 97.99%",
        measure=each(_linear),
        given=CIRCULAR,
        expected={
            GS: at_least(1 - 1e-4, "1 by construction"),
            "distance_irrelevance": at_most(0.6, "0.2302 in the released model"),
            "pizza formula on the first circle": at_least(
                0.9, "the pizza's formula explains 0.9885 in the released model"
            ),
            ADVANTAGE: at_least(0.1, "the pizza's formula leads by 0.24 in the released model"),
        },
        needs=BETA,
        scope="any seed",
        changed=(
            _as_frequency("the pizza's formula explains 0.9953, 0.235 ahead, in linear-beta-0", "0.9970, 0.235 ahead"),
        ),
        figure="phases",
    ),
    Claim(
        id="pizza.linear.delta",
        where="section 4.3, table 2; notebook on linear models",
        statement="A layer on the two concatenated embeddings is not a pizza.",
        source_says="symmetricity 0.0191, irrelevance 0.9295 (a released model)",
        measure=each(_linear),
        given=SOLVED,
        expected={
            GS: between(-0.3, 0.3, "a symmetricity of 0.0002 over 20,000 triples of a released model"),
            "distance_irrelevance": at_least(0.7, "0.9295 and 0.9631 in two released models"),
            ADVANTAGE: at_most(-1e-9, "the pizza's lead is -0.19 in a released model"),
        },
        needs=DELTA,
        scope="any seed",
        changed=(
            _as_frequency(
                "the pizza's formula is 0.189 and 0.160 behind; neither network is circular, so the claim did not "
                "apply",
                "0.191 and 0.175 behind",
            ),
        ),
        figure="phases",
        contrast=("pizza/attention-0-0",),
    ),
)
