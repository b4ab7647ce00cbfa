"""Networks that answer at several positions: their answers, what heads write where, tables of scores, attribution."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
