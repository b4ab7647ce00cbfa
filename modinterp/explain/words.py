"""What the numbers of a network over pairs mod p amount to, as sentences."""

from __future__ import annotations

from collections.abc import Iterator

from modinterp.claims.result import number_text
from modinterp.explain.criteria import ACCURACY, DOUBTFUL, FOURIER, MEMORISED, NEURONS, P_VALUE, PERIODIC, SOLVED
from modinterp.explain.groups import GroupStranger
from modinterp.explain.measurements import KEY_ENERGY, StrangerMeasurements
from modinterp.models import MLPConfig


def which_of_two(m: StrangerMeasurements) -> tuple[str, str]:
    """On which side of the middle the two measures lie, 0 and 1 being their values for the two ideals; a sentence."""
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
        which = "it cannot be said"
    elif len(is_clock) > 1:
        which = "the two measures disagree"
    else:
        which = f"nearer the {'clock' if is_clock.pop() else 'pizza'}"
    return which, f"Of clock and pizza: {which}; {words}."


def _adds_embeddings(m: StrangerMeasurements) -> bool:
    return isinstance(m.model.cfg, MLPConfig) and m.model.cfg.joined != "concatenated"


def sentences(m: StrangerMeasurements, label: str, is_met: dict[str, bool]) -> Iterator[str]:
    """What was found, in the order of the reasons."""
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
    only_neurons_miss = [name for name in is_met if not is_met[name]] == [NEURONS]
    if label == FOURIER:
        yield _of_the_formula(m)
    elif label == SOLVED and only_neurons_miss:
        yield f"{_of_the_formula(m)} {of_neurons(m)}"
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
    elif label == SOLVED and m.is_opaque:
        yield "Its logits are no sum of a few frequencies, and nothing is seen that they come from."
    elif label == SOLVED:
        yield (
            f"{of_storing(m)}: with nothing "
            f"but the waves of the strongest frequencies in the logits {m.score_of_keys_alone.accuracy:.2%} are right, "
            f"without them {without:.2%}, and a sum of their cosines is right on {m.score_of_formula.accuracy:.2%} and "
            f"explains {explained:.0%} of the logits. That it works by these alone cannot be said."
        )
    elif label == PERIODIC:
        off = [name for name in is_met if not is_met[name]]
        yield (
            f"But this is not the sum of cosines of {answer} - c that adds the angles: "
            f"{', '.join(off)} {'misses its band' if len(off) == 1 else 'miss their bands'}."
        )
    elif explained >= 0.5 and label != DOUBTFUL:
        yield f"Cosines of {answer} - c are {explained:.0%} of its logits nevertheless."


def of_neurons(m: StrangerMeasurements | GroupStranger) -> str:
    """That logits are as they should be and neurons are not, as a sentence."""
    return (
        f"But the neurons that the logits come from are no such waves: these hold {m.neurons_at_keys:.1%} of their "
        "variance, as in a table that has such logits for every pair. That it computes by them cannot be said."
    )


def of_storing(m: StrangerMeasurements | GroupStranger) -> str:
    """Whether a network that is right, and `solved, it is hidden how`, stores pairs, as the beginning of a sentence.

    Where all frequencies or representations are strong, as in a table of all pairs, that cannot be told.
    """
    if m.spec is not None:
        accuracy = m.own_test_score.accuracy
        return f"It does not store pairs, being right on {accuracy:.2%} of those that it was not trained on"
    return "Whether it stores pairs cannot be told" if m.all_are_key else "It does more than store pairs"


def _of_the_spectrum(m: StrangerMeasurements, stands_out: bool) -> str:
    """Whether the key frequencies stand out of the readout matrix, as a sentence."""
    p_value, freqs = number_text(m.spectrum_nulls.p_value(KEY_ENERGY)), ", ".join(map(str, m.freqs))
    if not m.freqs:
        return f"No frequency stands out of {m.readout_name}: it does not vary with the answer."
    if m.all_are_key:
        return f"All {len(m.freqs)} frequencies are in {m.readout_name}, so that no null tells whether some stand out."
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
