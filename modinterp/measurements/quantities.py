"""Define the quantities of networks over pairs, one record for each number; see `modinterp.measurements.quantity`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from statistics import mean
from typing import Any

from modinterp.analyses.fourier.frequencies import jaccard
from modinterp.analyses.fourier.marginals import marginals
from modinterp.analyses.fourier.neurons import THRESHOLD, term_shares_of
from modinterp.analyses.fourier.sparsity import fourier_gini
from modinterp.bases import GAP, KEY_ENERGY
from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.quantity import Number, Quantity, register
from modinterp.models import MLPConfig, Wrapped
from modinterp.runs import NotRecorded

ANY, PAIRS, CYCLIC, GROUPS = (("NetworkMeasurements",), ("CyclicMeasurements", "GroupMeasurements"),
                              ("CyclicMeasurements",), ("GroupMeasurements",))  # fmt: skip
ATTENTION_ONLY = "the network has attention and no MLP"
NOT_SEEN = "the place of this activation in the network is not known; for a module, `hooks` can name the place"
NO_EMBEDDING = "the place of one embedding of both numbers in the network is not known"
NO_ATTENTION = "the network has no attention"
SPLIT_UNKNOWN = "the pairs that the network was trained on are not known"


def _listed(names: Any) -> str:
    return ", ".join(map(str, names))


# What a number needs


def _embedding(m: Any) -> None:
    if not m.has_embedding:
        raise NoSuchPart(NO_EMBEDDING)


def _neurons(m: Any) -> None:
    if not m.has_neurons:
        raise NoSuchPart(NOT_SEEN if isinstance(m.model, Wrapped) else ATTENTION_ONLY)


def _neuron_inputs(m: Any) -> None:
    if not m.has_neuron_inputs:
        raise NoSuchPart(NOT_SEEN)


def _attention(m: Any) -> None:
    if not m.has_attention:
        raise NoSuchPart(NOT_SEEN if isinstance(m.model, Wrapped) else NO_ATTENTION)


def _split(m: Any) -> None:
    if not m.run.knows_split:
        raise NoSuchPart(SPLIT_UNKNOWN)


def needing(need: Callable[[Any], None], of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap the function that computes a number: first call `need`, which raises if the network lacks a needed part.

    Recorded measurements do not call the function `need`.
    """

    def checked(m: Any) -> Any:
        if not m.is_recorded:
            need(m)
        return of(m)

    return checked


# Numbers and notes of more than one expression


def _null_note(nulls: Any, statistic: str | None = None) -> str:
    rows = [row for row in nulls.rows if statistic in (None, row.statistic)]
    worst, names = max(rows, key=lambda row: row.p_value), {row.name for row in nulls.rows}
    which = f"the largest p-value of {len(names)} null hypotheses, " * (len(names) > 1)
    return f"{which}compared with {len(worst.draws)} draws of: {worst.name}"


def _attention_fve(m: Any) -> dict[int, Number]:
    return {layer: mean(max(0.0, fit.explained) for fit in fits.heads) for layer, fits in m.heads_by_layer.items()}


def _attention_note(m: Any) -> str:
    heads = m.heads_by_layer[max(m.heads_by_layer)].heads
    return "; ".join(f"head {h.head}: {max(0.0, h.explained):.2f} at {h.freq}" for h in heads)


def _neurons_explained(m: Any) -> dict[int, Number]:
    return {layer: float(fits.explained.double().mean()) for layer, fits in m.neurons_by_layer.items()}


def _neurons_median(m: Any) -> dict[int, Number]:
    return {layer: float(x.fractions.nan_to_num(0).quantile(0.5)) for layer, x in m.neurons_by_layer.items()}


def _cluster_sizes(m: Any) -> str:
    return ", ".join(f"{len(members)} of frequency {k}" for k, members in m.neurons.clusters().items())


def _products(m: Any, hook: str) -> dict[int, Number]:
    names = {layer: f"blocks.{layer}.mlp.{hook}" for layer in m.neurons_by_layer}
    seen = {layer: name for layer, name in names.items() if name in m.model.hook_dict}
    if not seen:
        raise NoSuchPart(NOT_SEEN)
    known = {f"{m.last_block}.mlp.hook_post": m.neuron_marginals}
    return {layer: term_shares_of(known.get(x) or marginals(m.activation(x))).products for layer, x in seen.items()}


def _extreme(m: Any, of_keys: bool) -> tuple[float, str]:
    """Return the smallest loss without one key frequency, or the largest loss without one other frequency, and its
    name.
    """
    losses = zip(m.basis.all_blocks, m.loss_without_each_block.tolist(), strict=True)
    some = [(loss, m.basis.name(one)) for one, loss in losses if (one in m.key_blocks) == of_keys]
    if not some:
        raise NoSuchPart("there is none" if of_keys else "there is no other")
    return (min if of_keys else max)(some, key=lambda each: each[0])


def _symmetricity(m: Any, name: str) -> float:
    _embedding(m)
    return getattr(m.symmetricity, name)


def _symmetricity_note(m: Any) -> str:
    if adds_embeddings(m):
        return "1 by construction: the two embeddings are added"
    return f"{m.symmetricity.pairs} triples (a, b, c) at random" + "; defined for addition" * (m.sign < 0)


def adds_embeddings(m: Any) -> bool:
    """Return True for an MLP on the sum of both embeddings, which treats both numbers alike by construction."""
    return isinstance(m.model.cfg, MLPConfig) and m.model.cfg.joined != "concatenated"


def _formula_note(m: Any) -> str:
    if hasattr(m, "sign"):
        terms = " ".join(f"{a:+.3g} cos w{k}x" for k, a in zip(m.freqs, m.logit_fit.alphas, strict=True))
        return f"{terms}, x = {m.operation} - c"
    factors = m.formula_factors.tolist()
    terms = " ".join(f"{x:+.3g} chi of {name}" for name, x in zip(m.key_names, factors, strict=True))
    return f"{terms}, of a b c^-1" * bool(terms)


def _readoff(m: Any, of: Callable[[Any], float], reduce: Callable[..., float]) -> float:
    return reduce([of(row) for row in m.readoff.rows] or [math.nan])  # where nothing stands out


def _best(m: Any) -> Any:
    _neuron_inputs(m)
    return m.neurons["a"].best[m.neurons["a"].live]


def _sizes_of_irreps(m: Any) -> str:
    found = m.neurons["a"]
    sizes = ", ".join(f"{count} of {name}" for name, count in found.sizes(m.irreps).items())
    return f"{sizes}; {int((~found.live).sum())} always zero"


def _neurons_same(m: Any) -> float:
    _neuron_inputs(m)
    found = m.neurons["a"]
    return float((found.own == m.neurons["b"].own)[found.live].double().mean())


def _of_input(m: Any, name: str) -> float:
    _embedding(m)
    if name not in m.embeddings:
        raise NoSuchPart("the two elements do not have separate embedding matrices")
    return m.key_share(m.embeddings[name])


def _cosets(m: Any, of: str, name: str) -> float:
    _neuron_inputs(m)
    try:
        return getattr(m.coset_shares[of], name)
    except ValueError as error:
        raise NoSuchPart(str(error)) from error


def _coset_means(m: Any, number: int) -> float:
    """Return the accuracy with each neuron at its mean over cosets (`number` 0), or over other sets of the same size
    (1).
    """
    _cosets(m, "a", "share")
    return m.coset_mean_accuracies[number]


def _coset_orders(m: Any, of: str) -> str:
    return ", ".join(f"{count} of order {order}" for order, count in m.coset_shares[of].orders.items())


def _grokking(m: Any, name: str) -> float:
    if not len(m.history):
        raise NotRecorded(f"the training settings of {m.name} are not known")
    return getattr(m.grokking, name)


def _of_training(m: Any, column: str, reduce: Callable[[Any], float]) -> float:
    """Return a quantity that is computed from one column of the training history."""
    if not len(m.history):
        raise NotRecorded(f"the training settings of {m.name} are not known")
    return reduce(m.history[column])


def _last(column: Any) -> float:
    return float(column.iloc[-1])


def _final_test_accuracy(m: Any) -> float:
    return _of_training(m, "test_accuracy", _last) if len(m.history) else m.accuracy


def _most(column: Any) -> float:
    return float(column.max())


def _grokking_ratio(m: Any) -> float:
    memorised = _grokking(m, "memorised")
    return _grokking(m, "grokked") / memorised if memorised else math.nan


BEHAVIOUR = partial(Quantity, is_behaviour=True)
LOSS = partial(Quantity, unit="nats")

register(
    BEHAVIOUR("accuracy", "accuracy over {inputs}", "task", lambda m: m.accuracy, ANY),
    BEHAVIOUR("loss", "loss over {inputs}", "task", lambda m: m.own_score.loss, ANY, "nats"),
    BEHAVIOUR("chance_loss", "loss of guessing", "task", lambda m: m.chance_loss, ANY, "nats"),
    BEHAVIOUR("loss_where_right", "mean loss where the answer is "
        "right", "task", lambda m: m.losses_of_right_and_wrong[0], ANY,
              "nats"),
    BEHAVIOUR("loss_where_wrong", "mean loss where the answer is "
        "wrong", "task", lambda m: m.losses_of_right_and_wrong[1], ANY,
              "nats", note=lambda m: "never wrong" * math.isnan(m.losses_of_right_and_wrong[1])),
    BEHAVIOUR("train_accuracy", "accuracy on {kind} trained on", "task",
              needing(_split, lambda m: m.own_train_score.accuracy), ANY),
    BEHAVIOUR("train_loss", "loss on {kind} trained on", "task", needing(_split, lambda m: m.own_train_score.loss),
              ANY, "nats"),
    BEHAVIOUR("test_accuracy", "accuracy on {kind} not trained on", "task",
              needing(_split, lambda m: m.own_test_score.accuracy), ANY),
    BEHAVIOUR("test_loss", "loss on {kind} not trained on", "task", needing(_split, lambda m: m.own_test_score.loss),
              ANY, "nats"),

    Quantity("n_keys", "key {blocks} of {readout}, how many", "keys", lambda m: len(m.key_blocks), PAIRS,
             definition="D3(b); for a group: similarity of logits and character above `least_similarity`",
             note=lambda m: _listed(m.key_names)),
    Quantity("gap", "norm of the weakest key {block} over that of the strongest other "
        "{block}", "keys", lambda m: m.keys.gap, CYCLIC,
             definition="D3(b)"),
    Quantity("least_similarity", "similarity of logits and character above which a representation is key", "keys",
             lambda m: m.least_similarity, GROUPS,
             note=lambda m: "" if m.as_published else f"more than any of {len(m.renamed)} renamings has"),
    Quantity("similarity_gap", "similarity of the weakest key representation over that of the strongest other", "keys",
             lambda m: m.similarity_gap, GROUPS,
             note=lambda m: "no representation is a key representation" * math.isnan(m.similarity_gap)),
    Quantity("key_energy", "share of {readout}'s energy in the key {blocks}, each row's mean left out", "keys",
             lambda m: m.key_energy, PAIRS),
    Quantity("p_value_gap", f"p-value of the {GAP}", "keys", lambda m: m.spectrum_nulls.p_value(GAP), CYCLIC,
             note=lambda m: _null_note(m.spectrum_nulls, GAP)),
    Quantity("p_value_energy", f"p-value of the {KEY_ENERGY}", "keys", lambda m: m.p_value, PAIRS,
             note=lambda m: _null_note(m.spectrum_nulls, KEY_ENERGY)),
    Quantity("agreement_neurons", "agreement of key frequencies and frequencies of 5 or more neurons (Jaccard)", "keys",
             needing(_neurons, lambda m: jaccard(m.neurons.key_frequencies(), m.freqs)), CYCLIC, definition="D3(a)",
             note=lambda m: _listed(m.neurons.key_frequencies())),
    Quantity("agreement_logits", "agreement of key frequencies and the strongest frequencies of the logits "
        "(Jaccard)", "keys",
             lambda m: jaccard(m.logit_freqs, m.freqs), CYCLIC, note=lambda m: _listed(m.logit_freqs)),
    Quantity("gini_W_E", "Gini coefficient of W_E over Fourier components", "keys",
             needing(_embedding, lambda m: m.gini_of_W_E), CYCLIC, definition="D7"),
    Quantity("gini_read", "Gini coefficient of {readout} over Fourier components", "keys",
             lambda m: m.gini_of_W_L if m.as_published else fourier_gini(m.readout_matrix.T), CYCLIC, definition="D7"),

    Quantity("W_E_key_share", "share of W_E's energy in the key {blocks}, its mean left out", "layers",
             needing(_embedding, lambda m: sum(m.shares_of(m.W_E)[name] for name in m.key_names)), PAIRS),
    *(
        Quantity(f"{name}_key_share", f"share of {name}'s energy in the key representations, its mean counted",
                 "layers", partial(_of_input, name=name), GROUPS)
        for name in ("W_a", "W_b")
    ),
    Quantity("attention_fve", "mean share of a head's attention that one frequency explains (at least 0)", "layers",
             needing(_attention, _attention_fve), CYCLIC, note=_attention_note),
    Quantity("neurons_explained", f"share of neurons with {THRESHOLD:.0%} of their variance at one frequency", "layers",
             needing(_neurons, _neurons_explained), CYCLIC, definition="D4-neuron", note=_cluster_sizes),
    Quantity("neurons_median", "median share of a neuron's variance at its best frequency", "layers",
             needing(_neurons, _neurons_median), CYCLIC, definition="D4-neuron"),
    Quantity("products_before", "share of products of waves of one frequency before the nonlinearity", "layers",
             needing(_neurons, lambda m: _products(m, "hook_pre")), CYCLIC),
    Quantity("products_after", "share of products of waves of one frequency after the nonlinearity", "layers",
             needing(_neurons, lambda m: _products(m, "hook_post")), CYCLIC),
    Quantity("neurons_null", "99th percentile of a neuron's share at its best frequency if residues are "
        "shuffled", "layers",
             needing(_neurons, lambda m: m.neuron_null), CYCLIC),
    Quantity("irrep_neurons", "share of live neurons with 95% of their variance in one representation", "layers",
             lambda m: float((_best(m) >= 0.95).double().mean()), GROUPS, note=_sizes_of_irreps),
    Quantity("irrep_neurons_least", "smallest share of a live neuron's variance in its best representation", "layers",
             lambda m: float(_best(m).min()), GROUPS),
    Quantity("irrep_neurons_same", "share of live neurons with the same representation for a and "
        "b", "layers", _neurons_same,
             GROUPS),
    Quantity("neurons_at_keys", "share of the neurons' variance at the key {blocks}", "layers",
             needing(_neurons, lambda m: m.neurons_at_keys), PAIRS),
    Quantity("neurons_product_share", "share of the neurons' variance in rho(a b) of the key representations",
             "layers", needing(_neurons, lambda m: m.key_share_of_neurons[1]), GROUPS),
    Quantity("read_key_share", "share of {readout} in the key representations, its mean counted", "layers",
             lambda m: m.key_share(m.readout_matrix.T), GROUPS),
    Quantity("read_trivial_share", "share of {readout} in the trivial representation, which is its mean", "layers",
             lambda m: m.shares(m.readout_matrix.T)["trivial"], GROUPS),
    Quantity("readoff_lowest", "lowest FVE by one wave of {features} along a key direction of {readout}", "layers",
             lambda m: _readoff(m, lambda row: row.explained, min), CYCLIC, definition="D4-dir"),
    Quantity("readoff_mean", "mean FVE by one wave of {features} along a key direction of {readout}", "layers",
             lambda m: _readoff(m, lambda row: row.explained, mean), CYCLIC, definition="D4-dir"),
    Quantity("readoff_two_terms_mean", "mean FVE by two products of {features} along a key direction of {readout}",
             "layers", lambda m: _readoff(m, lambda row: row.explained_by_two, mean), CYCLIC,
             definition="D4-dir, both products free, not centred"),
    Quantity("read_residual", "share of {readout}'s norm outside its key directions, constant included", "layers",
             lambda m: m.residual_norm, CYCLIC),
    Quantity("logit_fve", "share of the logits' variance that the formula explains (FVE about the global "
        "mean)", "layers",
             lambda m: m.logit_fit.explained, CYCLIC, definition="D4-logit", note=lambda m: "as in the paper"),
    Quantity("logit_fve_raw", "share of the logits that the formula explains, not centred", "layers",
             lambda m: m.logit_fit.explained_raw, CYCLIC),
    Quantity("logit_fve_row", "share of the logits that the formula explains, each pair's mean removed", "layers",
             lambda m: m.logit_fit.explained_by_row if hasattr(m, "sign") else m.logit_share, PAIRS),
    Quantity("logit_fve_row_class", "share of the logits that the formula explains, each pair's and class's "
        "mean removed",
             "layers", lambda m: m.logit_fit.explained_by_row_and_class, CYCLIC),
    Quantity("logit_fve_product", "share of each product's mean logits that the formula explains, row and class "
        "means removed",
             "layers", lambda m: m.formula_fit, GROUPS),
    Quantity("p_value_logits", "p-value of the logits' variance in the terms of the formula", "layers",
             lambda m: max(row.p_value for row in m.logit_nulls.rows), PAIRS,
             note=lambda m: _null_note(m.logit_nulls)),
    Quantity("logits_periodic", "share of the logits in any waves of the strongest {blocks}", "layers",
             lambda m: m.periodic_share_of_logits, PAIRS),

    Quantity("restricted_accuracy", "accuracy with the key {blocks} alone in the logits", "use",
             lambda m: m.score_of_keys_alone.accuracy, PAIRS, definition="D6",
             note=lambda m: f"waves of {m.operation} at the key {m.basis.blocks_name}, and each class's mean"),
    LOSS("restricted_loss", "loss with the key {blocks} alone in the logits, all pairs", "use",
         lambda m: m.score_of_keys_alone.loss, PAIRS, definition="D6"),
    Quantity("excluded_accuracy", "accuracy without the key {blocks} in the logits", "use",
             lambda m: m.score_without_keys.accuracy, PAIRS, definition="D6",
             note=lambda m: f"all but waves of {m.operation} at the key {m.basis.blocks_name}"),
    LOSS("excluded_loss", "loss without the key {blocks} in the logits, all pairs", "use",
         lambda m: m.score_without_keys.loss, PAIRS, definition="D6"),
    LOSS("excluded_loss_train", "loss without the key {blocks} in the logits, pairs trained on", "use",
         needing(_split, lambda m: m.score(m.logits_without_keys, m.split.train).loss), PAIRS, definition="D6"),
    Quantity("excluded_share", "accuracy without the key {blocks} over the accuracy of the whole network", "use",
             lambda m: m.score_without_keys.accuracy / m.accuracy if m.accuracy > 0 else math.nan, PAIRS),
    LOSS("loss_without_one_key", "lowest loss with one key {block} removed from the "
        "logits", "use", lambda m: _extreme(m, True)[0], PAIRS,
         note=lambda m: f"{m.basis.block} {_extreme(m, True)[1]}"),
    LOSS("loss_without_one_other", "highest loss with one other {block} removed from the "
        "logits", "use", lambda m: _extreme(m, False)[0],
         PAIRS, note=lambda m: f"{m.basis.block} {_extreme(m, False)[1]}"),
    Quantity("features_accuracy", "accuracy if only waves of the answer are kept in {features}", "use",
             lambda m: m.score_of_features_alone.accuracy, PAIRS),
    LOSS("features_loss", "loss if only waves of the answer are kept in {features}", "use",
         lambda m: m.score_of_features_alone.loss, PAIRS),

    Quantity("formula_accuracy", "accuracy of the formula in place of the logits", "formula",
             lambda m: m.score_of_formula.accuracy, PAIRS),
    LOSS("formula_loss", "loss of the formula in place of the logits, all pairs", "formula",
         lambda m: m.score_of_formula.loss, PAIRS, note=_formula_note),

    Quantity("gradient_symmetricity", "gradient symmetricity, with gradients of any output", "symmetry",
             lambda m: _symmetricity(m, "any_output"), CYCLIC, note=_symmetricity_note),
    Quantity("gradient_symmetricity_correct", "gradient symmetricity, with gradients of the correct output", "symmetry",
             lambda m: _symmetricity(m, "correct"), CYCLIC),
    Quantity("gradient_symmetricity_wrong", "gradient symmetricity, with gradients of the largest wrong "
        "output", "symmetry",
             lambda m: _symmetricity(m, "largest_wrong"), CYCLIC),
    Quantity("distance_irrelevance", "distance irrelevance of the correct logit", "symmetry",
             lambda m: m.irrelevance.correct, CYCLIC,
             note=lambda m: "the correct logit is the same for every pair" if math.isnan(m.irrelevance.correct)
             else "the distance is a + b" * (m.sign < 0)),
    Quantity("distance_irrelevance_wrong", "distance irrelevance of the largest wrong logit", "symmetry",
             lambda m: m.irrelevance.largest_wrong, CYCLIC),

    *(
        each
        for of, word in (("a", "first"), ("b", "second"))
        for each in (
            Quantity(f"cosets_{of}", f"share of neurons that are constant on cosets of the {word} element", "cosets",
                     partial(_cosets, of=of, name="share"), GROUPS, note=partial(_coset_orders, of=of)),
            Quantity(f"cosets_null_{of}", "random functions of the same representations constant on cosets as large, "
                     f"by the {word} element, share", "cosets", partial(_cosets, of=of, name="null"), GROUPS,
                     note=lambda m, of=of: "no neuron is constant on cosets" * math.isnan(m.coset_shares[of].null)),
        )
    ),
    Quantity("coset_means", "accuracy with each neuron at its mean over pairs of cosets", "cosets",
             partial(_coset_means, number=0), GROUPS),
    Quantity("coset_means_control", "accuracy with each neuron at its mean over pairs of other sets of equal "
        "sizes", "cosets",
             partial(_coset_means, number=1), GROUPS),

    BEHAVIOUR("memorised", "epoch at which the network has "
        "memorised", "training", lambda m: _grokking(m, "memorised"), ANY,
              "epochs"),
    BEHAVIOUR("grokked", "epoch at which the network "
        "generalises", "training", lambda m: _grokking(m, "grokked"), ANY, "epochs"),
    BEHAVIOUR("grokking_ratio", "epoch of generalising over the epoch of memorising", "training",
              _grokking_ratio, ANY),
    BEHAVIOUR("final_test_accuracy", "final test accuracy of the training", "training", _final_test_accuracy, ANY,
              note=lambda m: "" if len(m.history) else "over all inputs, since the training pairs are not known"),
    BEHAVIOUR("last_epoch", "last epoch of the training", "training",
              partial(_of_training, column="epoch", reduce=_last), ANY, "epochs"),
    *(
        BEHAVIOUR(f"{kind}_{split}_{what}", f"{kind} {split} {what} of the training", "training",
                  partial(_of_training, column=f"{split}_{what}", reduce=reduce), ANY, unit)
        for kind, reduce, split, what, unit in (
            ("final", _last, "train", "loss", "nats"), ("final", _last, "test", "loss", "nats"),
            ("highest", _most, "test", "loss", "nats"), ("final", _last, "train", "accuracy", ""),
            ("highest", _most, "train", "accuracy", ""),
            ("highest", _most, "test", "accuracy", ""),
        )
    ),
)  # fmt: skip
