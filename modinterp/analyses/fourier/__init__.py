"""Fourier analysis over the residues: transforms, key frequencies, neurons, logits, W_L directions and sparsity."""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
