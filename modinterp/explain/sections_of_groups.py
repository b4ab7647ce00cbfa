"""The numbers of an explanation of a network over a finite group, section by section."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from modinterp.explain.groups import CHARACTERS, GroupStranger
from modinterp.explain.measurements import KEY_ENERGY
from modinterp.explain.rows import NO_EMBEDDING, NOT_SEEN, Entry


def _which(m: GroupStranger) -> Iterator[Entry]:
    names = ", ".join(f"{name} ({m.similarity(name):.3f})" for name in m.key_names)
    yield "key_representations", "key representations of the logits, how many", float(len(m.keys)), names
    note = f"more than any of {len(m.renamed)} renamings of the elements has"
    yield "least_similarity", "similarity of logits and character from which one is key", m.least_similarity, note
    yield "gap", "weakest of them over the strongest other one", m.gap
    quantity = f"share of {m.readout_name}'s energy in as many representations, means left out"
    yield "key_energy", quantity, m.key_energy
    null = max((r for r in m.spectrum_nulls.rows if r.statistic == KEY_ENERGY), key=lambda r: r.p_value)
    note = f"largest p of {len(m.spectrum_nulls.rows)} nulls, that of: {null.name}; {len(null.draws)} draws"
    yield "p_value_energy", f"p-value of the {KEY_ENERGY}", null.p_value, note


def _layers(m: GroupStranger) -> Iterator[Entry]:
    if m.has_embedding:
        for name, matrix in m.embeddings.items():
            note = ", ".join(f"{k}: {x:.3f}" for k, x in m.shares(matrix).items() if k in m.key_names)
            yield f"{name}_key_share", f"share of {name}'s energy in the key representations", m.key_share(matrix), note
    else:
        yield "W_E_key_share", "share of W_E's energy in the key representations", None, NO_EMBEDDING
    share, median = "live neurons of one representation to 95%, share", "share of a neuron's own representation, least"
    if m.has_neuron_inputs:
        found = m.neurons["a"]
        sizes = ", ".join(f"{count} of {name}" for name, count in found.sizes(m.irreps).items())
        best = found.best[found.live]
        yield (
            "neurons_explained",
            share,
            float((best >= 0.95).double().mean()),
            f"{sizes}; {int((~found.live).sum())} off",
        )
        yield "neurons_least", median, float(best.min())
        same = (found.own == m.neurons["b"].own)[found.live]
        yield "neurons_same", "live neurons with the same representation of a and b, share", float(same.double().mean())
    else:
        yield "neurons_explained", share, None, NOT_SEEN
    if m.has_neurons:
        total, product = m.key_share_of_neurons
        yield "neurons_key_share", "variance of the neurons in rho(a), rho(b), rho(a b) of the key ones, share", total
        yield "neurons_product_share", "the same, rho(a b) alone", product
    matrix = m.readout_matrix.T
    yield "read_key_share", f"share of {m.readout_name} in the key representations", m.key_share(matrix)
    yield "read_trivial_share", f"share of {m.readout_name} in the trivial one, its mean", m.shares(matrix)["trivial"]
    yield "logit_fve", "logits explained by the key characters, each pair's mean removed, FVE", m.logit_share
    yield "logit_fve_product", "the same of their means by product, each class's mean removed", m.formula_fit
    null = max(m.logit_nulls.rows, key=lambda r: r.p_value)
    note = f"largest p of {len(m.logit_nulls.rows)} nulls, that of: {null.name}; {len(null.draws)} draws"
    yield "p_value_logits", f"p-value of the {CHARACTERS}", null.p_value, note


def _used(m: GroupStranger) -> Iterator[Entry]:
    alone, without, features = m.score_of_keys_alone, m.score_without_keys, m.score_of_features
    note = "rho(a b), and each class's mean"
    yield "restricted_accuracy", "accuracy with the key representations alone in the logits", alone.accuracy, note
    yield "restricted_loss", "loss with them alone, all pairs [nats]", alone.loss
    yield (
        "excluded_accuracy",
        "accuracy without the key representations in the logits",
        without.accuracy,
        "all but rho(a b)",
    )
    yield "excluded_loss", "loss without them, all pairs [nats]", without.loss
    quantity = "loss without them, pairs trained on [nats]"
    if m.spec is None:
        yield "excluded_loss_train", quantity, None, "which they are is not known"
    else:
        yield "excluded_loss_train", quantity, m.score(m.logits_without_keys, m.split.train).loss
    of_keys = {name: x[0] for name, x in m.loss_with_each.items() if name in m.key_names}
    of_others = {name: x[0] for name, x in m.loss_with_each.items() if name not in m.key_names}
    for key, quantity, losses, best in (
        ("loss_without_one_key", "loss without one key representation, lowest [nats]", of_keys, min),
        ("loss_without_one_other", "loss without one other representation, highest [nats]", of_others, max),
    ):
        name = best(losses, key=lambda x: losses[x]) if losses else None
        yield key, quantity, None if name is None else losses[name], "there is none" if name is None else name
    quantity = f"{m.features_name} cut down to rho(a b) of the key ones"
    yield "features_accuracy", f"accuracy with {quantity}", features.accuracy
    yield "features_loss", f"loss with {quantity} [nats]", features.loss


def _formula(m: GroupStranger) -> Iterator[Entry]:
    yield (
        "formula_accuracy",
        "accuracy of the fitted sum of characters in place of the logits",
        m.score_of_formula.accuracy,
    )
    terms = " ".join(f"{x:+.3g} chi of {name}" for name, x in zip(m.key_names, m.formula_factors.tolist(), strict=True))
    yield (
        "formula_loss",
        "its loss, all pairs [nats]",
        m.score_of_formula.loss,
        f"{terms}, of a b c^-1" if terms else "",
    )


def _cosets(m: GroupStranger) -> Iterator[Entry]:
    for of, words in (("a", "first"), ("b", "second")):
        quantity = f"neurons constant on cosets, by the {words} element, share"
        if not m.has_neuron_inputs:
            yield f"cosets_{of}", quantity, None, NOT_SEEN
            continue
        try:
            shares = m.coset_shares[of]
        except ValueError as error:
            yield f"cosets_{of}", quantity, None, str(error)
            continue
        orders = ", ".join(f"{count} of order {order}" for order, count in shares.orders.items())
        yield f"cosets_{of}", quantity, shares.share, orders
        yield f"cosets_null_{of}", "random functions of the same representations on as large ones, share", shares.null


SECTIONS = {
    "Which representations, and how clearly?": _which,
    "How much of each layer do they explain?": _layers,
    "Are they used?": _used,
    "How much does the formula replace?": _formula,
    "Cosets or representations?": _cosets,
}


def tables(m: GroupStranger) -> Iterator[tuple[str, pd.DataFrame]]:
    """Title and content of every table behind the numbers."""
    columns: dict[str, object] = {
        "representation": [rho.name for rho in m.irreps],
        "dimension": [rho.dim for rho in m.irreps],
        "similarity": m.similarities.tolist(),
        "key": [rho in m.keys for rho in m.irreps],
        f"share of {m.readout_name}": list(m.shares(m.readout_matrix.T).values()),
    }
    if m.has_embedding:
        columns |= {f"share of {name}": list(m.shares(matrix).values()) for name, matrix in m.embeddings.items()}
    yield "Representations", pd.DataFrame(columns)
    if m.has_neurons:
        yield "Share of the neurons' variance", m.pair_shares.table()
    losses = [(name, without, alone, name in m.key_names) for name, (without, alone) in m.loss_with_each.items()]
    names = ["representation", "loss without it [nats]", "loss with it alone [nats]", "key"]
    yield "Loss without one representation, and with one alone", pd.DataFrame(losses, columns=names)
    yield "Nulls of the spectrum", m.spectrum_nulls.table()
    yield "Nulls of the logits", m.logit_nulls.table()
