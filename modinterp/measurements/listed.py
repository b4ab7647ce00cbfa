"""Find the attributes of a measurements object `m` that raise for its network, so that `dir(m)` omits them."""

from __future__ import annotations

from typing import Any

OF_ATTENTION = frozenset(
    ("W_O", "W_V", "attention_distances", "attention_shares", "attention_sum_error", "head", "heads", "heads_by_layer",
     "n_heads", "ov", "pattern", "roles", "sigmoid", "summary", "symmetricity_without_skip", "tables")
)  # fmt: skip
OF_EMBEDDING = frozenset(
    ("W_E", "circle", "components_of_W_E", "effective_rank", "embedding_gini", "embedding_norms", "embedding_shares",
     "embedding_svd", "embeddings", "gini_of_W_E", "significant_frequencies", "singular_vectors", "symmetricity",
     "symmetricity_of_released_triples", "symmetricity_over_pairs")
)  # fmt: skip
OF_NEURONS = frozenset(
    ("W_L", "W_in", "bound", "components_of_W_L", "coset_mean_accuracies", "coset_shares", "gini_of_W_L",
     "key_share_of_neurons", "localisation", "mean_neurons", "n_key_frequencies", "neuron", "neuron_inputs",
     "neuron_logits", "neuron_marginals", "neuron_null", "neuron_peaks", "neurons", "neurons_at_keys",
     "neurons_by_layer", "neurons_excluded_loss", "neurons_loss_without", "neurons_restricted_accuracy",
     "neurons_restricted_loss", "pair_shares", "peak_neuron", "post", "pre", "summary", "variance_shares")
)  # fmt: skip
OF_POSITIONS = frozenset({"W_pos", "position_likeness"})
OF_SNAPSHOTS = frozenset({"largest_exclusion"})
OF_SPECS = frozenset({"recipe"})
OF_SPLITS = frozenset({"own_test_score", "own_train_score", "split"})
OF_TABLES_OF_PROGRESS = frozenset({"phases", "progress"})
OF_TRANSFORMERS = frozenset({"W_out", "b_in", "b_out", "gini_of_neurons"})


def absent(m: Any) -> frozenset[str]:
    """Return the names of the attributes of a measurements object that raise for its network."""
    if not m.has_weights:
        return m.lacks
    weights, hooks, run = m.model.state_dict(), m.model.hook_dict, m.run
    exposes = {
        OF_ATTENTION: any(name.endswith("attn.hook_pattern") for name in hooks),
        OF_EMBEDDING: getattr(m, "has_embedding", True),
        OF_NEURONS: getattr(m, "has_neurons", True),
        OF_POSITIONS: "pos_embed.W_pos" in weights,
        OF_SNAPSHOTS: bool(m.snapshots),
        OF_SPECS: run.spec is not None,
        OF_SPLITS: run.knows_split,
        OF_TABLES_OF_PROGRESS: run.progress is not None or bool(m.snapshots),
        OF_TRANSFORMERS: any(name.endswith("mlp.W_out") for name in weights),
    }
    return m.lacks.union(*(names for names, is_there in exposes.items() if not is_there))
