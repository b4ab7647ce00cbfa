"""Derive the verdict on a network from its numbers, with sentences that give the reasons."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from modinterp.explain.algorithms import (
    BY_CIRCLES,
    CIRCLES_OF_FUNCTIONS,
    LOOKUP_TABLE,
    Algorithm,
    algorithm_of,
    kinds,
)
from modinterp.explain.criteria import (
    ACCURACY,
    BANDS,
    FORMULA,
    FORMULA_FIT,
    FORMULA_FIT_OF_GROUPS,
    NEURONS,
    P_VALUE,
    Criterion,
    foretold,
    is_explained,
    projections,
)
from modinterp.explain.labels import BEHAVIOUR, DOUBTFUL, FOURIER, MEMORISED, PARTLY, PERIODIC, SOLVED, UNSOLVED, WAVES
from modinterp.explain.sentences import sentences, which_of_two
from modinterp.explain.warning import MOSTLY_RIGHT, ReadingWarning, is_halfway
from modinterp.measurements import CyclicMeasurements, GroupMeasurements, NetworkMeasurements
from modinterp.measurements.quantity import number_text
from modinterp.measurements.sum_waves import SumWaves, sum_waves
from modinterp.tasks import ModularSum
from modinterp.tasks.cyclic import is_sum_of_functions

Judged = CyclicMeasurements | GroupMeasurements
UNLEARNED = 0.2  # most of the held-out pairs that a network which memorised is right on, as in `TrainedRun.memorised`
NEEDED = 0.9  # share of its answers that a table keeps without its strongest frequencies, at least


@dataclass(frozen=True)
class Verdict:
    """The verdict on a network: one of the labels of `modinterp.explain.labels`, and the criteria behind it.

    Attributes:
        label: one of the labels of `modinterp.explain.labels`.
        words: sentences with the reasons and their numbers.
        criteria: predictions of the algorithm for interventions, if one was found; then criteria on accuracy, read-out,
            logits and neurons.
        clock_or_pizza: how many circles of the embedding are clocks and pizzas, such as `3 clock, 2 pizza`. For a
            network on a group, the text is `constant on cosets` or `representations alone`, or says that the two cannot
            be distinguished. The text on circles or cosets is empty for other networks.
        algorithm: name of the hypothesis whose predictions came true inside the network; empty if no hypothesis did.
    """

    label: str
    words: str
    criteria: tuple[Criterion, ...]
    clock_or_pizza: str = ""
    algorithm: str = ""

    def table(self) -> pd.DataFrame:
        """Return a table with one row for each criterion."""
        return pd.DataFrame(
            {"criterion": c.name, "measured": c.value, "wanted": str(c.band), "met": c.met, "because": c.band.because}
            for c in self.criteria
        )


def is_periodic(m: NetworkMeasurements) -> bool:
    """Return True if read-out or embedding are clearly periodic, so that the network should answer correctly."""
    if not is_explained(m):
        return False
    return _has_periodic_readout(m) or (isinstance(m, CyclicMeasurements) and m.embedding_is_periodic)  # type: ignore[arg-type]


def _has_periodic_readout(m: Judged) -> bool:
    """Return True if a few frequencies or representations stand out of the read-out matrix and hold most of it."""
    return BANDS[P_VALUE].holds(m.p_value) and m.key_energy >= 0.5


def _of_behaviour(m: NetworkMeasurements, warning: ReadingWarning | None) -> Verdict:
    """Return the verdict on a network whose task is no addition, even after relabelling, from its accuracy alone."""
    words = [] if warning is None else [warning.words]
    words.append(
        f"The network answers {m.task.name} correctly on {m.accuracy:.2%} of all inputs, with a loss of "
        f"{number_text(m.own_score.loss)} nats. Guessing would be right on {1 / m.classes:.2%}, with a "
        f"loss of {number_text(m.chance_loss)}. {_why_not_waves(m)}"
    )
    criterion = Criterion(ACCURACY, m.reading(ACCURACY).title, m.accuracy, BANDS[ACCURACY])
    return Verdict(BEHAVIOUR if warning is None else DOUBTFUL, " ".join(words), (criterion,))


def _why_not_waves(m: NetworkMeasurements) -> str:
    if _is_sum(m):
        return (
            "The task is a sum of a function of each number. But the network's logits are not a few waves "
            "of this sum, so these numbers do not show how the network computes the sum."
        )
    return "The task is neither addition with relabelled numbers nor a group, so frequencies do not describe it."


def _is_sum(m: NetworkMeasurements) -> bool:
    """Return True if the answer is a sum of functions of the numbers, so that the logits may be waves of the answer."""
    return isinstance(m.task, ModularSum) or (not is_explained(m) and is_sum_of_functions(m.task))


def _of_a_long_sum(m: NetworkMeasurements, found: SumWaves, warning: ReadingWarning | None) -> Verdict:
    """Return the verdict on a network that adds several numbers, or functions of two numbers, from the waves of its
    logits.
    """
    values = ((ACCURACY, m.accuracy), (FORMULA, found.accuracy), (FORMULA_FIT, found.share))
    titles = {FORMULA: "accuracy of the waves of the sum in place of the logits",
              FORMULA_FIT: "logits explained by the waves of the sum"}  # fmt: skip
    criteria = tuple(Criterion(k, titles.get(k) or m.reading(k).title, value, BANDS[k]) for k, value in values)
    has_few = 2 * len(found.freqs) <= m.task.p // 2  # any function of the sum is a sum of all waves
    if not has_few or not all(c.met for c in criteria):
        return _of_behaviour(m, warning)
    words = [] if warning is None else [warning.words]
    what = "" if isinstance(m.task, ModularSum) else ", a sum of a function of a and a function of b,"
    words.append(
        f"The network answers {m.task.name}{what} correctly on {m.accuracy:.2%} of all inputs. "
        f"{found.share:.1%} of the logits' variance is in waves of the sum minus the answer class, at the "
        f"frequencies {', '.join(map(str, found.freqs))}; if these waves replace the logits, "
        f"{found.accuracy:.2%} of the answers are right."
    )
    inside, way = _inside(m)
    if way is not None and warning is None:
        words.insert(0, inside)
        return Verdict(way.label, " ".join(words), (*foretold(way, m), *criteria), algorithm=way.name)
    return Verdict(WAVES, " ".join([*words, inside]), criteria)


def _inside(m: NetworkMeasurements) -> tuple[str, Algorithm | None]:
    """Return sentences on interventions inside a network that adds functions of two numbers, and on its algorithm if it
    is found.
    """
    if not CIRCLES_OF_FUNCTIONS.is_tested_on(m):
        return "No activation inside the network was changed.", None
    if CIRCLES_OF_FUNCTIONS.holds_for(m):
        return CIRCLES_OF_FUNCTIONS.says(m), CIRCLES_OF_FUNCTIONS
    failed = next(c for c in foretold(CIRCLES_OF_FUNCTIONS, m) if not c.met)
    return (
        "These numbers do not show that the network adds by rotating circles of these functions: "
        f"{failed.name}: {failed.value:.1%}."
    ), None


def verdict(m: NetworkMeasurements, warning: ReadingWarning | None = None) -> Verdict:
    """Return the verdict on a network: from the first algorithm whose predictions come true inside it, or else from its
    logits.

    The verdicts `Fourier multiplication` and `integer arithmetic` rest on interventions inside the network. If
    interventions cannot be made, or do not have the predicted effect, the verdict is about the logits:

    - `logits are waves of the answer` meets all of `BANDS`;
    - `other periodic` has few frequencies in its read-out, or neurons of one frequency, but does not meet the criteria
      of an algorithm;
    - `memorised` does not need its strongest frequencies for the pairs on which it is right;
    - `solved, it is hidden how` is right, and does not store pairs;
    - `partly solved` is right on a fifth of all pairs, or on those trained on, and no other reading does better;
    - `not solved` is the rest.

    The verdict is `doubtful` if another forward pass, operation or input format explains the network better.
    """
    if _is_sum(m):
        return _of_a_long_sum(m, sum_waves(m), warning)
    if not isinstance(m, Judged) or not is_explained(m):
        return _of_behaviour(m, warning)
    seen = tuple(projections(m))
    is_met = {c.key: c.met for c in seen}
    found = algorithm_of(m, all(is_met.values())) if is_met[ACCURACY] else None
    label = DOUBTFUL if warning is not None and not is_met[ACCURACY] else _label(m, is_met, found)
    if label == MEMORISED and LOOKUP_TABLE.is_tested_on(m):
        found = LOOKUP_TABLE if LOOKUP_TABLE.holds_for(m) else None
        label = MEMORISED if found else SOLVED if is_met[ACCURACY] else PARTLY
    words = [] if warning is None else [warning.words]
    words += [] if found is None else [found.says(m)]
    words += sentences(m, label, is_met, found not in (None, LOOKUP_TABLE))  # type: ignore[arg-type]
    which = kinds(m) if found in BY_CIRCLES and warning is None else ""
    if label == FOURIER and found not in BY_CIRCLES and warning is None:
        which, why = which_of_two(m)  # type: ignore[arg-type]
        words.append(why)
    foretelling = () if found is None else tuple(foretold(found, m))
    return Verdict(label, " ".join(words), foretelling + seen, which, "" if found is None else found.name)


def label_without_interventions(m: NetworkMeasurements, warning: ReadingWarning | None = None) -> str:
    """Return the label that a network gets from read-out, logits and neurons alone.

    Use `label_without_interventions` only to see what interventions add; the official verdict is `verdict`. Without
    interventions, logits that are waves of the answer count as an algorithm that multiplies waves.
    """
    if not isinstance(m, Judged) or not is_explained(m):
        return _of_behaviour(m, warning).label
    is_met = {c.key: c.met for c in projections(m)}
    if warning is not None and not is_met[ACCURACY]:
        return DOUBTFUL
    label = _label(m, is_met, None)
    return FOURIER if label == WAVES else label


def _label(m: Judged, is_met: dict[str, bool], found: Algorithm | None) -> str:
    if found is not None:
        return found.label
    if all(is_met.values()):
        return WAVES
    if is_met[ACCURACY]:
        if all(met for name, met in is_met.items() if name != NEURONS):
            return SOLVED
        if _has_periodic_readout(m) or m.neurons_are_periodic:
            return PERIODIC
        needs_keys = _share_without_keys(m) < NEEDED
        return SOLVED if m.is_output_only or needs_keys or _knows_what_it_never_saw(m) else MEMORISED
    if _is_right_without_the_keys(m) and not _knows_what_it_never_saw(m):
        return MEMORISED
    if m.run.knows_split and m.own_train_score.accuracy >= MOSTLY_RIGHT and m.own_test_score.accuracy <= UNLEARNED:
        return MEMORISED
    if is_halfway(m):
        return PARTLY
    is_periodic = is_met[P_VALUE] and m.periodic_share_of_logits >= 0.5
    fits = is_met.get(FORMULA_FIT, is_met.get(FORMULA_FIT_OF_GROUPS, False))
    return PERIODIC if is_periodic and not fits else UNSOLVED


def _share_without_keys(m: Judged) -> float:
    """Return the accuracy without the key frequencies divided by the accuracy; NaN if the accuracy is 0."""
    return m.score_without_keys.accuracy / m.accuracy if m.accuracy > 0 else float("nan")


def _knows_what_it_never_saw(m: Judged) -> bool:
    """Return True if most held-out pairs are answered correctly; False if the split is unknown."""
    return m.run.knows_split and m.own_test_score.accuracy > 0.5


def _is_right_without_the_keys(m: Judged) -> bool:
    """Return True if the network is right far above chance with and without its key frequencies, as after memorising.

    Right answers that are expected by chance are subtracted from both counts.
    """
    chance, pairs = 1 / m.classes, len(m.is_right)
    by_luck = chance + 5 * math.sqrt(chance * (1 - chance) / pairs)
    if_right, if_wrong = m.losses_of_right_and_wrong
    is_sure = if_right < 0.5 * m.chance_loss and if_wrong > 0.9 * m.chance_loss
    return m.accuracy > by_luck and is_sure and m.score_without_keys.accuracy - chance >= 0.5 * (m.accuracy - chance)
