"""Finite groups: their real representations, and what of a network lies in each of them."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
