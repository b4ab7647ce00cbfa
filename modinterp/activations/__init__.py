"""Compute a network's activations on all inputs, and its logits when some activations are replaced."""

from modinterp.activations.capture import activations, logits_on_grid, patterns
from modinterp.activations.generation import generated
from modinterp.activations.intervene import logits_with, replaced, without_heads
from modinterp.activations.mean_ablation import heads_at_mean, mean_outputs, without_neurons
from modinterp.activations.patching import NothingChanged, patched, path_patched
from modinterp.activations.spectra import Spectra
from modinterp.models.lens import ActivationCache

__all__ = [
    "ActivationCache",
    "NothingChanged",
    "Spectra",
    "activations",
    "generated",
    "heads_at_mean",
    "logits_on_grid",
    "logits_with",
    "mean_outputs",
    "patched",
    "path_patched",
    "patterns",
    "replaced",
    "without_heads",
    "without_neurons",
]
