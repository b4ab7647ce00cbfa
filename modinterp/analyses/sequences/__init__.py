"""Analyse networks that answer at several positions: answers, outputs of heads, tables of scores, attribution."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
