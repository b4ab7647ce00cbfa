"""Find the attributes of measurements that raise for a network, so that `dir(m)` leaves them out."""

from __future__ import annotations

from typing import Any

OF_ATTENTION = frozenset(
    ("W_O", "W_V", "attention_distances", "attention_shares", "attention_sum_error", "heads", "heads_by_layer",
     "n_heads", "ov", "pattern", "roles", "sigmoid", "summary", "symmetricity_without_skip", "tables")
)  # fmt: skip
OF_POSITIONS = frozenset({"W_pos", "position_likeness"})
OF_TRANSFORMERS = frozenset({"W_out", "b_in", "b_out", "gini_of_neurons"})
OF_SNAPSHOTS = frozenset({"largest_exclusion"})


def absent(m: Any) -> frozenset[str]:
    """Names of the attributes of these measurements that raise for this network."""
    found: frozenset[str] = m.lacks
    if not m.has_weights:
        return found
    weights, hooks = m.model.state_dict(), m.model.hook_dict
    found |= frozenset() if any(name.endswith("attn.hook_pattern") for name in hooks) else OF_ATTENTION
    found |= frozenset() if "pos_embed.W_pos" in weights else OF_POSITIONS
    found |= frozenset() if any(name.endswith("mlp.W_out") for name in weights) else OF_TRANSFORMERS
    return found | (frozenset() if m.snapshots else OF_SNAPSHOTS)
