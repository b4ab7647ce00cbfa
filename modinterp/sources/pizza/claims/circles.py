"""Effect of one circle, some circles and all circles in a network of constant attention (table 1, sections 3.2 to 3.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from modinterp.analyses.circles.isolation import Circle
from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Measure, Value, each
from modinterp.claims.finding import mixed
from modinterp.measurements import CyclicMeasurements
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

LEADS = Change(
    date="2026-11-23",
    what="the share of the embedding's variance from which a circle counts as leading",
    before="8%",
    now="10%",
    why="Circles of the source's Model A have 26, 25, 22, 9.3, 8.8 and 7.7%. The source calls the first three leading "
    "and the last three accompanying. At 8% the pizza's formula failed on Model A, before we examined any of ours.",
)


def by_frequency(before: str, now: str) -> tuple[Change, Change]:
    """The two changes: what was measured of attention-0-1 by principal components, and of all networks by frequency."""
    return LEADS, Change(
        date="2026-11-25",
        was="" if before.endswith("held") else "refuted",
        what="how a single circle is kept, and in which networks",
        before=f"as two principal components, in networks whose first four are circles to 0.995; in attention-0-1 {before}",
        now=f"as one frequency, in every network that solves the task; {now}",
        why="components mix equal circles (16.3 and 16.2% in attention-0-0). In Model A the pizza's formula "
        "explains 0.992 by components, 0.995 to 0.997 by frequency. Without mixing, both methods agree.",
    )


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
    """Twice a frequency, folded back to 1 .. p // 2."""
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
        statement="The logits of one circle follow |cos(w(a - b)/2)| cos(w(a + b - c)).",
        source_says="explained: 99.18%, 99.18%, 99.28% for the frequencies 17, 3 and 15",
        measure=_of_circles(_pizza, FIRST_PIZZA, LEAST_PIZZA),
        given=SOLVED,
        expected={
            FIRST_PIZZA: at_least(0.95, "99.18% in the released Model A"),
            LEAST_PIZZA: at_least(0.90, "99.18% in the released Model A"),
        },
        printed={FIRST_PIZZA + BY_COMPONENTS: 0.9918, LEAST_PIZZA + BY_COMPONENTS: 0.9918},
        needs=CONSTANT,
        scope="any seed",
        finding=mixed(
            "In attention-0-1 the formula explains 0.84 to 0.94 of three circles, and 0.35 of the fourth, which "
            "has no partner of twice its frequency. Other networks have 0.98 and more. With the source's pairs of "
            "principal components, attention-0-1, the only circular network, has 0.25."
        ),
        control="without control",
        changed=by_frequency(
            "0.937 on the first circle and 0.25 on the fourth",
            "0.990 to 0.997 on all circles of attention-0-0 and -0-2, 0.937 to 0.353 in attention-0-1",
        ),
        figure="components",
    ),
    Claim(
        id="pizza.table1.clock",
        where="section 3.2, table 1",
        statement="The clock's formula explains the logits of one circle worse than the pizza's.",
        source_says="75.41%, 75.62%, 75.38%",
        measure=_of_circles(_clock, LEAST_CLOCK, MOST_CLOCK),
        given=SOLVED,
        expected={
            LEAST_CLOCK: at_least(0.65, "75.38% in the released Model A"),
            MOST_CLOCK: at_most(0.85, "75.62% in the released Model A"),
            "pizza less clock formula, least of the leading circles": at_least(
                0.10, "24 points in the released Model A"
            ),
        },
        printed={LEAST_CLOCK + BY_COMPONENTS: 0.7538, MOST_CLOCK + BY_COMPONENTS: 0.7562},
        needs=CONSTANT,
        scope="any seed",
        finding=mixed(
            "In all networks the clock's formula explains the logits worse than the pizza's, by 0.15 and more. "
            "But in attention-0-1 neither formula is within its tolerance. The clock's formula explains 0.20 of a "
            "circle without a partner of twice its frequency, and 0.63 of another circle."
        ),
        control="without control",
        changed=by_frequency(
            "clock formula 0.20 to 0.72, 0.05 less than the pizza's",
            "clock formula 0.76 to 0.77, 0.22 less than the pizza's; 0.20 to 0.72 in attention-0-1",
        ),
        figure="components",
    ),
    Claim(
        id="pizza.table1.code",
        where="evaluation notebook, appendix",
        statement="Formulas of absolute values, which a ReLU layer can compute, explain the logits of one circle "
        "about as well as the pizza's formula.",
        source_says="98.31%, 98.31%, 98.41% with two absolute values; 98.36%, 98.30%, 98.61% with four",
        measure=_of_circles(_absolute, LEAST_TWO, LEAST_FOUR),
        given=SOLVED,
        expected={
            LEAST_TWO: at_least(0.93, "98.31% in the released Model A"),
            LEAST_FOUR: at_least(0.93, "98.30% in the released Model A"),
            "most by which absolute values exceed the pizza formula": at_most(
                0.01, "formulas of absolute values are never better than the pizza's formula"
            ),
        },
        printed={LEAST_TWO + BY_COMPONENTS: 0.9831, LEAST_FOUR + BY_COMPONENTS: 0.9830},
        needs=CONSTANT,
        scope="any seed",
        finding=mixed(
            "The statement fails in attention-0-1: the formulas of absolute values explain 0.93, 0.92, 0.84 and "
            "0.35 of its circles, like the pizza's formula. The last circle has no partner of twice its frequency."
        ),
        control="without control",
        changed=by_frequency("0.24 at least", "0.981 and more, but 0.35 in attention-0-1"),
        figure="components",
    ),
    Claim(
        id="pizza.isolation.profile",
        where="section 3.2, figure 5",
        statement="With one circle alone the correct logit is zero where the two points lie opposite each other.",
        source_says="correlations 0.9994, 0.9994, 0.9992 in the released Model A",
        measure=_of_circles(_profile, DEPTH),
        given=SOLVED,
        expected={
            PROFILE: at_least(0.98, "0.9992 in the released Model A"),
            DEPTH: at_most(0.05, "the smallest logit is 0 in the released Model A"),
        },
        reported=(DEPTH + BY_COMPONENTS,),
        needs=CONSTANT,
        scope="any seed",
        finding=mixed(),
        changed=by_frequency("correlation 0.984, depth 0.27", "correlation 0.989 and more, depth 0.003 and less"),
        figure="profiles",
        contrast=("pizza/attention-1-0",),
    ),
    Claim(
        id="pizza.isolation.accuracy",
        where="section 3.3",
        statement="One circle does not suffice for the task; the leading circles together nearly suffice.",
        source_says="accuracy in the released Model A: 0.348, 0.328, 0.260 alone; 0.9966 together; 1 for all six",
        measure=_of_circles(
            lambda m, leading, weak: {
                ALONE: max((m.isolation.isolated_accuracy([one]) for one in leading), default=NAN),
                TOGETHER: m.isolation.isolated_accuracy(leading),
                "accuracy of all circles with 2% of the variance": m.isolation.isolated_accuracy((*leading, *weak)),
            }
        ),
        given=SOLVED,
        expected={
            ALONE: at_most(0.7, "accuracy 0.348 in the released Model A"),
            TOGETHER: at_least(0.9, "accuracy 0.9966 in the released Model A"),
            "accuracy of all circles with 2% of the variance": at_least(0.999, "1 in the released Model A"),
        },
        needs=CONSTANT,
        scope="any seed",
        changed=by_frequency(
            "accuracy of 0.14 alone, 0.997 together; held", "accuracy of 0.15 to 0.34 alone, 1 together; held"
        ),
    ),
    Claim(
        id="pizza.accompanying.freq",
        where="section 3.4, appendix",
        statement="Weak circles have twice the frequency of a leading one.",
        source_says="weak 25, 6 and 29 for leading 17, 3 and 15 in the released Model A",
        measure=_of_circles(_doubles),
        given=SOLVED | {WEAK: at_least(1, "the statement is about networks with weak circles")},
        expected={
            "share of weak circles of twice the frequency of a leading one": at_least(
                0.5, "all three weak circles in the released Model A"
            )
        },
        needs=CONSTANT,
        scope="any seed",
        changed=by_frequency("all three; held", "all weak circles, three or four in each network; held"),
        figure="components",
    ),
    Claim(
        id="pizza.accompanying.fve",
        where="section 3.4, appendix",
        statement="Weak circles have the logits -2 cos(w(a - b)) cos(w(a + b - c)), w being the leading frequency.",
        source_says="97.56%, 97.23%, 97.69%",
        measure=_of_circles(_accompanying, LEAST_ACCOMPANYING),
        given=SOLVED | {DOUBLES: at_least(1, "the statement is about networks with such circles")},
        expected={LEAST_ACCOMPANYING: at_least(0.90, "97.23% in the released Model A")},
        printed={LEAST_ACCOMPANYING + BY_COMPONENTS: 0.9723},
        needs=CONSTANT,
        scope="any seed",
        finding=mixed(
            "The statement fails in attention-0-1: the formula explains 0.30 of the worst weak circle. With the "
            "source's pairs of principal components it holds in no network: 0.88, -0.17, 0.28 and -0.16."
        ),
        control="without control",
        changed=by_frequency("-0.17", "0.93 and 0.97 at least in attention-0-0 and -0-2, 0.30 in attention-0-1"),
        figure="components",
    ),
    Claim(
        id="pizza.accompanying.correct",
        where="section 3.4, appendix",
        statement="Weak circles answer badly alone, but cancel the pizza's dependence on distance and so make a clock.",
        source_says="weak circles alone 0.167; clock formula 0.9948 on all logits, pizza formula 0.8319 in Model A",
        measure=each(_whole),
        given=SOLVED,
        expected={
            "accuracy of the weak circles alone": at_most(0.5, "accuracy 0.167 in the released Model A"),
            "all logits by the clock formula less by the pizza formula": at_least(
                1e-9,
                "0.163 in the released Model A: all logits together do not reveal a pizza",
            ),
        },
        behaviour=("accuracy of the weak circles alone",),
        needs=CONSTANT,
        scope="any seed",
        changed=by_frequency(
            "accuracy 0.11 alone, the clock's formula ahead by 0.09; held",
            "accuracy 0.06 to 0.11 alone, the clock's formula ahead by 0.09 to 0.15; held",
        ),
        control="also true of a contrast",
        contrast=("pizza/attention-1-0",),
    ),
)
