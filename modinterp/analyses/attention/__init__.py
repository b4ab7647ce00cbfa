"""Analyse attention heads and components: score tables, OV circuits, induction heads, skip trigrams, ablations."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
