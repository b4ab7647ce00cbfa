"""Explain a network on sequences by its accuracy, and by the algorithm that predicts its interventions."""

from __future__ import annotations

from collections.abc import Iterator

from modinterp.explain.algorithms import algorithm_of, algorithms_for
from modinterp.explain.criteria import ACCURACY, BANDS, Criterion, foretold
from modinterp.explain.explanation import Explanation
from modinterp.explain.faults import weights_out_of_proportion
from modinterp.explain.labels import BEHAVIOUR, DOUBTFUL
from modinterp.explain.subject import Subject
from modinterp.explain.verdict import Verdict
from modinterp.explain.warning import ReadingWarning
from modinterp.measurements import OrderMeasurements, PositionMeasurements
from modinterp.measurements.quantity import STAGES as QUANTITY_STAGES
from modinterp.measurements.quantity import number_text
from modinterp.runs import NotRecorded

GUESSING = 1.5  # times the accuracy of the commonest answer, up to which a network may be read wrongly
OF_SOME = [QUANTITY_STAGES[stage] for stage in ("task", "causal")]  # where numbers of other tasks are not shown
STAGES = ("task", "parts", "causal", "formula")


def explained(found: Subject, m: PositionMeasurements) -> Explanation:
    """Explain a network on sequences, on a sample of inputs.

    Raises:
        ValueError: a logit is not finite.
    """
    broken = int((~m.answering.answers.log_probs.isfinite()).flatten(1).any(dim=1).sum())
    if broken:
        raise ValueError(
            f"{found.run.name} gives logits that are not finite for {broken:,} of {len(m.asked.inputs):,} inputs"
        )
    words = weights_out_of_proportion(m.model)
    warning = ReadingWarning(words, (), explains=False) if words else None
    rows = tuple(row for row in m.readings(*STAGES) if row.value is not None or row.stage not in OF_SOME)
    assumed = f"{_inputs(m)}; {found.assumed.replace(', read at the last position', '')}"
    return Explanation(found.run.name, m, rows, verdict(m, warning), assumed, warning)


def _inputs(m: PositionMeasurements) -> str:
    """Return a sentence about the inputs on which the network was evaluated, and how it reads them."""
    example = " ".join(map(str, m.asked.inputs[0].tolist()))
    read, names = m.task.read_positions, m.task.position_names
    where = names[read[0]] if len(read) == 1 else f"{names[read[0]]} to {names[read[-1]]}"
    return (
        f"{len(m.asked.inputs):,} inputs drawn with seed {m.seed_of_inputs}, such as {example}, with answers "
        f"read at {where}"
    )


def verdict(m: PositionMeasurements, warning: ReadingWarning | None = None) -> Verdict:
    """Return the verdict on a network on sequences: the first algorithm that predicted every intervention, or
    `behaviour only`.
    """
    accuracy = Criterion(ACCURACY, m.reading(ACCURACY).title, m.accuracy, BANDS[ACCURACY])
    found = algorithm_of(m, True) if accuracy.met else None
    words = [] if warning is None else [warning.words]
    words.append(
        f"The network gives {m.accuracy:.2%} of the answers to {m.task.name} correctly (loss "
        f"{number_text(m.own_score.loss)} nats); always giving the most common answer would be right on "
        f"{m.chance:.2%}. All answers are right on {m.answering.whole} inputs, which means on "
        f"{m.answering.whole.precise_text} of all possible inputs."
    )
    if found is not None:
        words.append(found.says(m))
    elif accuracy.met:
        words += _nearest(m)
    elif m.accuracy <= GUESSING * m.chance:
        words.append(
            "This accuracy is hardly above guessing: the network may have learned another task, or it may "
            "use other tokens or positions than those stated above."
        )
    words += _proof(m)
    label = DOUBTFUL if warning is not None else BEHAVIOUR if found is None else found.label
    foretelling = () if found is None else tuple(foretold(found, m))
    return Verdict(label, " ".join(words), (*foretelling, accuracy), "", "" if found is None else found.name)


def _nearest(m: PositionMeasurements) -> Iterator[str]:
    """Yield sentences that say that no hypothesis holds, and which prediction of the nearest hypothesis fails."""
    tried = algorithms_for(m)
    if not tried:
        yield (
            "No hypothesis about the algorithm can be tested: either the inside of the network is not "
            "visible, or no hypothesis covers its task."
        )
        return
    yield "No tested hypothesis predicts the effects of interventions: the network's algorithm is not known."
    criteria = {each.name: tuple(foretold(each, m)) for each in tried}
    name = max(criteria, key=lambda name: min(c.value / c.band.low for c in criteria[name] if c.band.low > 0))
    missed = "; ".join(
        f"{c.name} ({number_text(c.value)}, wanted {c.band})" for c in criteria[name] if not c.met
    )  # fmt: skip
    yield f"The nearest hypothesis is '{name}', but these numbers miss their tolerances: {missed}."


def _proof(m: PositionMeasurements) -> Iterator[str]:
    try:
        proven = isinstance(m, OrderMeasurements) and m["proven"]
    except NotRecorded:
        return
    if proven:
        yield (
            f"The network's weights prove that {m.bound.proven:,} of all {m.bound.inputs:,} inputs are "
            "answered correctly."
        )
