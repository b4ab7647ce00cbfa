"""Attention heads and components: score tables, OV circuits, induction heads, skip trigrams, ablations."""
