"""What a network of constant attention makes of one circle, of some and of all (table 1, sections 3.2 to 3.4)."""

from __future__ import annotations

from modinterp.analyses.circles.isolation import ComponentCircle
from modinterp.claims.band import at_least, at_most
from modinterp.claims.claim import Change, Claim, Value, each
from modinterp.measurements import PairMeasurements
from modinterp.sources.pizza.claims.conditions import CIRCULAR, TO_TRAIN, state
from modinterp.sources.pizza.runs import CONSTANT

FIRST_PIZZA, LEAST_PIZZA = "pizza formula on the first circle", "pizza formula, least of the leading circles"
LEAST_CLOCK, MOST_CLOCK = "clock formula, least of the leading circles", "clock formula, most of the leading circles"
ADVANTAGE = "pizza less clock formula, least of the leading circles"
LEAST_TWO = "two absolute values, least of the leading circles"
LEAST_FOUR = "four absolute values, least of the leading circles"
EXCESS = "most by which absolute values exceed the pizza formula"
PROFILE = "correlation of the correct logit with the factor of the distance, least of the leading circles"
DEPTH = "size of the least over the largest mean correct logit, most of the leading circles"
ALONE, TOGETHER = "accuracy of one circle alone, most of the leading ones", "accuracy of the leading circles together"
ALL_CIRCLES = "accuracy of all circles with 2% of the variance"
WEAK, DOUBLES = "weak circles", "weak circles of twice the frequency of a leading one"
DOUBLE_SHARE = "share of weak circles of twice the frequency of a leading one"
LEAST_ACCOMPANYING = "accompanying formula, least of these circles"
WEAK_ALONE = "accuracy of the weak circles alone"
WHOLE_CLOCK, WHOLE_PIZZA = "all logits by the clock formula", "all logits by the pizza formula"
WHOLE_ADVANTAGE = "all logits by the clock formula less by the pizza formula"
NAN = float("nan")

LEADS = Change(
    date="2026-11-23",
    what="from which share of the embedding's variance a circle leads",
    before="8%",
    now="10%",
    why="The source's own Model A has 26, 25, 22, 9.3, 8.8 and 7.7%, and the source names the first three as leading and "
    "the last three as accompanying: at 8% the formula of the pizza failed on that very network, which was seen first. "
    "No network of ours had been looked at.",
)


def _explained(m: PairMeasurements, formula: str) -> list[float]:
    return [m.agreement(one, formula).explained for one in m.leading_circles]


def _pizza(m: PairMeasurements) -> dict[str, Value]:
    found = _explained(m, "pizza")
    return state(m) | {FIRST_PIZZA: found[0] if found else NAN, LEAST_PIZZA: min(found, default=NAN)}


def _clock(m: PairMeasurements) -> dict[str, Value]:
    clock, pizza = _explained(m, "clock"), _explained(m, "pizza")
    return state(m) | {
        LEAST_CLOCK: min(clock, default=NAN),
        MOST_CLOCK: max(clock, default=NAN),
        ADVANTAGE: min((y - x for x, y in zip(clock, pizza, strict=True)), default=NAN),
    }


def _absolute(m: PairMeasurements) -> dict[str, Value]:
    pizza, two, four = (_explained(m, name) for name in ("pizza", "two absolute values", "four absolute values"))
    return state(m) | {
        LEAST_TWO: min(two, default=NAN),
        LEAST_FOUR: min(four, default=NAN),
        EXCESS: max((max(x, y) - z for x, y, z in zip(two, four, pizza, strict=True)), default=NAN),
    }


def _profile(m: PairMeasurements) -> dict[str, Value]:
    found = [m.profile(one) for one in m.leading_circles]
    return state(m) | {
        PROFILE: min((one.correlation for one in found), default=NAN),
        DEPTH: max((abs(one.lowest_over_largest) for one in found), default=NAN),
    }


def _accuracy(m: PairMeasurements) -> dict[str, Value]:
    leading, alone = m.leading_circles, [m.isolated_accuracy([one]) for one in m.leading_circles]
    return state(m) | {
        ALONE: max(alone, default=NAN),
        TOGETHER: m.isolated_accuracy(leading),
        ALL_CIRCLES: m.isolated_accuracy((*leading, *m.weak_circles)),
    }


def doubled(freq: int, p: int) -> int:
    """Twice a frequency, folded back to 1 .. p // 2."""
    return min(2 * freq % p, -2 * freq % p)


def accompanied(m: PairMeasurements) -> list[tuple[ComponentCircle, int]]:
    """Weak circles of twice the frequency of a leading circle, each with the frequency of that one."""
    leading = {doubled(one.freq, m.p): one.freq for one in m.leading_circles}
    return [(one, leading[one.freq]) for one in m.weak_circles if one.freq in leading]


def _doubles(m: PairMeasurements) -> dict[str, Value]:
    count = len(m.weak_circles)
    return state(m) | {WEAK: count, DOUBLE_SHARE: len(accompanied(m)) / count if count else NAN}


def _accompanying(m: PairMeasurements) -> dict[str, Value]:
    found = [m.agreement(one, "accompanying", freq).explained for one, freq in accompanied(m)]
    return state(m) | {DOUBLES: len(found), LEAST_ACCOMPANYING: min(found, default=NAN)}


def _whole(m: PairMeasurements) -> dict[str, Value]:
    clock, pizza = (m.explained_by_leading(formula) for formula in ("clock", "pizza"))
    return state(m) | {
        WEAK_ALONE: m.isolated_accuracy(m.weak_circles),
        WHOLE_CLOCK: clock,
        WHOLE_PIZZA: pizza,
        WHOLE_ADVANTAGE: clock - pizza,
    }


CLAIMS = (
    Claim(
        id="pizza.table1.pizza",
        where="section 3.2, table 1",
        statement="The logits of one circle follow |cos(w(a - b)/2)| cos(w(a + b - c)).",
        source_says="99.18%, 99.18%, 99.28% for the frequencies 17, 3 and 15",
        measure=each(_pizza),
        given=CIRCULAR,
        expected={
            FIRST_PIZZA: at_least(0.95, "99.18% in the released Model A"),
            LEAST_PIZZA: at_least(0.90, "99.18% in the released Model A"),
        },
        printed={FIRST_PIZZA: 0.9918, LEAST_PIZZA: 0.9918},
        needs=CONSTANT,
        scope="any seed",
        finding=TO_TRAIN,
        changed=(LEADS,),
        figure="components",
    ),
    Claim(
        id="pizza.table1.clock",
        where="section 3.2, table 1",
        statement="The clock's formula explains them worse.",
        source_says="75.41%, 75.62%, 75.38%",
        measure=each(_clock),
        given=CIRCULAR,
        expected={
            LEAST_CLOCK: at_least(0.65, "75.38% in the released Model A"),
            MOST_CLOCK: at_most(0.85, "75.62% in the released Model A"),
            ADVANTAGE: at_least(0.10, "24 points in the released Model A"),
        },
        printed={LEAST_CLOCK: 0.7538, MOST_CLOCK: 0.7562},
        needs=CONSTANT,
        scope="any seed",
        finding=TO_TRAIN,
        changed=(LEADS,),
        figure="components",
    ),
    Claim(
        id="pizza.table1.code",
        where="evaluation notebook, appendix",
        statement="Formulas of absolute values, which a ReLU layer can make, explain them about as well.",
        source_says="98.31%, 98.31%, 98.41% with two absolute values; 98.36%, 98.30%, 98.61% with four",
        measure=each(_absolute),
        given=CIRCULAR,
        expected={
            LEAST_TWO: at_least(0.93, "98.31% in the released Model A"),
            LEAST_FOUR: at_least(0.93, "98.30% in the released Model A"),
            EXCESS: at_most(0.01, "they come nowhere above the pizza's formula"),
        },
        printed={LEAST_TWO: 0.9831, LEAST_FOUR: 0.9830},
        needs=CONSTANT,
        scope="any seed",
        finding=TO_TRAIN,
        changed=(LEADS,),
        figure="components",
    ),
    Claim(
        id="pizza.isolation.profile",
        where="section 3.2, figure 5",
        statement="With one circle alone the correct logit falls to zero where the two points lie opposite each other.",
        source_says="correlations 0.9994, 0.9994, 0.9992 in the released Model A",
        measure=each(_profile),
        given=CIRCULAR,
        expected={
            PROFILE: at_least(0.98, "0.9992 in the released Model A"),
            DEPTH: at_most(0.05, "0 in the released Model A"),
        },
        needs=CONSTANT,
        scope="any seed",
        finding=TO_TRAIN,
        changed=(LEADS,),
        figure="profiles",
    ),
    Claim(
        id="pizza.isolation.accuracy",
        where="section 3.3",
        statement="One circle does not suffice, and the leading circles together nearly do.",
        source_says="0.348, 0.328, 0.260 alone; 0.9966 together; 1 for all six in the released Model A",
        measure=each(_accuracy),
        given=CIRCULAR,
        expected={
            ALONE: at_most(0.7, "0.348 in the released Model A"),
            TOGETHER: at_least(0.9, "0.9966 in the released Model A"),
            ALL_CIRCLES: at_least(0.999, "1 in the released Model A"),
        },
        needs=CONSTANT,
        scope="any seed",
        finding=TO_TRAIN,
        changed=(LEADS,),
    ),
    Claim(
        id="pizza.accompanying.freq",
        where="section 3.4, appendix",
        statement="Weak circles have twice the frequency of a leading one.",
        source_says="25, 6 and 29 beside 17, 3 and 15 in the released Model A",
        measure=each(_doubles),
        given=CIRCULAR | {WEAK: at_least(1, "it is said of networks with weak circles")},
        expected={DOUBLE_SHARE: at_least(0.5, "all three in the released Model A")},
        needs=CONSTANT,
        scope="any seed",
        finding=TO_TRAIN,
        changed=(LEADS,),
        figure="components",
    ),
    Claim(
        id="pizza.accompanying.fve",
        where="section 3.4, appendix",
        statement="Their logits are -2 cos(w(a - b)) cos(w(a + b - c)), w being that of the leading circle.",
        source_says="97.56%, 97.23%, 97.69%",
        measure=each(_accompanying),
        given=CIRCULAR | {DOUBLES: at_least(1, "it is said of networks with such circles")},
        expected={LEAST_ACCOMPANYING: at_least(0.90, "97.23% in the released Model A")},
        printed={LEAST_ACCOMPANYING: 0.9723},
        needs=CONSTANT,
        scope="any seed",
        finding=TO_TRAIN,
        changed=(LEADS,),
        figure="components",
    ),
    Claim(
        id="pizza.accompanying.correct",
        where="section 3.4, appendix",
        statement="They make up for the distance: alone they are poor, and with the leading circles the logits are a clock's.",
        source_says="alone 0.167; all logits 0.9948 by the clock's formula and 0.8319 by the pizza's in Model A",
        measure=each(_whole),
        given=CIRCULAR,
        expected={
            WEAK_ALONE: at_most(0.5, "0.167 in the released Model A"),
            WHOLE_ADVANTAGE: at_least(1e-9, "0.163 in the released Model A: all logits together cannot tell a pizza"),
        },
        needs=CONSTANT,
        scope="any seed",
        finding=TO_TRAIN,
        changed=(LEADS,),
    ),
)
