"""Analyse finite groups: their real representations, and the part of a network in each representation."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
