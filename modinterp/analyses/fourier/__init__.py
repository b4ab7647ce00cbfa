"""Fourier analysis over the residues: transforms, key frequencies, neurons, logits, read-off and sparsity."""
