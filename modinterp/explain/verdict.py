"""What the numbers amount to, in words that say no more than they do."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from modinterp.claims.band import Band, at_least, at_most
from modinterp.claims.claim import number_text
from modinterp.explain.facts import Facts

FOURIER, MEMORISED, PERIODIC, UNSOLVED = "Fourier multiplication", "memorised", "other periodic", "not solved"
STATISTIC = "energy of the strongest"
FEWEST_DRAWS = 99  # whose least p-value, 1 in 100, is what the second of the bands asks for

# What each number must reach, and why just that.
BANDS: dict[str, Band] = {
    "accuracy": at_least(0.95, "a table of the training pairs alone is right on the share that was trained on"),
    "p-value of the key frequencies": at_most(0.01, "the largest over the three nulls"),
    "accuracy of the key frequencies alone": at_least(0.95, "they suffice"),
    "accuracy without them, over the accuracy": at_most(
        0.75, "they are needed; a pizza of one frequency keeps 0.56 of its answers, where its slices exceed their mean"
    ),
    "accuracy of the formula": at_least(0.95, "the sum of cosines answers in the network's place"),
    "logits explained by the formula": at_least(0.5, "more of the logits than everything else together, up to what no "
                                                     "softmax sees and a bias would supply"),
}  # fmt: skip


@dataclass(frozen=True)
class Criterion:
    """One number that the verdict rests on."""

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


def verdict(facts: Facts) -> Verdict:
    """Which of the four kinds a network is, by fixed criteria.

    `Fourier multiplication` meets all of `BANDS`. Of the others, `other periodic` has a few frequencies that are most
    of its read-out, or neurons of one frequency, which do not do the work in that way; `memorised` is right on some
    pairs (or, with nothing mostly periodic, on all) for which it does not need its strongest frequencies; `not solved`
    is the rest.
    """
    found = _criteria(facts)
    met = {c.name: c.met for c in found}
    solved, stands_out = met["accuracy"], met["p-value of the key frequencies"]
    if all(met.values()):
        label = FOURIER
    elif solved:
        carries = stands_out and _key_energy(facts) >= 0.5
        label = PERIODIC if carries or _neurons_are_periodic(facts) else MEMORISED
    elif _is_right_without_the_keys(facts):
        label = MEMORISED
    elif stands_out and facts.periodic_share_of_logits >= 0.5 and not met["logits explained by the formula"]:
        label = PERIODIC
    else:
        label = UNSOLVED
    words = [*_sentences(facts, label, met)]
    side = ""
    if label == FOURIER:
        side, why = _side(facts)
        words.append(f"Of clock and pizza: {side}; {why}.")
    return Verdict(label, " ".join(words), found, side)


def _side(facts: Facts) -> tuple[str, str]:
    """On which side of the middle the two measures lie, 0 and 1 being their values for the two ideals."""
    symmetricity, irrelevance = facts.symmetricity.any_output, facts.irrelevance.correct
    clocks = {not irrelevance < 0.5}  # NaN: the correct logit is the same everywhere, as an ideal clock's
    words = f"distance irrelevance {irrelevance:.2f} (a pizza's is near 0, a clock's near 1)"
    if facts.sign < 0:
        words += ", gradient symmetricity left out, which is defined for addition"
    elif not facts.has_attention:
        words += ", gradient symmetricity left out, which is 1 wherever embeddings are added"
    else:
        clocks.add(symmetricity < 0.5)
        words = f"gradient symmetricity {symmetricity:.2f} (a pizza's is near 1), {words}"
    if len(clocks) > 1:
        return "the two measures disagree", words
    return f"nearer the {'clock' if clocks.pop() else 'pizza'}", words


def _criteria(facts: Facts) -> tuple[Criterion, ...]:
    values = (
        facts.whole.accuracy,
        facts.spectrum_nulls.p_value(STATISTIC),
        facts.restricted.accuracy,
        _ratio(facts.excluded.accuracy, facts.whole.accuracy),
        facts.formula.accuracy,
        facts.logit_fit.explained_by_row_and_class,
    )
    return tuple(Criterion(name, value, band) for (name, band), value in zip(BANDS.items(), values, strict=True))


def _key_energy(facts: Facts) -> float:
    """Share of the read-out's energy in the key frequencies, the constant left out."""
    return next(row.observed for row in facts.spectrum_nulls.rows if row.statistic == STATISTIC)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")


def _neurons_are_periodic(facts: Facts) -> bool:
    fits = facts.last_neurons
    return fits is not None and bool(fits.explained.double().mean() >= 0.5) and facts.neuron_null < 0.5


def _is_right_without_the_keys(facts: Facts) -> bool:
    """Right far more often than by chance, surely where right and by guessing elsewhere, keys or no keys."""
    chance, pairs = 1 / facts.p, facts.p**2
    by_luck = chance + 5 * math.sqrt(chance * (1 - chance) / pairs)
    right, wrong = facts.losses_of_right_and_wrong
    kept = _ratio(facts.excluded.accuracy, facts.whole.accuracy)
    sure = right < 0.5 * math.log(facts.p) and wrong > 0.9 * math.log(facts.p)
    return facts.whole.accuracy > by_luck and sure and kept >= 0.5


def _sentences(facts: Facts, label: str, met: dict[str, bool]) -> list[str]:
    whole, n, formula = facts.whole, number_text, facts.task.name.partition(" mod")[0]
    said = [f"It answers {formula} mod {facts.p} rightly on {whole.accuracy:.2%} of all pairs "
            f"(loss {n(whole.loss)} nats; chance is {1 / facts.p:.2%} and {n(math.log(facts.p))})."]  # fmt: skip
    if facts.of_the_other_sign >= max(0.5, 2 * whole.accuracy):
        said.append(f"It answers a {'-' if facts.sign > 0 else '+'} b rightly on {facts.of_the_other_sign:.2%}: "
                    f"it was trained on that, op={'sub' if facts.sign > 0 else 'add'} explains it.")  # fmt: skip
    p_value, freqs = facts.spectrum_nulls.p_value(STATISTIC), ", ".join(map(str, facts.freqs))
    share = _key_energy(facts)
    which = f"The frequency {freqs} stands" if len(facts.freqs) == 1 else f"The frequencies {freqs} stand"
    if met["p-value of the key frequencies"]:
        said.append(f"{which} out of {facts.read_name}: {share:.0%} of its energy, more than in nearly all draws of "
                    f"each null (p at most {n(p_value)}), {n(facts.keys.gap)} times above the next.")  # fmt: skip
    else:
        said.append(f"No frequencies stand out of {facts.read_name} beyond the nulls (p {n(p_value)} for {freqs}).")
    explained = facts.logit_fit.explained_by_row_and_class
    without = facts.excluded
    if label == FOURIER:
        cosines = f"{len(facts.freqs)} cosine{'s' * (len(facts.freqs) > 1)}"
        said.append(f"With nothing but their waves in the logits {facts.restricted.accuracy:.2%} of the answers are "
                    f"right, without these waves {without.accuracy:.2%}. A sum of "
                    f"{cosines} of {formula} - c in place of the logits is right on {facts.formula.accuracy:.2%} and "
                    f"explains {explained:.0%} of their variance once the mean of each pair, which no softmax sees, "
                    f"and of each class, which a bias gives, is taken out "
                    f"({facts.logit_fit.explained:.0%} before).")  # fmt: skip
    elif label == MEMORISED and met["accuracy"]:
        said.append(f"Without the strongest ones {without.accuracy:.2%} remain right, and few neurons are of one "
                    "frequency. As far as these numbers go the answers are stored pair by pair; they do not exclude "
                    "another way without frequencies.")  # fmt: skip
    elif label == MEMORISED:
        right, wrong = facts.losses_of_right_and_wrong
        said.append(f"Where it is right its loss is {n(right)}, elsewhere {n(wrong)}, no better than guessing. It "
                    f"stores pairs: without those frequencies {without.accuracy:.2%} of all remain right.")  # fmt: skip
    elif label == PERIODIC:
        off = [c for c in met if not met[c]]
        said.append(f"But this is not the sum of cosines of {formula} - c that adds the angles: "
                    f"{', '.join(off)} {'misses its band' if len(off) == 1 else 'miss their bands'}.")  # fmt: skip
    elif explained >= 0.5:
        said.append(f"Cosines of {formula} - c are {explained:.0%} of its logits nevertheless.")
    return said
