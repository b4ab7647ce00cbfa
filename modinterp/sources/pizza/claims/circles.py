"""Claims on networks of constant attention: effects of one, some and all circles (table 1, sections 3.2 to 3.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from modinterp.analyses.circles.isolation import Circle
from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Measure, Value, each
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.pizza.claims.changes import by_frequency
from modinterp.sources.pizza.claims.conditions import SOLVED
from modinterp.sources.pizza.runs import CONSTANT

FIRST_PIZZA, LEAST_PIZZA = "pizza formula on the first circle", "pizza formula, least of the leading circles"
LEAST_CLOCK, MOST_CLOCK = "clock formula, least of the leading circles", "clock formula, most of the leading circles"
LEAST_TWO = "two absolute values, least of the leading circles"
LEAST_FOUR = "four absolute values, least of the leading circles"
PROFILE = "correlation of the correct logit with the factor of the distance, least of the leading circles"
DEPTH = "size of the least over the largest mean correct logit, most of the leading circles"
ALONE, TOGETHER = "accuracy of one circle alone, most of the leading ones", "accuracy of the leading circles together"
WEAK, DOUBLES = "weak circles", "weak circles of twice the frequency of a leading one"
LEAST_ACCOMPANYING = "accompanying formula, least of these circles"
BY_COMPONENTS = ", by principal components"
NAN = float("nan")

Numbers = Callable[[CyclicMeasurements, Sequence[Circle], Sequence[Circle]], dict[str, Value]]


def _of_circles(numbers: Numbers, *by_components: str) -> Measure:
    """Numbers of leading and weak circles by frequency, and some of pairs of principal components, as in the source."""

    def measure(m: CyclicMeasurements) -> dict[str, Value]:
        found = numbers(m, m.isolation.leading_circles, m.isolation.weak_circles)
        if not by_components:
            return found
        of_components = numbers(m, m.isolation.leading_components, m.isolation.weak_components)
        return found | {name + BY_COMPONENTS: of_components[name] for name in by_components}

    return each(measure)


def _explained(m: CyclicMeasurements, formula: str, circles: Sequence[Circle]) -> list[float]:
    return [m.isolation.agreement(one, formula).explained for one in circles]


def _pizza(m: CyclicMeasurements, leading: Sequence[Circle], weak: Sequence[Circle]) -> dict[str, Value]:
    found = _explained(m, "pizza", leading)
    return {FIRST_PIZZA: found[0] if found else NAN, LEAST_PIZZA: min(found, default=NAN)}


def _clock(m: CyclicMeasurements, leading: Sequence[Circle], weak: Sequence[Circle]) -> dict[str, Value]:
    clock, pizza = _explained(m, "clock", leading), _explained(m, "pizza", leading)
    return {
        LEAST_CLOCK: min(clock, default=NAN),
        MOST_CLOCK: max(clock, default=NAN),
        "pizza less clock formula, least of the leading circles": min(
            (y - x for x, y in zip(clock, pizza, strict=True)), default=NAN
        ),
    }


def _absolute(m: CyclicMeasurements, leading: Sequence[Circle], weak: Sequence[Circle]) -> dict[str, Value]:
    pizza = _explained(m, "pizza", leading)
    two, four = (_explained(m, f"{number} absolute values", leading) for number in ("two", "four"))
    return {
        LEAST_TWO: min(two, default=NAN),
        LEAST_FOUR: min(four, default=NAN),
        "most by which absolute values exceed the pizza formula": max(
            (max(x, y) - z for x, y, z in zip(two, four, pizza, strict=True)), default=NAN
        ),
    }


def _profile(m: CyclicMeasurements, leading: Sequence[Circle], weak: Sequence[Circle]) -> dict[str, Value]:
    found = [m.isolation.profile(one) for one in leading]
    return {
        PROFILE: min((one.correlation for one in found), default=NAN),
        DEPTH: max((abs(one.lowest_over_largest) for one in found), default=NAN),
    }


def doubled(freq: int, p: int) -> int:
    """Return twice a frequency, folded back to 1 .. p // 2."""
    return min(2 * freq % p, -2 * freq % p)


def _accompanied(p: int, leading: Sequence[Circle], weak: Sequence[Circle]) -> list[tuple[Circle, int]]:
    """Weak circles of twice the frequency of a leading circle, each with the frequency of that one."""
    of_double = {doubled(one.freq, p): one.freq for one in leading}
    return [(one, of_double[one.freq]) for one in weak if one.freq in of_double]


def _doubles(m: CyclicMeasurements, leading: Sequence[Circle], weak: Sequence[Circle]) -> dict[str, Value]:
    share = len(_accompanied(m.p, leading, weak)) / len(weak) if weak else NAN
    return {WEAK: len(weak), "share of weak circles of twice the frequency of a leading one": share}


def _accompanying(m: CyclicMeasurements, leading: Sequence[Circle], weak: Sequence[Circle]) -> dict[str, Value]:
    found = [
        m.isolation.agreement(one, "accompanying", freq).explained for one, freq in _accompanied(m.p, leading, weak)
    ]
    return {DOUBLES: len(found), LEAST_ACCOMPANYING: min(found, default=NAN)}


def _whole(m: CyclicMeasurements) -> dict[str, Value]:
    clock, pizza = (m.isolation.explained_by_leading(formula) for formula in ("clock", "pizza"))
    return {
        "accuracy of the weak circles alone": m.isolation.isolated_accuracy(m.isolation.weak_circles),
        "all logits by the clock formula less by the pizza formula": clock - pizza,
    }


CLAIMS = (
    Claim(
        id="pizza.table1.pizza",
        where="section 3.2, table 1",
        statement="If only one circle of the embedding is kept, the logits follow |cos(w(a - b)/2)| cos(w(a + b - c)), the pizza's formula.",
        source_says="the formula explains 99.18%, 99.18% and 99.28% of the logits for the frequencies 17, 3 and 15",
        measure=_of_circles(_pizza, FIRST_PIZZA, LEAST_PIZZA),
        given=SOLVED,
        expected={
            FIRST_PIZZA: at_least(0.95, "in Model A the pizza's formula explains 99.18% of the logits"),
            LEAST_PIZZA: at_least(0.90, "in Model A the pizza's formula explains 99.18% of the logits"),
        },
        printed={FIRST_PIZZA + BY_COMPONENTS: 0.9918, LEAST_PIZZA + BY_COMPONENTS: 0.9918},
        needs=CONSTANT,
        scope="any seed",
        finding=mixed(
            "In attention-0-1 the pizza's formula explains 0.84 to 0.94 of the logits of three circles. For the fourth circle of attention-0-1 the pizza's formula explains 0.35 of the logits; no circle has twice the frequency of the fourth circle. In other networks the pizza's formula explains 0.98 and more of the logits of one circle. With the source's pairs of principal components, the pizza's formula explains 0.25 of the logits in attention-0-1, the only circular network."
        ),
        control="without control",
        changed=by_frequency(
            "the pizza's formula explains 0.937 of the logits of the first circle and 0.25 of the logits of the fourth circle",
            "the pizza's formula explains 0.990 to 0.997 of the logits of all circles in attention-0-0 and -0-2, and 0.353 to 0.937 in attention-0-1",
        ),
        figure="components",
    ),
    Claim(
        id="pizza.table1.clock",
        where="section 3.2, table 1",
        statement="The clock's formula explains the logits of one circle worse than the pizza's formula does.",
        source_says="the clock's formula explains 75.41%, 75.62% and 75.38% of the logits",
        measure=_of_circles(_clock, LEAST_CLOCK, MOST_CLOCK),
        given=SOLVED,
        expected={
            LEAST_CLOCK: at_least(
                0.65, "in Model A the clock's formula explains at least 75.38% of the logits of one circle"
            ),
            MOST_CLOCK: at_most(
                0.85, "in Model A the clock's formula explains at most 75.62% of the logits of one circle"
            ),
            "pizza less clock formula, least of the leading circles": at_least(
                0.10, "in the released Model A the pizza's formula explains 24 percentage points more than the clock's"
            ),
        },
        printed={LEAST_CLOCK + BY_COMPONENTS: 0.7538, MOST_CLOCK + BY_COMPONENTS: 0.7562},
        needs=CONSTANT,
        scope="any seed",
        finding=mixed(
            "In all networks the clock's formula explains less of the logits than the pizza's formula, by a share of 0.15 and more. In attention-0-1 neither the clock's formula nor the pizza's formula meets its tolerance. In attention-0-1 the clock's formula explains 0.20 of the logits of one circle, and 0.63 of the logits of another circle."
        ),
        control="without control",
        changed=by_frequency(
            "the clock's formula explains 0.20 to 0.72 of the logits, 0.05 less than the pizza's formula",
            "the clock's formula explains 0.76 to 0.77 of the logits, 0.22 less than the pizza's formula; in attention-0-1 the clock's formula explains 0.20 to 0.72",
        ),
        figure="components",
    ),
    Claim(
        id="pizza.table1.code",
        where="evaluation notebook, appendix",
        statement="Formulas of absolute values, which a ReLU layer can compute, explain the logits of one circle about as well as the pizza's formula.",
        source_says="formulas with two absolute values explain 98.31%, 98.31% and 98.41% of the logits; formulas with four explain 98.36%, 98.30% and 98.61%",
        measure=_of_circles(_absolute, LEAST_TWO, LEAST_FOUR),
        given=SOLVED,
        expected={
            LEAST_TWO: at_least(0.93, "in Model A the formula with two absolute values explains 98.31% of the logits"),
            LEAST_FOUR: at_least(
                0.93, "in Model A the formula with four absolute values explains 98.30% of the logits"
            ),
            "most by which absolute values exceed the pizza formula": at_most(
                0.01, "formulas of absolute values should explain no more than the pizza's formula"
            ),
        },
        printed={LEAST_TWO + BY_COMPONENTS: 0.9831, LEAST_FOUR + BY_COMPONENTS: 0.9830},
        needs=CONSTANT,
        scope="any seed",
        finding=mixed(
            "The statement fails in the network attention-0-1. In attention-0-1 formulas of absolute values explain 0.93, 0.92, 0.84 and 0.35 of the four circles' logits, about as much as the pizza's formula."
        ),
        control="without control",
        changed=by_frequency(
            "formulas of absolute values explain at least 0.24 of the logits",
            "formulas of absolute values explain 0.981 of the logits and more, but 0.35 in attention-0-1",
        ),
        figure="components",
    ),
    Claim(
        id="pizza.isolation.profile",
        where="section 3.2, figure 5",
        statement="If only one circle is kept, the correct logit is zero for pairs a, b whose points lie opposite each other on the circle.",
        source_says="in Model A the correlations with the distance factor are 0.9994, 0.9994 and 0.9992",
        measure=_of_circles(_profile, DEPTH),
        given=SOLVED,
        expected={
            PROFILE: at_least(0.98, "in Model A the smallest correlation with the distance factor is 0.9992"),
            DEPTH: at_most(0.05, "in the released Model A the smallest mean of the correct logit is 0"),
        },
        reported=(DEPTH + BY_COMPONENTS,),
        needs=CONSTANT,
        scope="any seed",
        finding=mixed(),
        changed=by_frequency(
            "the correct logit has a correlation of 0.984 with the pizza's factor of the distance a - b; the logit's smallest mean over pairs of one distance is 0.27 of its largest mean",
            "the correct logit has a correlation of at least 0.989 with the pizza's factor of the distance a - b; the logit's smallest mean over pairs of one distance is at most 0.003 of its largest mean",
        ),
        figure="profiles",
        contrast=("pizza/attention-1-0",),
    ),
    Claim(
        id="pizza.isolation.accuracy",
        where="section 3.3",
        statement="One circle of the embedding does not suffice to answer all pairs; the leading circles together nearly suffice.",
        source_says="in the released Model A single circles have an accuracy of 0.348, 0.328 and 0.260; the three leading circles together have 0.9966, and all six have 1",
        measure=_of_circles(
            lambda m, leading, weak: {
                ALONE: max((m.isolation.isolated_accuracy([one]) for one in leading), default=NAN),
                TOGETHER: m.isolation.isolated_accuracy(leading),
                "accuracy of all circles with 2% of the variance": m.isolation.isolated_accuracy((*leading, *weak)),
            }
        ),
        given=SOLVED,
        expected={
            ALONE: at_most(0.7, "in Model A the best circle alone has an accuracy of 0.348"),
            TOGETHER: at_least(0.9, "in Model A the leading circles together have an accuracy of 0.9966"),
            "accuracy of all circles with 2% of the variance": at_least(
                0.999, "in Model A all six circles together have an accuracy of 1"
            ),
        },
        needs=CONSTANT,
        scope="any seed",
        changed=by_frequency(
            "single circles have an accuracy of 0.14, and the leading circles together 0.997; held",
            "single circles have an accuracy of 0.15 to 0.34, and the leading circles together 1; held",
        ),
    ),
    Claim(
        id="pizza.accompanying.freq",
        where="section 3.4, appendix",
        statement="Each weak circle has twice the frequency of a leading circle.",
        source_says="in the released Model A the weak frequencies are 25, 6 and 29; the leading frequencies are 17, 3 and 15",
        measure=_of_circles(_doubles),
        given=SOLVED | {WEAK: at_least(1, "the statement is about networks with weak circles")},
        expected={
            "share of weak circles of twice the frequency of a leading one": at_least(
                0.5, "in Model A all three weak circles have twice a leading frequency"
            )
        },
        needs=CONSTANT,
        scope="any seed",
        changed=by_frequency(
            "all three weak circles have twice a leading frequency; held",
            "all weak circles have twice a leading frequency, three or four in each network; held",
        ),
        figure="components",
    ),
    Claim(
        id="pizza.accompanying.fve",
        where="section 3.4, appendix",
        statement="If only a weak circle is kept, the logits are -2 cos(w(a - b)) cos(w(a + b - c)), where w is the leading frequency and 2w the weak one.",
        source_says="this formula explains 97.56%, 97.23% and 97.69% of the logits",
        measure=_of_circles(_accompanying, LEAST_ACCOMPANYING),
        given=SOLVED
        | {DOUBLES: at_least(1, "the statement is about networks with weak circles of twice a leading frequency")},
        expected={
            LEAST_ACCOMPANYING: at_least(
                0.90, "in Model A the formula explains at least 97.23% of the logits of each weak circle"
            )
        },
        printed={LEAST_ACCOMPANYING + BY_COMPONENTS: 0.9723},
        needs=CONSTANT,
        scope="any seed",
        finding=mixed(
            "The statement fails in attention-0-1: for one weak circle, -2 cos(w(a - b)) cos(w(a + b - c)) explains "
            "only 0.30 of the logits. With the source's pairs of principal components the statement holds in no "
            "network. With pairs of principal components, the formula of the statement explains 0.88, -0.17, 0.28 "
            "and -0.16 of the logits of weak circles."
        ),
        control="without control",
        changed=by_frequency(
            "the formula of weak circles explains -0.17 of the logits of the worst weak circle",
            "the formula of weak circles explains at least 0.93 of a weak circle's logits in attention-0-0, 0.97 in attention-0-2 and 0.30 in attention-0-1",
        ),
        figure="components",
    ),
    Claim(
        id="pizza.accompanying.correct",
        where="section 3.4, appendix",
        statement="If only the weak circles of the embedding are kept, the network answers few pairs. The logits of weak circles cancel the pizza's dependence on the distance a - b, so that all circles together act as a clock.",
        source_says="in Model A the weak circles alone have an accuracy of 0.167; on all logits the clock formula explains 0.9948, the pizza formula 0.8319",
        measure=each(_whole),
        given=SOLVED,
        expected={
            "accuracy of the weak circles alone": at_most(
                0.5, "in Model A the weak circles alone have an accuracy of 0.167"
            ),
            "all logits by the clock formula less by the pizza formula": at_least(
                1e-9,
                "in Model A the clock's formula explains 0.163 more of all logits than the pizza's: all logits together do not reveal a pizza",
            ),
        },
        behaviour=("accuracy of the weak circles alone",),
        needs=CONSTANT,
        scope="any seed",
        changed=by_frequency(
            "weak circles alone have an accuracy of 0.11, and the clock's formula explains 0.09 more of all logits than the pizza's; held",
            "weak circles alone have an accuracy of 0.06 to 0.11, and the clock's formula explains 0.09 to 0.15 more of all logits than the pizza's; held",
        ),
        control="also true of a contrast",
        contrast=("pizza/attention-1-0",),
    ),
)
