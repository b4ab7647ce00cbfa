"""Analyse circles and planes of one frequency in activation space: petals, rotation, alignment and linearity."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
