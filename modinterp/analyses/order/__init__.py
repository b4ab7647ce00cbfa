"""Analyse networks that order numbers: look-up tables, copying, ranks, permutations, and bounds on the accuracy."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
