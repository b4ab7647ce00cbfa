"""Analyses: pure functions that take weights or activations and return small frozen results.

An analysis takes tensors, or a network and its task. An analysis computes in float64 and changes nothing. An analysis
returns a float, a tensor, or a frozen dataclass that prints as its table. The docstring of an analysis gives shapes,
units, errors and the source; "definition D4" refers to a row of `docs/definitions.md`. Axes have the names of
TransformerLens: `head`, `query`, `key`, `pos`, `d_model`, `d_head`. The operands, residues mod p, are `a` and `b`.
`neuron` counts the neurons of an MLP, `freq` the frequencies from 1 to p // 2, and `output` the logits. `component`
counts coordinates of a Fourier basis or of a singular value decomposition. `input` counts all inputs, `row` some of
them, `token` the vocabulary, and `d` the dimension of any space.

    fourier/      transforms, frequencies, neurons, neuron_spectra, readout, cosine_sums, ablations, sparsity
    circles/      circle, alignment, petals, rotation, linearity, symmetry, isolation, formulas
    attention/    heads, components, induction, trigrams
    order/        lookups, largest_number, extremes, copying, sorting, permutations, bounds
    embeddings/   positions, singular_vectors, primality
    training/     phases, curves, generalisation, progress
    statistics/   explained, lines, similarity
    network/      summary, nulls
    groups/       irreps, explicit, decomposition, group_transforms, characters, products, subgroups
    groups/       neuron_irreps, irrep_readout, irrep_nulls, product_bounds
    printing      how results are printed
    checked       the decorator that compares the arguments of a public analysis with its annotations
    meanings      rules for arguments that have the same meaning in every analysis

A module is imported when it is first used.
"""

from modinterp.lazy import lazy_modules

__getattr__, __dir__ = lazy_modules(__name__, __path__)
