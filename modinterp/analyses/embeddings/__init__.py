"""Embeddings: positions, singular vectors and their periodicity, and the numbers that two digits write."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
