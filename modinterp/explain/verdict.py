"""What the numbers amount to, in words that say no more than they do."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from modinterp.explain.criteria import (
    ACCURACY,
    BANDS,
    BEHAVIOUR,
    DOUBTFUL,
    FORMULA_FIT,
    FORMULA_FIT_OF_GROUPS,
    FOURIER,
    MEMORISED,
    NEURONS,
    P_VALUE,
    PERIODIC,
    SOLVED,
    UNSOLVED,
    Criterion,
    criteria,
    is_explained,
)
from modinterp.explain.sentences import sentences, which_of_two
from modinterp.explain.warning import ReadingWarning
from modinterp.measurements import CyclicMeasurements, GroupMeasurements, NetworkMeasurements
from modinterp.measurements.quantity import number_text

Judged = CyclicMeasurements | GroupMeasurements
NEEDED = 0.9  # share of its answers that a table keeps without its strongest frequencies, at least


@dataclass(frozen=True)
class Verdict:
    """One of `Fourier multiplication`, `memorised`, `other periodic` and `not solved`, and what it rests on.

    Three more say that none of the four can be said: `doubtful`, where another forward pass, operation or input
    explains the network, or none does; `solved, it is hidden how`; and `behaviour only`.

    Attributes:
        label: which of them.
        words: the reasons, with their numbers.
        criteria: all must be met for `Fourier multiplication`.
        clock_or_pizza: `nearer the clock`, `nearer the pizza`, or that its measures disagree; empty where the network
            is no Fourier multiplication, or nobody said how much of its attention is constant and that decides. Of a
            group: `constant on cosets`, `representations alone`, or that neither is to be told.
    """

    label: str
    words: str
    criteria: tuple[Criterion, ...]
    clock_or_pizza: str = ""

    def table(self) -> pd.DataFrame:
        """One row a criterion."""
        return pd.DataFrame(
            {"criterion": c.name, "measured": c.value, "wanted": str(c.band), "met": c.met, "because": c.band.because}
            for c in self.criteria
        )


def is_periodic(m: NetworkMeasurements) -> bool:
    """Whether read-out or embedding are clearly periodic, so that a network should know the answers."""
    if not is_explained(m):
        return False
    return _has_periodic_readout(m) or (isinstance(m, CyclicMeasurements) and m.embedding_is_periodic)  # type: ignore[arg-type]


def _has_periodic_readout(m: Judged) -> bool:
    """Whether a few frequencies, or representations, stand out of the read-out matrix and hold most of it."""
    return BANDS[P_VALUE].holds(m.p_value) and m.key_energy >= 0.5


def _of_behaviour(m: NetworkMeasurements, warning: ReadingWarning | None) -> Verdict:
    """The verdict on a network whose task is no addition under any names: how much of it is right."""
    words = [] if warning is None else [warning.words]
    words.append(
        f"It answers {m.task.name} rightly on {m.accuracy:.2%} of all inputs (loss {number_text(m.own_score.loss)} "
        f"nats; chance is {1 / m.classes:.2%} and {number_text(m.chance_loss)}). This is no addition under other names "
        f"of the numbers and no group, so that frequencies say nothing of it."
    )
    criterion = Criterion(ACCURACY, m.reading(ACCURACY).title, m.accuracy, BANDS[ACCURACY])
    return Verdict(BEHAVIOUR if warning is None else DOUBTFUL, " ".join(words), (criterion,))


def verdict(m: NetworkMeasurements, warning: ReadingWarning | None = None) -> Verdict:
    """Which of the four kinds a network is, by fixed criteria; behaviour only where nothing else was measured.

    `Fourier multiplication` meets all of `BANDS`. Of the others, `other periodic` has a few frequencies that are most
    of its read-out, or neurons of one frequency, which do not do the work in that way; `memorised` is right on some
    pairs (or, with nothing mostly periodic, on all) for which it does not need its strongest frequencies; `not solved`
    is the rest. What needs its strongest frequencies for some of its answers, or is mostly right on pairs that it never
    saw, does not store pairs: where it is right, it is `solved, it is hidden how`, as where numbers so few are added
    that all frequencies are there, or where cosines come from neurons that are no waves. Where it is doubtful that it
    was measured as it computes, that is said first, and none of these.
    """
    if not isinstance(m, Judged) or not is_explained(m):
        return _of_behaviour(m, warning)
    found = tuple(criteria(m))
    is_met = {c.key: c.met for c in found}
    label = DOUBTFUL if warning is not None and not is_met[ACCURACY] else _label(m, is_met)
    words = [] if warning is None else [warning.words]
    words += sentences(m, label, is_met)  # type: ignore[arg-type]
    which = ""
    if label == FOURIER and warning is None:
        which, why = which_of_two(m)  # type: ignore[arg-type]
        words.append(why)
    return Verdict(label, " ".join(words), found, which)


def _label(m: Judged, is_met: dict[str, bool]) -> str:
    if all(is_met.values()):
        return FOURIER
    if is_met[ACCURACY]:
        if all(met for name, met in is_met.items() if name != NEURONS):
            return SOLVED
        if _has_periodic_readout(m) or m.neurons_are_periodic:
            return PERIODIC
        needs_keys = _share_without_keys(m) < NEEDED
        return SOLVED if m.is_output_only or needs_keys or _knows_what_it_never_saw(m) else MEMORISED
    if _is_right_without_the_keys(m) and not _knows_what_it_never_saw(m):
        return MEMORISED
    is_periodic = is_met[P_VALUE] and m.periodic_share_of_logits >= 0.5
    fits = is_met.get(FORMULA_FIT, is_met.get(FORMULA_FIT_OF_GROUPS, False))
    return PERIODIC if is_periodic and not fits else UNSOLVED


def _share_without_keys(m: Judged) -> float:
    """Accuracy without the key frequencies over the accuracy; NaN for a network that is never right."""
    return m.score_without_keys.accuracy / m.accuracy if m.accuracy > 0 else float("nan")


def _knows_what_it_never_saw(m: Judged) -> bool:
    """Whether most pairs that it was not trained on are answered rightly; False where these are not known."""
    return m.spec is not None and m.own_test_score.accuracy > 0.5


def _is_right_without_the_keys(m: Judged) -> bool:
    """Right far more often than by chance, surely where right and by guessing elsewhere, keys or no keys.

    What chance alone leaves right is counted neither with the keys nor without them.
    """
    chance, pairs = 1 / m.classes, len(m.is_right)
    by_luck = chance + 5 * math.sqrt(chance * (1 - chance) / pairs)
    if_right, if_wrong = m.losses_of_right_and_wrong
    is_sure = if_right < 0.5 * m.chance_loss and if_wrong > 0.9 * m.chance_loss
    return m.accuracy > by_luck and is_sure and m.score_without_keys.accuracy - chance >= 0.5 * (m.accuracy - chance)
