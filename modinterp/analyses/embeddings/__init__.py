"""Analyse embeddings: positions, singular vectors and their periodicity, and numbers written with two digits."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
