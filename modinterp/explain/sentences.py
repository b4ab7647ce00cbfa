"""Write sentences that describe the numbers of a network over pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator

from modinterp.bases import GAP
from modinterp.explain.algorithms import algorithms_for
from modinterp.explain.criteria import ACCURACY, BANDS, NEURONS, P_VALUE
from modinterp.explain.labels import DOUBTFUL, FOURIER, MEMORISED, PARTLY, PERIODIC, SOLVED, WAVES
from modinterp.measurements import CyclicMeasurements, GroupMeasurements, quantity
from modinterp.measurements.quantities import adds_embeddings
from modinterp.measurements.quantity import WORDS, number_text

Judged = CyclicMeasurements | GroupMeasurements
COSETS, REPRESENTATIONS, UNTOLD = "constant on cosets", "representations alone", "not to be distinguished"


def sentences(m: Judged, label: str, is_met: dict[str, bool], is_found: bool = False) -> Iterator[str]:
    """Yield the sentences of a verdict, in the order of the verdict's reasons.

    Args:
        label: the verdict that the sentences explain.
        is_met: map from the key of each criterion to True if the criterion is met.
        is_found: True if an algorithm predicted the interventions, so that the sentences say how the network computes.
    """
    n, blocks = number_text, m.basis.blocks_name
    yield (
        f"The network answers {m.task.name} correctly on {m.accuracy:.2%} of all pairs, with a loss of "
        f"{n(m.own_score.loss)} nats. Guessing would be right on {1 / m.classes:.2%}, with a loss of "
        f"{n(m.chance_loss)}."
    )
    if m.run.knows_split and not is_met[ACCURACY]:
        yield (
            f"The network answers {m.own_train_score.accuracy:.2%} of its training pairs correctly, and "
            f"{m.own_test_score.accuracy:.2%} of all other pairs."
        )
    if label == PARTLY and (moved := m.reading("half_turn").value) is not None:
        yield (
            f"If the circles of frequencies {', '.join(map(str, m.causal.half_turn.freqs))} are rotated by "
            f"half a step for both numbers, the answer changes by one on {moved:.1%} of all pairs. So the "
            "network already adds by circles on these pairs."
        )
    if isinstance(m, CyclicMeasurements) and m.basis.cyclic.is_renamed:
        yield (
            f"The operation is that of the cyclic group of {m.p} elements, so the numbers are relabelled "
            "in the order of this group. All further statements are about pairs of elements of this "
            f"group, and about the {'sum' if m.sign > 0 else 'difference'} of their labels."
        )
    yield _of_the_spectrum(m, is_met[P_VALUE])
    alone, without = m.score_of_keys_alone.accuracy, m.score_without_keys.accuracy
    explained, formula = m.formula_fit, m.score_of_formula.accuracy
    only_neurons_miss = [key for key in is_met if not is_met[key]] == [NEURONS]
    if label in (FOURIER, WAVES) or is_found or (label == SOLVED and only_neurons_miss):
        if m.key_blocks:
            yield _of_the_formula(m)
        if label == WAVES:
            yield _of_the_inside(m)
        if only_neurons_miss:
            yield _of_neurons(m)
    elif label == MEMORISED and is_met[ACCURACY]:
        yield (
            f"Without the strongest {blocks}, {without:.2%} of the answers remain right, and few neurons are of one "
            f"{m.basis.block}. These numbers suggest that the answers are stored pair by pair. An algorithm without "
            f"{blocks} is not excluded."
        )
    elif label == MEMORISED and _is_known_by_the_split(m):
        yield "The network stores the pairs that it was trained on."
    elif label == MEMORISED:
        if_right, if_wrong = m.losses_of_right_and_wrong
        yield (
            f"The network's mean loss is {n(if_right)} where its answer is right, and {n(if_wrong)} where "
            "its answer is wrong, which is no better than guessing. The network stores pairs, since "
            f"without its {blocks} {without:.2%} of all answers remain right."
        )
    elif label == SOLVED and m.is_output_only:
        yield (f"The network's logits are not a sum of terms of a few {blocks}. Nothing inside the network is visible.")
    elif label == SOLVED:
        yield (
            f"{_of_storing(m)}: with only the waves of the answer at the strongest {blocks} in the logits, "
            f"{alone:.2%} of the answers are right; without these waves {without:.2%} are right. The "
            f"formula is right on {formula:.2%} of the pairs and explains {explained:.0%} of the logits. "
            "These numbers do not show that the network uses only these waves."
        )
    elif label == PERIODIC:
        off = [quantity(key).title.format(**WORDS | m.words) for key in is_met if not is_met[key]]
        yield (
            f"But the logits are not the sum of {_terms(m)}: {', '.join(off)} "
            f"{'misses its tolerance' if len(off) == 1 else 'miss their tolerances'}."
        )
    elif explained >= 0.5 and label not in (DOUBTFUL, PARTLY):
        yield f"Nevertheless, the sum of {_terms(m)} explains {explained:.0%} of the network's logits."


def _is_known_by_the_split(m: Judged) -> bool:
    """Return True if the training pairs are known and the network is right on them."""
    return m.run.knows_split and m.own_train_score.accuracy >= 0.95


def _of_the_inside(m: Judged) -> str:
    """Return a sentence that says that the verdict is about the logits alone, and why."""
    if not algorithms_for(m):
        why = m.reading("accuracy_without").note
        return (
            "This verdict describes the logits, and not how the network computes them. No activation inside "
            f"the network was changed: {why}."
        )
    if (moved := m.reading("half_turn").value) is not None:
        did = (
            "if the network's circles are rotated by half a step for both numbers, the answer changes by one "
            f"on {moved:.1%} of pairs"
        )
    else:
        did = f"without its {m.basis.blocks_name} in the embedding {m['accuracy_without']:.1%} of the answers are right"
    return (
        f"This verdict describes the logits, not how the network computes them: {did}. The algorithm that adds "
        "by circles predicts a different effect."
    )


def _terms(m: Judged) -> str:
    if isinstance(m, CyclicMeasurements):
        return f"cosines of {m.operation} - c that adds the angles"
    return "characters of a b c^-1"


def _of_neurons(m: Judged) -> str:
    """Return a sentence that says that the logits meet their criteria but the neurons do not."""
    return (
        f"But the neurons are not waves like the logits: waves hold {m.neurons_at_keys:.1%} of their "
        "variance. A lookup table with such logits would give the same numbers. These numbers therefore "
        "do not show that the network computes by waves."
    )


def _of_storing(m: Judged) -> str:
    """Return the beginning of a sentence that says whether a network labelled `solved, it is hidden how` stores pairs.

    If all frequencies or representations are strong, as in a table of all pairs, this cannot be decided.
    """
    if m.run.knows_split:
        accuracy = m.own_test_score.accuracy
        return (
            f"The network does not store pairs, since it is right on {accuracy:.2%} of the pairs that it "
            "was not trained on"
        )
    return (
        ("These numbers do not show whether the network stores pairs")
        if m.all_are_key
        else "The network does more than store pairs"
    )


def _of_the_spectrum(m: Judged, stands_out: bool) -> str:
    """Return a sentence that says whether key frequencies or representations stand out of the read-out matrix."""
    p_value, names, count = number_text(m.p_value), ", ".join(m.key_names), len(m.key_blocks)
    block, blocks = m.basis.block, m.basis.blocks_name
    if not count and isinstance(m, CyclicMeasurements):
        return f"No frequency stands out of {m.readout_name}, which does not vary with the answer."
    if not count:
        return "No character stands out of the network's logits, compared with randomly relabelled elements."
    if m.all_are_key:
        return (
            f"All {count} {blocks} occur in {m.readout_name}, so no random comparison can show whether some stand out."
        )
    if not stands_out:
        return (
            f"No {blocks} stand out of {m.readout_name} more than in random matrices (p-value {p_value} for {names})."
        )
    subject = f"The {block} {names} stands" if count == 1 else f"The {blocks} {names} stand"
    of_energy = (
        f"{subject} out of {m.readout_name}: {m.key_energy:.0%} of its energy, more than in nearly all "
        f"random matrices of each kind (p-value at most {p_value})"
    )
    return f"{of_energy}{_of_the_gap(m)}."


def _of_the_gap(m: Judged) -> str:
    """Return the end of a sentence that says how far the weakest key frequency is above the next frequency."""
    if not isinstance(m, CyclicMeasurements):
        return ""
    times, p = f"the weakest is {number_text(m.keys.gap)} times as large as the next", m.spectrum_nulls.p_value(GAP)
    if BANDS[P_VALUE].holds(p):
        return f", {times}"
    return f"; but {times}, a ratio that also occurs in matrices without structure (p-value {number_text(p)})"


def _of_the_formula(m: Judged) -> str:
    """Return two sentences that say that the key frequencies suffice and are needed, and which parts the formula
    replaces.
    """
    count, alone = len(m.key_blocks), m.score_of_keys_alone.accuracy
    begin = (
        f"With only waves of the answer at the key {m.basis.blocks_name} in the logits, {alone:.2%} of the "
        f"answers are right; without these waves, {m.score_without_keys.accuracy:.2%} are right."
    )
    if isinstance(m, CyclicMeasurements):
        formula = f"{count} cosine{'s' * (count > 1)} of {m.operation} - c"
        share = (
            f"{m.logit_fit.explained:.0%} of the logits' variance; it explains {m.formula_fit:.0%} if the "
            "mean of each pair, which softmax ignores, and the mean of each class, which a bias could "
            "give, are left out"
        )
    else:
        formula = f"{'one character' if count == 1 else f'{count} characters'} of a b c^-1"
        share = (
            f"{m.formula_fit:.0%} of the part of the logits that depends on the product alone, and "
            f"{m.logit_share:.0%} of the logits' whole variance"
        )
    accuracy = m.score_of_formula.accuracy
    return (
        f"{begin} A sum of {formula} in place of the logits is right on {accuracy:.2%} of the pairs and "
        f"explains {share}."
    )


def which_of_two(m: Judged) -> tuple[str, str]:
    """Decide between the two algorithms of a family, and return the decision with a sentence that gives the reasons."""
    return clock_or_pizza(m) if isinstance(m, CyclicMeasurements) else _cosets_or_representations(m)


def clock_or_pizza(m: CyclicMeasurements) -> tuple[str, str]:
    """Decide between clock and pizza by two measures, each 0 for one ideal and 1 for the other, and return a sentence
    too.
    """
    irrelevance = m.irrelevance.correct
    words, is_clock = f"distance irrelevance {irrelevance:.2f} (a pizza's is near 0, a clock's near 1)", set()
    if irrelevance == irrelevance:
        is_clock.add(irrelevance > 0.5)
    else:
        words = "distance irrelevance is not defined, since the correct logit is constant"
    if m.sign < 0:
        words += "; gradient symmetricity is defined only for addition"
    elif not m.has_embedding:
        words += "; gradient symmetricity needs the embedding, which is not visible"
    elif adds_embeddings(m):
        words += "; gradient symmetricity is 1 in every network that adds embeddings, and decides nothing"
    elif (symmetricity := m.reading("gradient_symmetricity").value) is None:
        words += "; gradient symmetricity needs a gradient, which is not available for this network"
    else:
        if symmetricity == symmetricity:
            is_clock.add(symmetricity < 0.5)
        words = f"gradient symmetricity {symmetricity:.2f} (a pizza's is near 1), {words}"
    if not is_clock:
        which = "undecided"
    elif len(is_clock) > 1:
        which = "the two measures disagree"
    else:
        which = f"nearer the {'clock' if is_clock.pop() else 'pizza'}"
    return which, f"Clock or pizza: {which}; {words}."


def _cosets_or_representations(m: GroupMeasurements) -> tuple[str, str]:
    """Decide whether neurons are constant on more cosets than their representations force."""
    begin = f"Cosets or representations: {UNTOLD}"
    if not m.has_neuron_inputs:
        return UNTOLD, f"{begin}; the network's neurons are not visible."
    shares = m.coset_shares["a"]
    if shares.tested == 0:
        return UNTOLD, f"{begin}; the network's neurons use only representations of one dimension."
    orders = ", ".join(
        f"{count} on the cosets of a subgroup of order {order}" for order, count in shares.orders.items()
    )
    if math.isnan(shares.null):
        return UNTOLD, f"{begin}; the group has no subgroup whose cosets could decide."
    which = REPRESENTATIONS if shares.share < 0.5 else COSETS if shares.null <= 0.1 else UNTOLD
    return which, (
        f"Cosets or representations: {which}; {shares.tested} neurons could be of either kind. "
        f"{shares.share:.0%} of these neurons are constant on cosets{f' ({orders})' if orders else ''}. Of "
        f"random functions of the same representations {shares.null:.0%} are constant on cosets."
    )
