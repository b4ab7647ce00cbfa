"""Whole networks: one row of numbers for a network, and null distributions for what was measured."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
