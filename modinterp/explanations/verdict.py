"""What the numbers amount to, in words that say no more than they do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from modinterp.claims.band import Band, at_least, at_most
from modinterp.claims.result import number_text
from modinterp.explanations.measurements import KEY_ENERGY, StrangerMeasurements

FOURIER, MEMORISED, PERIODIC, UNSOLVED = "Fourier multiplication", "memorised", "other periodic", "not solved"
FEWEST_DRAWS = 99  # whose least p-value, 1 in 100, is what the band of the key frequencies' p-value asks for

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

    Attributes:
        label: which of the four.
        words: the reasons, with their numbers.
        criteria: all six must be met for `Fourier multiplication`.
        clock_or_pizza: `nearer the clock`, `nearer the pizza`, or that its measures disagree; empty where the network
            is no Fourier multiplication.
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


def verdict(m: StrangerMeasurements) -> Verdict:
    """Which of the four kinds a network is, by fixed criteria.

    `Fourier multiplication` meets all of `BANDS`. Of the others, `other periodic` has a few frequencies that are most
    of its read-out, or neurons of one frequency, which do not do the work in that way; `memorised` is right on some
    pairs (or, with nothing mostly periodic, on all) for which it does not need its strongest frequencies; `not solved`
    is the rest.
    """
    criteria = _criteria(m)
    is_met = {c.name: c.met for c in criteria}
    label = _label(m, is_met)
    sentences = [*_sentences(m, label, is_met)]
    clock_or_pizza = ""
    if label == FOURIER:
        clock_or_pizza, why = _clock_or_pizza(m)
        sentences.append(f"Of clock and pizza: {clock_or_pizza}; {why}.")
    return Verdict(label, " ".join(sentences), criteria, clock_or_pizza)


def _label(m: StrangerMeasurements, is_met: dict[str, bool]) -> str:
    if all(is_met.values()):
        return FOURIER
    if is_met[ACCURACY]:
        is_carried = is_met[P_VALUE] and m.key_energy >= 0.5
        return PERIODIC if is_carried or _neurons_are_periodic(m) else MEMORISED
    if _is_right_without_the_keys(m):
        return MEMORISED
    is_periodic = is_met[P_VALUE] and m.periodic_share_of_logits >= 0.5
    return PERIODIC if is_periodic and not is_met[FORMULA_FIT] else UNSOLVED


def _clock_or_pizza(m: StrangerMeasurements) -> tuple[str, str]:
    """On which side of the middle the two measures lie, 0 and 1 being their values for the two ideals, and why."""
    symmetricity, irrelevance = m.symmetricity.any_output, m.irrelevance.correct
    is_clock = {not irrelevance < 0.5}  # NaN: the correct logit is the same everywhere, as an ideal clock's
    words = f"distance irrelevance {irrelevance:.2f} (a pizza's is near 0, a clock's near 1)"
    if m.sign < 0:
        words += ", gradient symmetricity left out, which is defined for addition"
    elif not m.has_attention:
        words += ", gradient symmetricity left out, which is 1 wherever embeddings are added"
    else:
        is_clock.add(symmetricity < 0.5)
        words = f"gradient symmetricity {symmetricity:.2f} (a pizza's is near 1), {words}"
    if len(is_clock) > 1:
        return "the two measures disagree", words
    return f"nearer the {'clock' if is_clock.pop() else 'pizza'}", words


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
    """Right far more often than by chance, surely where right and by guessing elsewhere, keys or no keys."""
    chance, pairs = 1 / m.p, m.p**2
    by_luck = chance + 5 * math.sqrt(chance * (1 - chance) / pairs)
    if_right, if_wrong = m.losses_of_right_and_wrong
    is_sure = if_right < 0.5 * math.log(m.p) and if_wrong > 0.9 * math.log(m.p)
    return m.accuracy > by_luck and is_sure and _share_without_keys(m) >= 0.5


def _sentences(m: StrangerMeasurements, label: str, is_met: dict[str, bool]) -> Iterator[str]:
    n, answer = number_text, _answer(m)
    yield (
        f"It answers {answer} mod {m.p} rightly on {m.accuracy:.2%} of all pairs "
        f"(loss {n(m.own_score.loss)} nats; chance is {1 / m.p:.2%} and {n(math.log(m.p))})."
    )
    if m.accuracy_for_other_sign >= max(0.5, 2 * m.accuracy):
        yield (
            f"It answers a {'-' if m.sign > 0 else '+'} b rightly on {m.accuracy_for_other_sign:.2%}: "
            f"it was trained on that, op={'sub' if m.sign > 0 else 'add'} explains it."
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
    elif label == PERIODIC:
        off = [name for name in is_met if not is_met[name]]
        yield (
            f"But this is not the sum of cosines of {answer} - c that adds the angles: "
            f"{', '.join(off)} {'misses its band' if len(off) == 1 else 'miss their bands'}."
        )
    elif explained >= 0.5:
        yield f"Cosines of {answer} - c are {explained:.0%} of its logits nevertheless."


def _answer(m: StrangerMeasurements) -> str:
    """What was to be learned, such as `a + b`, without the modulus."""
    return m.task.name.partition(" mod")[0]


def _of_the_spectrum(m: StrangerMeasurements, stands_out: bool) -> str:
    """Whether the key frequencies stand out of the readout matrix, as a sentence."""
    p_value, freqs = number_text(m.spectrum_nulls.p_value(KEY_ENERGY)), ", ".join(map(str, m.freqs))
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
        f"without these waves {m.score_without_keys.accuracy:.2%}. A sum of {cosines} of {_answer(m)} - c in place of "
        f"the logits is right on {m.score_of_formula.accuracy:.2%} and explains {fit.explained_by_row_and_class:.0%} "
        f"of their variance once the mean of each pair, which no softmax sees, and of each class, which a bias gives, "
        f"is taken out ({fit.explained:.0%} before)."
    )
