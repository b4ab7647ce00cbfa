"""Analyse trainings: memorisation, grokking, phases, curves and progress measures."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
