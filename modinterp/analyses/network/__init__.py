"""Analyse whole networks: one row of summary numbers, and null distributions for measured statistics."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
