"""Compute statistics that several analyses share: variance explained, lines, correlations, cosines."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
