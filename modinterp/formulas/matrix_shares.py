"""Measure the share of each weight matrix that acts on the directions of a formula's waves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

import numpy as np

from modinterp.formulas.formula import Formula
from modinterp.formulas.group_formula import GroupFormula, split
from modinterp.formulas.softmax_of_waves import term_of_head
from modinterp.formulas.waves import TERMS, Cluster, circle, term_of
from modinterp.measurements import PairMeasurements
from modinterp.measurements.network import NoSuchPart
from modinterp.runs import NotRecorded

Array = np.ndarray
Block = int | str
LEAST = 1e-9  # relative size of a direction that counts


def read_by(formula: Formula | GroupFormula) -> list[tuple[set[Block], set[Block], tuple[int, ...]]]:
    """Return, for each group of neurons in a formula, its input frequencies, its output frequencies, and the indices of
    its neurons.
    """
    if isinstance(formula, GroupFormula):
        return [({x.freq, *(split(t)[1] for t in x.inputs)}, {x.freq, *x.outputs}, x.neurons) for x in formula.clusters]
    return [(set(_frequencies(x, formula.p)), set(x.outputs), x.neurons) for x in formula.clusters]


def _frequencies(cluster: Cluster, p: int) -> Iterator[int]:
    for term in cluster.inputs:
        multiples, freq = term_of(term, cluster.freq)
        if term_of_head(term) is None and term.partition(" at ")[0] in TERMS:
            found = {freq * max(abs(i), abs(j)) % p for i, j in multiples}
        else:
            found = {freq} if term.startswith("head ") else set()
        yield from (min(k, p - k) for k in found if k)


def functions(formula: Formula | GroupFormula, blocks: Iterable[Block]) -> Array:
    """Return the functions of one element at some frequencies or representations, `[element, function]`."""
    x = np.arange(formula.p)
    if isinstance(formula, GroupFormula):
        found = [formula.blocks[str(name)].features for name in blocks]
    else:
        found = [np.stack([wave.real, wave.imag], axis=1) for wave in (circle(int(k) * x, formula.p) for k in blocks)]
    return np.concatenate(found, axis=1) if found else np.zeros((formula.p, 0))


def span(vectors: Array) -> Array:
    """Return an orthonormal basis of the rows of a matrix, `[direction, feature]`."""
    _, sizes, rows = np.linalg.svd(vectors, full_matrices=False)
    return rows[sizes > LEAST * max(sizes.max(initial=0.0), 1e-300)]


def matrix_shares(m: PairMeasurements, formula: Formula | GroupFormula) -> dict[str, float]:
    """Return the share of each matrix's squared norm on the directions of a formula's waves, in a one-layer network.

    For `W_K`, `W_V` and `W_in`, the share is measured on images of the embedding's waves in the formula. For `W_Q`, the
    share is measured on the directions of the last position. For `W_O`, the share is measured on images of the waves
    after `W_V`. For `W_out`, the share is measured on the directions that `W_U` reads for the waves of the neurons'
    outputs. The matrices `W_Q` and `W_K` have a share only if the formula has attention heads.
    """
    if m.n_layers != 1 or not m.has_embedding or m.is_output_only:
        return {}
    with suppress(NotRecorded, AttributeError, KeyError, ValueError):
        return dict(_shares(m, formula))
    return {}


def _shares(m: PairMeasurements, formula: Formula | GroupFormula) -> Iterator[tuple[str, float]]:
    weights = {name: w.detach().double().cpu().numpy() for name, w in m.model.named_parameters()}
    W_E, parts = m.W_E.double().cpu().numpy(), read_by(formula)

    def images(blocks: Iterable[Block]) -> Array:
        return functions(formula, blocks).T @ W_E

    reads, through = set().union(*(read for read, _, _ in parts)), None
    if m.has_attention:
        Q, K, V, out = (weights[f"blocks.0.attn.W_{x}"] for x in "QKVO")
        into = span(images(reads))
        heads = formula.heads if isinstance(formula, Formula) else ()
        own = weights["embed.W_E"][int(m.task.inputs()[0, -1])]
        if "pos_embed.W_pos" in weights:
            own = own + weights["pos_embed.W_pos"][-1]
        scores: set[Block] = set().union(*({*x.first, *(x.second or {})} for x in heads))
        yield "W_Q", _share(Q, span(own[None])) if heads else 0.0
        yield "W_K", _share(K, span(images(scores))) if heads else 0.0
        yield "W_V", _share(V, into)
        yield "W_O", sum(_kept(o, span(images(reads) @ v)) for o, v in zip(out, V, strict=True)) / np.square(out).sum()
        through = V @ out
    if "blocks.0.mlp.W_in" not in weights:
        raise NoSuchPart(f"{m.name} has no neurons")
    W_in, W_out = weights["blocks.0.mlp.W_in"], weights.get("blocks.0.mlp.W_out")
    if len(W_in) == W_E.shape[1]:  # neurons that read two embeddings one after the other have `W_a` and `W_b`
        kept = 0.0
        for read, _, neurons in parts:
            x = images(read)
            of_neurons = span(x if through is None else np.concatenate(list(x @ through)))
            kept += _kept(W_in[:, list(neurons)], of_neurons)
        yield "W_in", kept / np.square(W_in).sum()
    if W_out is not None and "unembed.W_U" in weights:
        yield "W_out", _of_W_out(m, formula, W_out)


def _of_W_out(m: PairMeasurements, formula: Formula | GroupFormula, W_out: Array) -> float:
    W_U = np.linalg.lstsq(W_out, m.W_L.detach().double().cpu().numpy(), rcond=None)[0]  # in the order of the basis
    kept = 0.0
    for _, write, neurons in read_by(formula):
        kept += _kept(W_out[list(neurons)].T, span(functions(formula, write).T @ W_U.T))
    return kept / float(np.square(W_out).sum())


def _kept(matrix: Array, directions: Array) -> float:
    """Return the squared norm of a matrix `[..., feature, output]` on some directions of its features."""
    return float(np.square(directions @ matrix).sum())


def _share(matrix: Array, directions: Array) -> float:
    return _kept(matrix, directions) / float(np.square(matrix).sum())
