"""The activations of a network on all inputs, and its logits when some of them are replaced."""

from modinterp.activations.capture import activations, logits_on_grid, patterns
from modinterp.activations.generation import generated
from modinterp.activations.intervene import logits_with, replaced, without_heads
from modinterp.activations.patching import NothingChanged, patched, path_patched
from modinterp.activations.spectra import Spectra
from modinterp.models.lens import ActivationCache

__all__ = [
    "ActivationCache",
    "NothingChanged",
    "Spectra",
    "activations",
    "generated",
    "logits_on_grid",
    "logits_with",
    "patched",
    "path_patched",
    "patterns",
    "replaced",
    "without_heads",
]
