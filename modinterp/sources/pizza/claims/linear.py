"""Claims on linear models: hidden layers on the sum or the concatenation of two embeddings (section 4.3, table 2)."""

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
        what="how we keep only the first circle, and in which networks",
        before=(
            "to keep the first circle, we kept two principal components of the embedding, only in circular networks; "
            f"{before}"
        ),
        now=f"to keep the first circle, we keep one frequency of the embedding, in every network; {now}",
        why=(
            "principal components mix circles of equal size; our statement on gradient symmetricity and distance "
            "irrelevance, which we wrote before measuring, has no condition on circles"
        ),
    )


CLAIMS = (
    Claim(
        id="pizza.linear.beta",
        where="section 4.3, table 2; notebook on linear models",
        statement="A network of two layers that reads the sum of the two embeddings is a pizza.",
        source_says=(
            "the symmetricity is 1.0000 and the distance irrelevance 0.2302; the clock formula explains 75.27% "
            "of the logits, absolute values explain 97.99%"
        ),
        measure=each(_linear),
        given=CIRCULAR,
        expected={
            GS: at_least(1 - 1e-4, "the symmetricity of a network that reads a sum is 1 by construction"),
            "distance_irrelevance": at_most(0.6, "the released model has a distance irrelevance of 0.2302"),
            "pizza formula on the first circle": at_least(
                0.9, "in the released model the pizza's formula explains 0.9885 of the logits"
            ),
            ADVANTAGE: at_least(
                0.1, "in the released model the pizza's formula explains 0.24 more of the logits than the clock's"
            ),
        },
        needs=BETA,
        scope="any seed",
        changed=(
            _as_frequency(
                "in linear-beta-0 the pizza's formula explains 0.9953 of the logits, 0.235 more than the clock's",
                "the pizza's formula explains 0.9970 of the logits, 0.235 more than the clock's",
            ),
        ),
        figure="phases",
    ),
    Claim(
        id="pizza.linear.delta",
        where="section 4.3, table 2; notebook on linear models",
        statement="A network of one layer that reads the two concatenated embeddings is not a pizza.",
        source_says="a released model has a symmetricity of 0.0191 and a distance irrelevance of 0.9295",
        measure=each(_linear),
        given=SOLVED,
        expected={
            GS: between(-0.3, 0.3, "a released model has a symmetricity of 0.0002 over 20,000 triples"),
            "distance_irrelevance": at_least(
                0.7, "two released models have distance irrelevances of 0.9295 and 0.9631"
            ),
            ADVANTAGE: at_most(
                -1e-9, "in a released model the pizza's formula explains 0.19 less of the logits than the clock's"
            ),
        },
        needs=DELTA,
        scope="any seed",
        changed=(
            _as_frequency(
                "the pizza's formula explains 0.189 and 0.160 less of the logits than the clock's; neither "
                "network is circular, so the claim did not apply",
                "the pizza's formula explains 0.191 and 0.175 less of the logits than the clock's",
            ),
        ),
        figure="phases",
        contrast=("pizza/attention-0-0",),
    ),
)
