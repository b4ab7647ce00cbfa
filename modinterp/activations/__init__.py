"""What a network computes on all inputs, and what it computes when part of that is replaced."""

from transformer_lens import ActivationCache

from modinterp.activations.capture import activations, logits_on_grid
from modinterp.activations.intervene import logits_with, replaced

__all__ = ["ActivationCache", "activations", "logits_on_grid", "logits_with", "replaced"]
