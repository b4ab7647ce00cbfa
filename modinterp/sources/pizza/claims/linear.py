"""Linear models: hidden layers on a sum of embeddings, and on two embeddings in a row (section 4.3, table 2)."""

from __future__ import annotations

from collections.abc import Sequence

from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.claim import Claim, Value
from modinterp.measurements import PairMeasurements
from modinterp.sources.pizza.claims.conditions import CIRCULAR_RUNS, HAS_CIRCULAR, TO_TRAIN, circular
from modinterp.sources.pizza.claims.models import DI, GS, RELEASED_GS
from modinterp.sources.pizza.runs import BETA, DELTA

CIRCULAR_DI = "distance irrelevance of circular runs"
FIRST_PIZZA, FIRST_CLOCK = "pizza formula on the first circle", "clock formula on the first circle"
ADVANTAGE = "pizza less clock formula on the first circle"


def _first(runs: Sequence[PairMeasurements]) -> dict[str, Value]:
    """The two formulas on the first circle of every circular run."""
    chosen = circular(runs)
    pizza, clock = (
        [m.agreement(m.component_circles[0], name).explained for m in chosen] for name in ("pizza", "clock")
    )
    return {
        CIRCULAR_RUNS: len(chosen),
        CIRCULAR_DI: [m.irrelevance.correct for m in chosen],
        FIRST_PIZZA: pizza,
        FIRST_CLOCK: clock,
        ADVANTAGE: [x - y for x, y in zip(pizza, clock, strict=True)],
    }


def _linear(*runs: PairMeasurements) -> dict[str, Value]:
    return _first(runs) | {
        GS: [m.symmetricity_over_pairs for m in runs],
        RELEASED_GS: [m.symmetricity_of_released_triples for m in runs],
        DI: [m.irrelevance.correct for m in runs],
    }


CLAIMS = (
    Claim(
        id="pizza.linear.beta",
        where="section 4.3, table 2; notebook on linear models",
        statement="Two layers on the sum of the embeddings are a pizza.",
        source_says="symmetricity 1.0000, irrelevance 0.2302; clock formula 75.27%, absolute values 97.99%",
        measure=_linear,
        given=HAS_CIRCULAR,
        expected={
            GS: at_least(1 - 1e-4, "1 by construction"),
            CIRCULAR_DI: at_most(0.6, "0.2302 in the released model"),
            FIRST_PIZZA: at_least(0.9, "0.9885 in the released model"),
            ADVANTAGE: at_least(0.1, "0.24 in the released model"),
        },
        needs=BETA,
        scope="any seed",
        figure="phases",
    ),
    Claim(
        id="pizza.linear.delta",
        where="section 4.3, table 2; notebook on linear models",
        statement="A layer on the two embeddings in a row is no pizza.",
        source_says="symmetricity 0.0191, irrelevance 0.9295 (a released model)",
        measure=_linear,
        given=HAS_CIRCULAR,
        expected={
            GS: between(-0.3, 0.3, "0.0002 over 20,000 triples of a released model"),
            DI: at_least(0.7, "0.9295 and 0.9631 in two released models"),
            ADVANTAGE: at_most(-1e-9, "-0.19 in a released model"),
        },
        needs=DELTA,
        scope="any seed",
        finding=TO_TRAIN,
        figure="phases",
    ),
)
