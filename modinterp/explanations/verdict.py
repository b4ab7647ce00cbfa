"""What the numbers amount to, in words that say no more than they do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from modinterp.claims.band import Band, at_least, at_most
from modinterp.claims.result import number_text
from modinterp.explanations.alarm import Alarm
from modinterp.explanations.behaviour import Behaviour
from modinterp.explanations.measurements import KEY_ENERGY, StrangerMeasurements
from modinterp.models import MLPConfig

FOURIER, MEMORISED, PERIODIC, UNSOLVED = "Fourier multiplication", "memorised", "other periodic", "not solved"
DOUBTFUL = "doubtful"  # as it was assumed to compute, it is not the network that was trained
SOLVED = "solved, it is hidden how"  # right, without frequencies in the logits, and nothing else is seen
BEHAVIOUR = "behaviour only"  # no operation that waves explain

ACCURACY = "accuracy"
P_VALUE = "p-value of the key frequencies"
KEYS_ALONE = "accuracy of the key frequencies alone"
WITHOUT_KEYS = "accuracy without them, over the accuracy"
FORMULA = "accuracy of the formula"
FORMULA_FIT = "logits explained by the formula"

# What each number must reach, and why just that.
BANDS: dict[str, Band] = {
    ACCURACY: at_least(0.95, "a table of the training pairs alone is right on the share that was trained on"),
    P_VALUE: at_most(0.01, "the largest over the three nulls"),
    KEYS_ALONE: at_least(0.95, "they suffice"),
    WITHOUT_KEYS: at_most(
        0.75, "they are needed; a pizza of one frequency keeps 0.56 of its answers, where its slices exceed their mean"
    ),
    FORMULA: at_least(0.95, "the sum of cosines answers in the network's place"),
    FORMULA_FIT: at_least(
        0.5, "more of the logits than everything else together, up to what no softmax sees and a bias would supply"
    ),
}


@dataclass(frozen=True)
class Criterion:
    """One number that the verdict rests on.

    Attributes:
        name: what is measured.
        value: the number.
        band: what it must reach.
    """

    name: str
    value: float
    band: Band

    @property
    def met(self) -> bool:
        """Whether the number lies in its band."""
        return self.band.holds(self.value)


@dataclass(frozen=True)
class Verdict:
    """One of `Fourier multiplication`, `memorised`, `other periodic` and `not solved`, and what it rests on.

    Three more say that none of the four can be said: `doubtful`, where another forward pass, operation or input
    explains the network, or none does; `solved, it is hidden how`; and `behaviour only`.

    Attributes:
        label: which of them.
        words: the reasons, with their numbers.
        criteria: all six must be met for `Fourier multiplication`.
        clock_or_pizza: `nearer the clock`, `nearer the pizza`, or that its measures disagree; empty where the network
            is no Fourier multiplication, or nobody said how much of its attention is constant and that decides.
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


def is_clearly_periodic(m: StrangerMeasurements) -> bool:
    """Whether a few frequencies stand out of the read-out matrix and hold most of it."""
    return BANDS[P_VALUE].holds(m.spectrum_nulls.p_value(KEY_ENERGY)) and m.key_energy >= 0.5


def behaviour(m: Behaviour, doubt: Alarm | None = None) -> Verdict:
    """The verdict on a network whose task is no addition under any names: how much of it is right."""
    words = [] if doubt is None else [doubt.words]
    words.append(
        f"It answers {m.task.name} rightly on {m.accuracy:.2%} of all inputs (loss {number_text(m.own_score.loss)} "
        f"nats; chance is {1 / m.classes:.2%} and {number_text(m.chance_loss)}). This is no addition under other names "
        f"of the numbers, so that frequencies say nothing of it."
    )
    criterion = Criterion(ACCURACY, m.accuracy, BANDS[ACCURACY])
    return Verdict(BEHAVIOUR if doubt is None else DOUBTFUL, " ".join(words), (criterion,))


def verdict(m: StrangerMeasurements, doubt: Alarm | None = None) -> Verdict:
    """Which of the four kinds a network is, by fixed criteria.

    `Fourier multiplication` meets all of `BANDS`. Of the others, `other periodic` has a few frequencies that are most
    of its read-out, or neurons of one frequency, which do not do the work in that way; `memorised` is right on some
    pairs (or, with nothing mostly periodic, on all) for which it does not need its strongest frequencies; `not solved`
    is the rest. Where it is doubtful that it was measured as it computes, that is said first, and none of these.
    """
    criteria = _criteria(m)
    is_met = {c.name: c.met for c in criteria}
    label = DOUBTFUL if doubt is not None and not is_met[ACCURACY] else _label(m, is_met)
    sentences = [] if doubt is None else [doubt.words]
    sentences += _sentences(m, label, is_met)
    nearer = ""
    if label == FOURIER and doubt is None:
        nearer, why = clock_or_pizza(m)
        sentences.append(f"Of clock and pizza: {nearer}; {why}.")
    return Verdict(label, " ".join(sentences), criteria, nearer)


def _label(m: StrangerMeasurements, is_met: dict[str, bool]) -> str:
    if all(is_met.values()):
        return FOURIER
    if is_met[ACCURACY]:
        if is_clearly_periodic(m) or _neurons_are_periodic(m):
            return PERIODIC
        return SOLVED if m.is_opaque else MEMORISED
    if _is_right_without_the_keys(m):
        return MEMORISED
    is_periodic = is_met[P_VALUE] and m.periodic_share_of_logits >= 0.5
    return PERIODIC if is_periodic and not is_met[FORMULA_FIT] else UNSOLVED


def clock_or_pizza(m: StrangerMeasurements) -> tuple[str, str]:
    """On which side of the middle the two measures lie, 0 and 1 being their values for the two ideals, and why."""
    irrelevance = m.irrelevance.correct
    words, is_clock = f"distance irrelevance {irrelevance:.2f} (a pizza's is near 0, a clock's near 1)", set()
    if irrelevance == irrelevance:
        is_clock.add(irrelevance > 0.5)
    else:
        words = "distance irrelevance left out, since the correct logit is the same everywhere"
    if m.sign < 0:
        words += ", gradient symmetricity left out, which is defined for addition"
    elif not m.has_embedding:
        words += ", gradient symmetricity left out, since the embedding is not seen"
    elif _adds_embeddings(m):
        words += ", gradient symmetricity left out, which is 1 wherever embeddings are added"
    else:
        symmetricity = m.symmetricity.any_output
        if symmetricity == symmetricity:
            is_clock.add(symmetricity < 0.5)
        words = f"gradient symmetricity {symmetricity:.2f} (a pizza's is near 1), {words}"
    if not is_clock:
        return "it cannot be said", words
    if len(is_clock) > 1:
        return "the two measures disagree", words
    return f"nearer the {'clock' if is_clock.pop() else 'pizza'}", words


def _adds_embeddings(m: StrangerMeasurements) -> bool:
    return isinstance(m.model.cfg, MLPConfig) and m.model.cfg.joined != "concatenated"


def _criteria(m: StrangerMeasurements) -> tuple[Criterion, ...]:
    values = {
        ACCURACY: m.accuracy,
        P_VALUE: m.spectrum_nulls.p_value(KEY_ENERGY),
        KEYS_ALONE: m.score_of_keys_alone.accuracy,
        WITHOUT_KEYS: _share_without_keys(m),
        FORMULA: m.score_of_formula.accuracy,
        FORMULA_FIT: m.logit_fit.explained_by_row_and_class,
    }
    return tuple(Criterion(name, values[name], band) for name, band in BANDS.items())


def _share_without_keys(m: StrangerMeasurements) -> float:
    """Accuracy without the key frequencies over the accuracy; NaN for a network that is never right."""
    return m.score_without_keys.accuracy / m.accuracy if m.accuracy > 0 else float("nan")


def _neurons_are_periodic(m: StrangerMeasurements) -> bool:
    return m.has_neurons and bool(m.neurons.explained.double().mean() >= 0.5) and m.neuron_null < 0.5


def _is_right_without_the_keys(m: StrangerMeasurements) -> bool:
    """Right far more often than by chance, surely where right and by guessing elsewhere, keys or no keys.

    What chance alone leaves right is counted neither with the keys nor without them.
    """
    chance, pairs = 1 / m.classes, len(m.is_right)
    by_luck = chance + 5 * math.sqrt(chance * (1 - chance) / pairs)
    if_right, if_wrong = m.losses_of_right_and_wrong
    is_sure = if_right < 0.5 * m.chance_loss and if_wrong > 0.9 * m.chance_loss
    return m.accuracy > by_luck and is_sure and m.score_without_keys.accuracy - chance >= 0.5 * (m.accuracy - chance)


def _sentences(m: StrangerMeasurements, label: str, is_met: dict[str, bool]) -> Iterator[str]:
    n, answer = number_text, m.operation
    yield (
        f"It answers {m.task.name} rightly on {m.accuracy:.2%} of all pairs "
        f"(loss {n(m.own_score.loss)} nats; chance is {1 / m.classes:.2%} and {n(m.chance_loss)})."
    )
    if m.cyclic.is_renamed:
        yield (
            f"Numbers stand in the order of the cyclic group of {m.p} elements that the operation is, and what follows "
            f"is of its pairs alone, and of {'the sum' if m.sign > 0 else 'the difference'} of the two places."
        )
    yield _of_the_spectrum(m, is_met[P_VALUE])
    explained, without = m.logit_fit.explained_by_row_and_class, m.score_without_keys.accuracy
    if label == FOURIER:
        yield _of_the_formula(m)
    elif label == MEMORISED and is_met[ACCURACY]:
        yield (
            f"Without the strongest ones {without:.2%} remain right, and few neurons are of one "
            "frequency. As far as these numbers go the answers are stored pair by pair; they do not exclude "
            "another way without frequencies."
        )
    elif label == MEMORISED:
        if_right, if_wrong = m.losses_of_right_and_wrong
        yield (
            f"Where it is right its loss is {n(if_right)}, elsewhere {n(if_wrong)}, no better than guessing. It "
            f"stores pairs: without those frequencies {without:.2%} of all remain right."
        )
    elif label == SOLVED:
        yield "Its logits are no sum of a few frequencies, and nothing is seen that they come from."
    elif label == PERIODIC:
        off = [name for name in is_met if not is_met[name]]
        yield (
            f"But this is not the sum of cosines of {answer} - c that adds the angles: "
            f"{', '.join(off)} {'misses its band' if len(off) == 1 else 'miss their bands'}."
        )
    elif explained >= 0.5 and label != DOUBTFUL:
        yield f"Cosines of {answer} - c are {explained:.0%} of its logits nevertheless."


def _of_the_spectrum(m: StrangerMeasurements, stands_out: bool) -> str:
    """Whether the key frequencies stand out of the readout matrix, as a sentence."""
    p_value, freqs = number_text(m.spectrum_nulls.p_value(KEY_ENERGY)), ", ".join(map(str, m.freqs))
    if not m.freqs:
        return f"No frequency stands out of {m.readout_name}: it does not vary with the answer."
    if not stands_out:
        return f"No frequencies stand out of {m.readout_name} beyond the nulls (p {p_value} for {freqs})."
    subject = f"The frequency {freqs} stands" if len(m.freqs) == 1 else f"The frequencies {freqs} stand"
    return (
        f"{subject} out of {m.readout_name}: {m.key_energy:.0%} of its energy, more than in nearly all draws of "
        f"each null (p at most {p_value}), {number_text(m.keys.gap)} times above the next."
    )


def _of_the_formula(m: StrangerMeasurements) -> str:
    """That the key frequencies suffice and are needed, and what the formula replaces, as two sentences."""
    fit, cosines = m.logit_fit, f"{len(m.freqs)} cosine{'s' * (len(m.freqs) > 1)}"
    return (
        f"With nothing but their waves in the logits {m.score_of_keys_alone.accuracy:.2%} of the answers are right, "
        f"without these waves {m.score_without_keys.accuracy:.2%}. A sum of {cosines} of {m.operation} - c in place of "
        f"the logits is right on {m.score_of_formula.accuracy:.2%} and explains {fit.explained_by_row_and_class:.0%} "
        f"of their variance once the mean of each pair, which no softmax sees, and of each class, which a bias gives, "
        f"is taken out ({fit.explained:.0%} before)."
    )
