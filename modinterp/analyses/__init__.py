"""Analyses: pure functions that take weights or activations and return small frozen results.

An analysis takes tensors (or a network and its task), computes in float64, changes nothing, and returns a float, a
tensor or a frozen dataclass that prints as its table. Its docstring gives shapes, units, errors and the source;
"definition D4" and the like are rows of `docs/definitions.md`. Axes have the names of TransformerLens (`head`, `query`,
`key`, `pos`, `d_model`, `d_head`); `a` and `b` are the two operands (residues mod p), `neuron` the neurons of an MLP,
`component` the coordinates of a Fourier basis or of a singular value decomposition, `freq` the frequencies from 1 to
p // 2, `output` the logits, `input` the inputs, `row` some of the inputs, `token` the vocabulary (or numbers that are
tokens), `d` the dimension of any space.

    fourier/      transforms, frequencies, neurons, neuron_spectra, readout, cosine_sums, ablations, sparsity
    circles/      circle, alignment, petals, rotation, linearity, symmetry, isolation, formulas
    attention/    heads, components, induction, trigrams
    order/        lookups, ordering, copying, sorting, permutations, bounds
    embeddings/   positions, singular_vectors, primality
    training/     phases, curves, generalisation, progress
    statistics/   explained, lines, similarity
    network/      summary, nulls
    groups/       irreps, transforms, characters, products, neurons, subgroups, readout, bounds, nulls
    printing      how results print
"""

from importlib import import_module
from pkgutil import walk_packages

from modinterp.analyses.arguments import check_when_called

_TOOLS = ("arguments", "printing")
_FOUND = [found.name for found in walk_packages(__path__, f"{__name__}.") if not found.name.endswith(_TOOLS)]
for _module in [import_module(name) for name in _FOUND]:  # all are there before the first is changed
    check_when_called(_module)
