"""The numbers of an explanation, section by section; parts that a network does not have are not measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import mean

import pandas as pd

from modinterp.analyses.fourier.frequencies import frequency_shares, jaccard
from modinterp.analyses.fourier.neurons import THRESHOLD, term_shares
from modinterp.analyses.fourier.sparsity import fourier_gini
from modinterp.explain import sections_of_groups
from modinterp.explain.behaviour import Behaviour
from modinterp.explain.groups import GroupStranger
from modinterp.explain.measurements import GAP, KEY_ENERGY, StrangerMeasurements
from modinterp.explain.rows import ATTENTION_ONLY, NO_ATTENTION, NO_EMBEDDING, NOT_SEEN, Entry, Row
from modinterp.models import MLPConfig, Wrapped


def rows(m: Behaviour) -> Iterator[Row]:
    """Every number of an explanation, in the order of the page; of mere behaviour the first section alone."""
    yield from (Row(TASK, *entry) for entry in _task(m))
    sections = sections_of_groups.SECTIONS if isinstance(m, GroupStranger) else SECTIONS
    if isinstance(m, StrangerMeasurements | GroupStranger):
        for title, section in sections.items():
            for key, quantity, value, *note in section(m):  # type: ignore[arg-type]
                yield Row(title, key, quantity, value, *note)


def _task(m: Behaviour) -> Iterator[Entry]:
    if_right, if_wrong = m.losses_of_right_and_wrong
    yield "accuracy", "accuracy over all pairs", m.accuracy
    yield "loss", "loss over all pairs [nats]", m.own_score.loss
    yield "chance_loss", "loss of guessing [nats]", m.chance_loss
    yield "loss_where_right", "mean loss where it is right [nats]", if_right
    yield "loss_where_wrong", "mean loss where it is wrong [nats]", if_wrong, "never wrong" * math.isnan(if_wrong)
    if m.spec is None:
        why = "which pairs it was trained on is not known"
        yield "test_accuracy", "accuracy on pairs not trained on", None, why
        yield "test_loss", "loss on pairs not trained on [nats]", None, why
    else:
        yield "test_accuracy", "accuracy on pairs not trained on", m.own_test_score.accuracy
        yield "test_loss", "loss on pairs not trained on [nats]", m.own_test_score.loss


def _frequencies(m: StrangerMeasurements) -> Iterator[Entry]:
    freqs = _listed(m.freqs)
    yield "key_frequencies", f"key frequencies of {m.readout_name}, how many", float(len(m.freqs)), freqs
    yield "gap", "weakest of them over the strongest other one, norms", m.keys.gap
    yield "key_energy", f"share of {m.readout_name}'s energy in them", m.key_energy
    for key, statistic in (("p_value_gap", GAP), ("p_value_energy", KEY_ENERGY)):
        null = max((r for r in m.spectrum_nulls.rows if r.statistic == statistic), key=lambda r: r.p_value)
        count = len({row.name for row in m.spectrum_nulls.rows})
        note = f"largest p of {count} nulls, that of: {null.name}; {len(null.draws)} draws"
        yield key, f"p-value of the {statistic}", null.p_value, note
    quantity = "agreement with frequencies of 5 or more neurons (Jaccard)"
    if m.has_neurons:
        of_neurons = m.neurons.key_frequencies()
        yield "agreement_neurons", quantity, jaccard(of_neurons, m.freqs), _listed(of_neurons)
    else:
        yield "agreement_neurons", quantity, None, _why_no_neurons(m)
    quantity, agreement = "agreement with the strongest of the logits (Jaccard)", jaccard(m.logit_freqs, m.freqs)
    yield "agreement_logits", quantity, agreement, _listed(m.logit_freqs)
    gini = m.gini_of_W_E if m.has_embedding else None
    yield "gini_W_E", "Gini coefficient of W_E over Fourier components", gini, NO_EMBEDDING * (gini is None)
    quantity = f"Gini coefficient of {m.readout_name} over Fourier components"
    yield "gini_read", quantity, fourier_gini(m.readout_matrix.T)


def _listed(freqs: tuple[int, ...]) -> str:
    return ", ".join(map(str, freqs))


def _why_no_neurons(m: StrangerMeasurements) -> str:
    return NOT_SEEN if isinstance(m.model, Wrapped) else ATTENTION_ONLY


def _attention(m: StrangerMeasurements) -> Iterator[Entry]:
    quantity = "attention of a head, explained by one frequency, mean (0 if below)"
    if not m.has_attention:
        yield "attention_fve", quantity, None, NOT_SEEN if isinstance(m.model, Wrapped) else NO_ATTENTION
    for layer, fits in m.heads_by_layer.items():
        shares = [max(0.0, fit.explained) for fit in fits.heads]
        note = "; ".join(f"head {h.head}: {x:.2f} at {h.freq}" for h, x in zip(fits.heads, shares, strict=True))
        yield f"attention_fve_{layer}", f"layer {layer}: {quantity}", mean(shares), note


def _neurons(m: StrangerMeasurements) -> Iterator[Entry]:
    share = f"neurons that are one frequency to {THRESHOLD:.0%}, share"
    middle = "share of a neuron's variance at its best frequency, median"
    products = {word: f"products of equal waves {word} the nonlinearity, share" for word in ("before", "after")}
    if not m.has_neurons:
        yield "neurons_explained", share, None, _why_no_neurons(m)
        yield "neurons_median", middle, None, _why_no_neurons(m)
        for word, quantity in products.items():
            yield f"products_{word}", quantity, None, _why_no_neurons(m)
        return
    for layer, fits in m.neurons_by_layer.items():
        sizes = ", ".join(f"{len(members)} of frequency {k}" for k, members in fits.clusters().items())
        yield f"neurons_explained_{layer}", f"layer {layer}: {share}", float(fits.explained.double().mean()), sizes
        yield f"neurons_median_{layer}", f"layer {layer}: {middle}", float(fits.fractions.nan_to_num(0).quantile(0.5))
        for word, hook in (("before", "hook_pre"), ("after", "hook_post")):
            name, quantity = f"blocks.{layer}.mlp.{hook}", f"layer {layer}: {products[word]}"
            if name in m.model.hook_dict:
                yield f"products_{word}_{layer}", quantity, term_shares(m.activation(name)).products
            else:
                yield f"products_{word}_{layer}", quantity, None, NOT_SEEN
    yield "neurons_null", "the share of a neuron with residues renamed, 99th percentile", m.neuron_null


def _readout(m: StrangerMeasurements) -> Iterator[Entry]:
    directions, fit = m.readoff.rows, m.logit_fit
    explained = [r.explained for r in directions] or [math.nan]  # where nothing stands out
    quantity = f"{m.features_name} along a key direction of {m.readout_name}: FVE by one wave"
    yield "readoff_lowest", f"{quantity}, lowest", min(explained)
    yield "readoff_mean", f"{quantity}, mean", mean(explained)
    by_two = mean([r.explained_by_two for r in directions] or [math.nan])
    yield "readoff_two_terms_mean", "the same, both products free and not centred, mean", by_two
    quantity = f"norm of {m.readout_name} outside its key directions, constant included, share"
    why = "as many key directions as the matrix has rows or columns" if m.residual_norm is None else ""
    yield "read_residual", quantity, m.residual_norm, why
    yield "logit_fve", "logits explained by the formula, FVE about the global mean", fit.explained, "as in the paper"
    yield "logit_fve_raw", "the same, not centred", fit.explained_raw
    yield "logit_fve_row", "the same, each pair's mean removed", fit.explained_by_row
    yield "logit_fve_row_class", "the same, each pair's and each class's mean removed", fit.explained_by_row_and_class
    null = max(m.logit_nulls.rows, key=lambda r: r.p_value)
    note = f"largest p of {len(m.logit_nulls.rows)} nulls, that of: {null.name}; {len(null.draws)} draws"
    yield "p_value_logits", "p-value of the variance in as many cosines", null.p_value, note
    quantity = "logits in any waves and products of as many frequencies, share"
    yield "logits_periodic", quantity, m.periodic_share_of_logits


def _layers(m: StrangerMeasurements) -> Iterator[Entry]:
    share = frequency_shares(m.W_E, m.freqs) if m.has_embedding else None
    yield "W_E_key_share", "share of W_E's energy at the key frequencies", share, NO_EMBEDDING * (share is None)
    yield from _attention(m)
    yield from _neurons(m)
    yield from _readout(m)


def _used(m: StrangerMeasurements) -> Iterator[Entry]:
    answer = m.operation
    alone, without = m.score_of_keys_alone, m.score_without_keys
    note = f"cos and sin of w_k({answer}), and each class's mean"
    yield "restricted_accuracy", "accuracy with the key frequencies alone in the logits", alone.accuracy, note
    yield "restricted_loss", "loss with them alone, all pairs [nats]", alone.loss
    note = f"all but cos and sin of w_k({answer})"
    yield "excluded_accuracy", "accuracy without the key frequencies in the logits", without.accuracy, note
    yield "excluded_loss", "loss without them, all pairs [nats]", without.loss
    quantity = "loss without them, pairs trained on [nats]"
    if m.spec is None:
        yield "excluded_loss_train", quantity, None, "which they are is not known"
    else:
        yield "excluded_loss_train", quantity, m.score(m.logits_without_keys, m.split.train).loss
    yield from _used_one_by_one(m)
    quantity, waves = f"{m.features_name} cut down to waves of the answer", m.score_of_feature_waves
    yield "waves_accuracy", f"accuracy with {quantity}", waves.accuracy
    yield "waves_loss", f"loss with {quantity} [nats]", waves.loss


def _used_one_by_one(m: StrangerMeasurements) -> Iterator[Entry]:
    losses = {k: float(loss) for k, loss in enumerate(m.loss_without_each_wave, start=1)}
    of_keys = {k: loss for k, loss in losses.items() if k in m.freqs}
    of_others = {k: loss for k, loss in losses.items() if k not in m.freqs}
    quantity = "loss without one key frequency, lowest [nats]"
    if of_keys:
        least_needed = min(of_keys, key=lambda k: of_keys[k])
        yield "loss_without_one_key", quantity, of_keys[least_needed], f"frequency {least_needed}"
    else:
        yield "loss_without_one_key", quantity, None, "there is none"
    quantity = "loss without one other frequency, highest [nats]"
    if of_others:
        most_needed = max(of_others, key=lambda k: of_others[k])
        yield "loss_without_one_other", quantity, of_others[most_needed], f"frequency {most_needed}"
    else:
        yield "loss_without_one_other", quantity, None, "there is no other"


def _formula(m: StrangerMeasurements) -> Iterator[Entry]:
    quantity = "accuracy of the fitted sum of cosines in place of the logits"
    note = "a single positive cosine has all right" if m.freqs and all(math.gcd(k, m.p) == 1 for k in m.freqs) else ""
    yield "formula_accuracy", quantity, m.score_of_formula.accuracy, note
    terms = " ".join(f"{a:+.3g} cos w{k}x" for k, a in zip(m.freqs, m.logit_fit.alphas, strict=True))
    note = f"{terms}, x = {m.operation} - c"
    yield "formula_loss", "its loss, all pairs [nats]", m.score_of_formula.loss, note


def _symmetry(m: StrangerMeasurements) -> Iterator[Entry]:
    irrelevance = m.irrelevance
    quantities = {
        "": ("over any output", "any_output"),
        "_correct": ("over the correct output", "correct"),
        "_wrong": ("over the largest wrong output", "largest_wrong"),
    }
    for key, (words, name) in quantities.items():
        value, note = None, NO_EMBEDDING
        if m.has_embedding:
            value = getattr(m.symmetricity, name)
            note = f"{m.symmetricity.pairs} triples (a, b, c) at random" + "; defined for addition" * (m.sign < 0)
            if isinstance(m.model.cfg, MLPConfig) and m.model.cfg.joined != "concatenated":
                note = "1 by construction: the two embeddings are added"
        yield f"gradient_symmetricity{key}", f"gradient symmetricity, {words}", value, note * (not key or value is None)
    note = "the distance is a + b" if m.sign < 0 else ""
    if math.isnan(irrelevance.correct):
        note = "the correct logit is the same for every pair"
    yield "distance_irrelevance", "distance irrelevance of the correct logit", irrelevance.correct, note
    quantity = "distance irrelevance of the largest wrong logit"
    yield "distance_irrelevance_wrong", quantity, irrelevance.largest_wrong


TASK = "Does it do the task?"
SECTIONS = {
    "Which frequencies, and how clearly?": _frequencies,
    "How much of each layer do they explain?": _layers,
    "Are they used?": _used,
    "How much does the formula replace?": _formula,
    "Clock or pizza?": _symmetry,
}


def tables(m: Behaviour) -> Iterator[tuple[str, pd.DataFrame]]:
    """Title and content of every table behind the numbers."""
    if m.accuracy_of_operations:
        shares = pd.DataFrame(m.accuracy_of_operations.items(), columns=["operation", "accuracy"])
        yield "The same answers as those to other operations", shares
    if isinstance(m, GroupStranger):
        yield from sections_of_groups.tables(m)
    if not isinstance(m, StrangerMeasurements):
        return
    yield "Nulls of the spectrum", m.spectrum_nulls.table()
    yield "Nulls of the logits", m.logit_nulls.table()
    yield f"Read-off of {m.features_name} by {m.readout_name}", m.readoff.table()
    yield "Cosines of the formula", m.logit_fit.table()
    for layer, fits in m.heads_by_layer.items():
        yield f"Attention to the first number, layer {layer}", fits.table()
    losses = [(k, float(loss), k in m.freqs) for k, loss in enumerate(m.loss_without_each_wave, start=1)]
    yield "Loss without one frequency", pd.DataFrame(losses, columns=["freq", "loss [nats]", "key"])
