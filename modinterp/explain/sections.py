"""The numbers of an explanation, section by section; what a network does not have is said not to be measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean

import pandas as pd

from modinterp.analyses.frequencies import frequency_shares, jaccard
from modinterp.analyses.neurons import THRESHOLD, term_shares
from modinterp.analyses.progress import fourier_gini
from modinterp.explain.facts import Facts
from modinterp.explain.subject import with_activation
from modinterp.models.config import ACTIVATIONS

ATTENTION_ONLY = "the network is attention alone"
NO_ATTENTION = "the network has no attention"


@dataclass(frozen=True)
class Row:
    """One number.

    Attributes:
        key: under which programs find it.
        what: it is, for people, with its unit.
        value: None where it was not measured.
        note: why not, or what else to know.
    """

    section: str
    key: str
    what: str
    value: float | None
    note: str = ""


def rows(facts: Facts) -> Iterator[Row]:
    """Every number, in the order of the page."""
    for title, section in SECTIONS.items():
        for key, what, value, *note in section(facts):
            yield Row(title, key, what, value, *note)


Entry = tuple[str, str, float | None] | tuple[str, str, float | None, str]


def _task(f: Facts) -> Iterator[Entry]:
    right, wrong = f.losses_of_right_and_wrong
    yield "accuracy", "accuracy over all pairs", f.whole.accuracy, _other_activations(f)
    yield "loss", "loss over all pairs [nats]", f.whole.loss
    yield "chance_loss", "loss of guessing [nats]", math.log(f.p)
    yield "loss_where_right", "mean loss where it is right [nats]", right
    yield "loss_where_wrong", "mean loss where it is wrong [nats]", wrong, "" if wrong == wrong else "never wrong"
    if f.run.spec is None:
        why = "which pairs it was trained on is not known"
        yield "test_accuracy", "accuracy on pairs not trained on", None, why
        yield "test_loss", "loss on pairs not trained on [nats]", None, why
    else:
        test = f.score(f.logits, f.run.split.test)
        yield "test_accuracy", "accuracy on pairs not trained on", test.accuracy
        yield "test_loss", "loss on pairs not trained on [nats]", test.loss


def _other_activations(f: Facts) -> str:
    """Of a file that is not right everywhere: how it would do with neurons of another kind, where that is better."""
    if not f.has_neurons or f.run.spec is not None or f.whole.accuracy >= 0.95:
        return ""
    from modinterp.activations import logits_on_grid

    others = {a: f.score(logits_on_grid(with_activation(f.model, a), f.task)).accuracy for a in ACTIVATIONS}
    better = [f"{a}: {score:.2%}" for a, score in others.items() if score > f.whole.accuracy + 0.01]
    return f"with other neurons, {', '.join(better)}" if better else ""


def _frequencies(f: Facts) -> Iterator[Entry]:
    shown = ", ".join(map(str, f.freqs))
    yield "key_frequencies", f"key frequencies of {f.read_name}, how many", float(len(f.freqs)), shown
    yield "gap", "weakest of them over the strongest other one, norms", f.keys.gap
    yield "key_energy", f"share of {f.read_name}'s energy in them", f.spectrum_nulls.rows[1].observed
    for statistic in ("gap of the spectrum", "energy of the strongest"):
        null = max((r for r in f.spectrum_nulls.rows if r.statistic == statistic), key=lambda r: r.p_value)
        key, note = statistic.split()[0], f"largest p of three nulls, that of: {null.name}; {len(null.draws)} draws"
        yield f"p_value_{key}", f"p-value of the {statistic}", null.p_value, note
    own = f.last_neurons
    found = ", ".join(map(str, own.key_frequencies())) if own else ATTENTION_ONLY
    agreement = jaccard(own.key_frequencies(), f.freqs) if own else None
    yield "agreement_neurons", "agreement with frequencies of 5 or more neurons (Jaccard)", agreement, found
    found = ", ".join(map(str, f.logit_freqs))
    agreement = jaccard(f.logit_freqs, f.freqs)
    yield "agreement_logits", "agreement with the strongest of the logits (Jaccard)", agreement, found
    yield "gini_W_E", "Gini coefficient of W_E over Fourier components", fourier_gini(f.W_E)
    yield "gini_read", f"Gini coefficient of {f.read_name} over Fourier components", fourier_gini(f.W_read.T)


def _attention(f: Facts) -> Iterator[Entry]:
    what = "attention of a head, explained by one frequency, mean (0 if below)"
    if not f.has_attention:
        yield "attention_fve", what, None, NO_ATTENTION
    for layer, fits in f.heads.items():
        shares = [max(0.0, h.explained) for h in fits.heads]
        note = "; ".join(f"head {h.head}: {x:.2f} at {h.freq}" for h, x in zip(fits.heads, shares, strict=True))
        yield f"attention_fve_{layer}", f"layer {layer}: {what}", mean(shares), note


def _neurons(f: Facts) -> Iterator[Entry]:
    share = f"neurons that are one frequency to {THRESHOLD:.0%}, share"
    middle = "share of a neuron's variance at its best frequency, median"
    products = {word: f"products of equal waves {word} the nonlinearity, share" for word in ("before", "after")}
    if not f.has_neurons:
        yield "neurons_explained", share, None, ATTENTION_ONLY
        yield "neurons_median", middle, None, ATTENTION_ONLY
        for word, what in products.items():
            yield f"products_{word}", what, None, ATTENTION_ONLY
        return
    for layer, fits in f.neuron_fits.items():
        sizes = ", ".join(f"{len(members)} of frequency {k}" for k, members in fits.clusters().items())
        yield f"neurons_explained_{layer}", f"layer {layer}: {share}", float(fits.explained.double().mean()), sizes
        yield f"neurons_median_{layer}", f"layer {layer}: {middle}", float(fits.fractions.nan_to_num(0).median())
        for place, word in (("pre", "before"), ("post", "after")):
            found = term_shares(f.grid[f"blocks.{layer}.mlp.hook_{place}"]).products
            yield f"products_{word}_{layer}", f"layer {layer}: {products[word]}", found
    yield "neurons_null", "the share of a neuron with residues renamed, 99th percentile", f.neuron_null


def _readout(f: Facts) -> Iterator[Entry]:
    rows, rank, fit = f.readoff.rows, f.low_rank, f.logit_fit
    what = f"{f.read_from} along a key direction of {f.read_name}: FVE by one wave"
    yield "readoff_lowest", f"{what}, lowest", min(r.explained for r in rows)
    yield "readoff_mean", f"{what}, mean", mean(r.explained for r in rows)
    both = mean(r.explained_by_two for r in rows)
    yield "readoff_two_terms_mean", "the same, both products free and not centred, mean", both
    what = f"norm of {f.read_name} outside its key directions, constant included, share"
    if rank is None:
        yield "read_residual", what, None, "as many key directions as the matrix has rows or columns"
    else:
        yield "read_residual", what, rank.residual_norm
    yield "logit_fve", "logits explained by the formula, FVE about the global mean", fit.explained, "as in the paper"
    yield "logit_fve_raw", "the same, not centred", fit.explained_raw
    yield "logit_fve_row", "the same, each pair's mean removed", fit.explained_by_row
    yield "logit_fve_row_class", "the same, each pair's and each class's mean removed", fit.explained_by_row_and_class
    null = max(f.logit_nulls.rows, key=lambda r: r.p_value)
    note = f"larger p of two nulls, that of: {null.name}; {len(null.draws)} draws"
    yield "p_value_logits", "p-value of the variance in as many cosines", null.p_value, note
    what = "logits in any waves and products of as many frequencies, share"
    yield "logits_periodic", what, f.periodic_share_of_logits


def _layers(f: Facts) -> Iterator[Entry]:
    yield "W_E_key_share", "share of W_E's energy at the key frequencies", frequency_shares(f.W_E, f.freqs)
    yield from _attention(f)
    yield from _neurons(f)
    yield from _readout(f)


def _used(f: Facts) -> Iterator[Entry]:
    answer = f"a {'+' if f.sign > 0 else '-'} b"
    kept, lost = f"cos and sin of w_k({answer}), and each class's mean", f"all but cos and sin of w_k({answer})"
    yield "restricted_accuracy", "accuracy with the key frequencies alone in the logits", f.restricted.accuracy, kept
    yield "restricted_loss", "loss with them alone, all pairs [nats]", f.restricted.loss
    yield "excluded_accuracy", "accuracy without the key frequencies in the logits", f.excluded.accuracy, lost
    yield "excluded_loss", "loss without them, all pairs [nats]", f.excluded.loss
    if f.run.spec is None:
        yield "excluded_loss_train", "loss without them, pairs trained on [nats]", None, "which they are is not known"
    else:
        trained_on = f.score(f.excluded_logits, f.run.split.train).loss
        yield "excluded_loss_train", "loss without them, pairs trained on [nats]", trained_on
    losses = {k: float(loss) for k, loss in enumerate(f.loss_without_each, start=1)}
    own, others = ({k: v for k, v in losses.items() if (k in f.freqs) == key} for key in (True, False))
    best, worst = min(own, key=lambda k: own[k]), max(others, key=lambda k: others[k], default=None)
    yield "loss_without_one_key", "loss without one key frequency, lowest [nats]", own[best], f"frequency {best}"
    value, note = (None, "there is no other") if worst is None else (others[worst], f"frequency {worst}")
    yield "loss_without_one_other", "loss without one other frequency, highest [nats]", value, note
    what = f"{f.read_from} cut down to waves of the answer"
    yield "waves_accuracy", f"accuracy with {what}", f.read_as_waves.accuracy
    yield "waves_loss", f"loss with {what} [nats]", f.read_as_waves.loss


def _formula(f: Facts) -> Iterator[Entry]:
    terms = " ".join(f"{a:+.3g} cos w{k}x" for k, a in zip(f.freqs, f.logit_fit.alphas, strict=True))
    what, note = (
        "accuracy of the fitted sum of cosines in place of the logits",
        "a single positive cosine has all right",
    )
    yield "formula_accuracy", what, f.formula.accuracy, note if all(math.gcd(k, f.p) == 1 for k in f.freqs) else ""
    x = f"x = a {'+' if f.sign > 0 else '-'} b - c"
    yield "formula_loss", "its loss, all pairs [nats]", f.formula.loss, f"{terms}, {x}"


def _symmetry(f: Facts) -> Iterator[Entry]:
    s, d = f.symmetricity, f.irrelevance
    note = f"{s.pairs} triples (a, b, c) at random" + "; defined for addition" * (f.sign < 0)
    if not f.has_attention:
        note = "1 by construction: the two embeddings are added"
    yield "gradient_symmetricity", "gradient symmetricity, over any output", s.any_output, note
    yield "gradient_symmetricity_correct", "gradient symmetricity, over the correct output", s.correct
    yield "gradient_symmetricity_wrong", "gradient symmetricity, over the largest wrong output", s.largest_wrong
    same = "the correct logit is the same for every pair"
    yield (
        "distance_irrelevance",
        "distance irrelevance of the correct logit",
        d.correct,
        same if d.correct != d.correct else "the distance is a + b" * (f.sign < 0),
    )
    yield "distance_irrelevance_wrong", "distance irrelevance of the largest wrong logit", d.largest_wrong


SECTIONS = {
    "Does it do the task?": _task,
    "Which frequencies, and how clearly?": _frequencies,
    "How much of each layer do they explain?": _layers,
    "Are they used?": _used,
    "How much does the formula replace?": _formula,
    "Clock or pizza?": _symmetry,
}


def tables(facts: Facts) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables behind the numbers, with their titles."""
    yield "Nulls of the spectrum", facts.spectrum_nulls.table()
    yield "Nulls of the logits", facts.logit_nulls.table()
    yield f"Read-off of {facts.read_from} by {facts.read_name}", facts.readoff.table()
    yield "Cosines of the formula", facts.logit_fit.table()
    for layer, fits in facts.heads.items():
        yield f"Attention to the first number, layer {layer}", fits.table()
    losses = [(k, float(v), k in facts.freqs) for k, v in enumerate(facts.loss_without_each, start=1)]
    yield "Loss without one frequency", pd.DataFrame(losses, columns=["freq", "loss [nats]", "key"])
