"""How much of each part of a network a formula has: shares of squared norms and of variances."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from modinterp.formulas.formula import Formula
from modinterp.formulas.reading import NeuronReading
from modinterp.formulas.waves import ACTIVATIONS, term_of
from modinterp.measurements import CyclicMeasurements
from modinterp.runs import NotRecorded


def shares(m: CyclicMeasurements, r: NeuronReading | None, formula: Formula) -> dict[str, float]:
    """Share of each part of a network that a formula has.

    Of `W_E` and `W_U`, the squared norm at the frequencies that the formula reads, and writes. Of `W_L`, the squared
    norm that its rows have in the formula. Of `inputs` and `neurons`, the variance of the neurons over all pairs,
    before and after the nonlinearity, that the formula's neurons explain; of `logits` the same, each pair's mean left
    out. Means over tokens, classes and pairs count for nothing.
    """
    read, written = _frequencies(formula)
    found: dict[str, float] = {}
    with suppress(NotRecorded):
        if m.has_embedding:
            found["W_E"] = _share_at(m.W_E.double().cpu().numpy(), m.p, read)
    if not m.is_output_only and m.has_neurons:
        with suppress(NotRecorded, AttributeError):
            found["W_U"] = _share_at(m.W_U.cpu().numpy().T, m.p, written)
    if r is not None and formula.clusters:
        found |= _of_neurons(r, formula)
    return found | {"logits": _explained(m.logits.double().cpu().numpy(), formula.grid(), axis=-1)}


def _frequencies(formula: Formula) -> tuple[set[int], set[int]]:
    p = formula.p
    read, written = set(formula.alphas), {*formula.alphas, *(x.freq for x in formula.path)}
    for cluster in formula.clusters:
        written |= set(cluster.outputs)
    named = [(x.freq, term) for x in formula.clusters for term in x.inputs] + [(x.freq, x.term) for x in formula.path]
    for own, term in named:
        multiples, freq = term_of(term, own)
        read |= {freq * max(abs(i), abs(j)) % p for i, j in multiples}
    return {min(k, p - k) for k in read if k}, written


def _share_at(matrix: np.ndarray, p: int, freqs: set[int]) -> float:
    """Share of a matrix's squared norm at some frequencies of its rows, column means left out."""
    energy = (np.abs(np.fft.fft(matrix, axis=0)) ** 2).sum(axis=1)[1:]
    at = [k - 1 for freq in freqs for k in {freq, p - freq}]
    return float(energy[at].sum() / energy.sum()) if energy.sum() > 0 else float("nan")


def _explained(whole: np.ndarray, found: np.ndarray, axis: int | tuple[int, ...]) -> float:
    whole, found = (x - x.mean(axis=axis, keepdims=True) for x in (whole, found))
    total = np.square(whole).sum()
    return float(1 - np.square(whole - found).sum() / total) if total > 0 else float("nan")


def _of_neurons(r: NeuronReading, formula: Formula) -> dict[str, float]:
    pre, act, W_L = np.zeros_like(r.pre), np.zeros_like(r.pre), np.zeros_like(r.W_L)
    x = np.arange(r.p)
    for cluster in formula.clusters:
        members = list(cluster.neurons)
        pre[..., members] = cluster.input(x[:, None], x[None], r.p)
        act[..., members] = ACTIVATIONS[formula.act_fn](pre[..., members])
        W_L[members] = cluster.output(r.p)
    return {
        "inputs": _explained(r.pre, pre, (0, 1)),
        "neurons": _explained(r.act, act, (0, 1)),
        "W_L": _explained(r.W_L, W_L, -1),
    }
