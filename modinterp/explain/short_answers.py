"""Give the verdict as three short answers: does the network solve its task, how, and how certain is this?"""

from __future__ import annotations

from modinterp.explain.labels import (
    BEHAVIOUR,
    DOUBTFUL,
    FOURIER,
    INTEGERS,
    MEAN,
    MEMORISED,
    MIXED,
    PARTLY,
    PERIODIC,
    SOLVED,
    WAVES,
)
from modinterp.explain.verdict import Verdict
from modinterp.explain.warning import ReadingWarning
from modinterp.measurements import CyclicMeasurements, NetworkMeasurements, PairMeasurements, PositionMeasurements
from modinterp.measurements.quantity import number_text

QUESTIONS = ("Does it do the task?", "How does it do the task?", "How certain is the verdict?")
_HOW = {
    INTEGERS: "The network adds whole numbers along a line, and subtracts a carry.",
    MEMORISED: "The network stores the answers of single pairs, without a rule.",
    WAVES: "The logits are waves of the answer, but no number here shows how the network computes these waves.",
    PERIODIC: "The network uses waves of a few frequencies, but not to add two angles.",
    SOLVED: "No number here shows how the network finds its answers.",
    BEHAVIOUR: "No algorithm was tested, since the task is neither addition nor a group.",
    DOUBTFUL: "The algorithm is not known: under the assumptions made here, the network's answers are wrong.",
}
_FULL, _MOSTLY, _SOME = 0.9995, 0.95, 0.2  # accuracies from which an answer is "yes", "nearly", "partly"


def answers(m: NetworkMeasurements, verdict: Verdict, warning: ReadingWarning | None) -> tuple[tuple[str, str], ...]:
    """Return the three questions and their answers, for readers who want the verdict without numbers."""
    return tuple(zip(QUESTIONS, (_does_it(m), _how(m, verdict), _how_sure(verdict, warning)), strict=True))


def _does_it(m: NetworkMeasurements) -> str:
    share, inputs = m.accuracy, "pair" if isinstance(m, PairMeasurements) else "answer"
    if share >= _FULL:
        on = f"every {inputs}" if share == 1 else f"{share:.2%} of {inputs}s"
        return f"Yes: the network answers {m.task.name} correctly on {on}."
    words = "Nearly" if share >= _MOSTLY else "Partly" if share >= _SOME else "No"
    return (
        f"{words}: the network answers {m.task.name} correctly on {share:.1%} of {inputs}s; guessing would be "
        f"right on {1 / m.classes:.1%}."
    )


def _how(m: NetworkMeasurements, verdict: Verdict) -> str:
    label = verdict.label
    if label in (FOURIER, MIXED):
        if not isinstance(m, CyclicMeasurements):
            names = ", ".join(m.key_names)
            return f"The network multiplies matrices that represent the group elements: the representations {names}."
        if verdict.algorithm == "all frequencies":
            return "The network puts both numbers on circles of nearly all frequencies, and adds their angles."
        few = f"{len(m.freqs)} circle{'s' * (len(m.freqs) > 1)} (frequencies {', '.join(map(str, m.freqs))})"
        rest = " for some pairs, and answers the others in another way" if label == MIXED else ""
        return f"The network puts both numbers on {few}, and adds their angles{rest}."
    if label == PARTLY:
        return "The network has learned part of the task, as in the middle of training."
    if isinstance(m, PositionMeasurements) and verdict.algorithm:
        return (
            f"It {label}."
            if label != MEAN
            else "The network computes the mean of the numbers so far along one direction of its activations."
        )
    return _HOW.get(label, "No algorithm was found in the network.")


def _how_sure(verdict: Verdict, warning: ReadingWarning | None) -> str:
    met, of = sum(c.met for c in verdict.criteria), len(verdict.criteria)
    if warning is not None:
        return "Not certain: see the warning below."
    if verdict.algorithm:
        foretold = next(iter(verdict.criteria))
        value = f"{foretold.value:.1%}" if 0 <= foretold.value <= 1 else number_text(foretold.value)
        did = f"The network was changed inside, and did what this algorithm predicts ({foretold.name}: {value})."
        return f"{did} {met} of {of} numbers lie within their tolerances."
    did = "The network was not changed inside, or changes did not have the predicted effect."
    return f"{did} {met} of {of} numbers lie within the tolerances of Fourier multiplication."
