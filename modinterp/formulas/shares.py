"""Measure how much of each part of a network a formula covers, as shares of squared norms and variances."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from modinterp.formulas.formula import Formula
from modinterp.formulas.group_formula import GroupFormula
from modinterp.formulas.group_reading import GroupReading
from modinterp.formulas.matrices import Block
from modinterp.formulas.matrix_shares import matrix_shares, read_by
from modinterp.formulas.reading import NeuronReading
from modinterp.formulas.waves import ACTIVATIONS, TERMS
from modinterp.measurements import CyclicMeasurements, GroupMeasurements, PairMeasurements
from modinterp.runs import NotRecorded


def shares(
    m: PairMeasurements, r: NeuronReading | GroupReading | None, formula: Formula | GroupFormula
) -> dict[str, float]:
    """Return the share of each part of a network that a formula covers.

    For `W_E` and `W_U`, the share is the part of the squared norm at the frequencies that the formula reads or writes.
    For `W_L`, the share is the part of the rows' squared norm that the formula contains. The shares `inputs` and
    `neurons` are the parts of the neurons' variance, before and after the nonlinearity, that the formula's neurons
    explain. The share `logits` is the part of the variance of the centred logits that the formula explains. The shares
    leave out means over tokens, classes and pairs. For the other weight matrices, see `matrix_shares`.
    """
    found = _of_matrices(m, formula) if isinstance(m, CyclicMeasurements) and isinstance(formula, Formula) else {}
    if isinstance(m, GroupMeasurements) and isinstance(formula, GroupFormula):
        found = _of_group(m, formula)
    if r is not None and formula.clusters:
        found |= matrix_shares(m, formula) | _of_neurons(r, formula)
    return found | {"logits": _explained(m.logits.double().cpu().numpy(), formula.grid(), axis=-1)}


def _of_matrices(m: CyclicMeasurements, formula: Formula) -> dict[str, float]:
    read, written = _frequencies(formula)
    found: dict[str, float] = {}
    with suppress(NotRecorded):
        if m.has_embedding:
            found["W_E"] = _share_at(m.W_E.double().cpu().numpy(), m.p, read)
    if not m.is_output_only and m.has_neurons:
        with suppress(NotRecorded, AttributeError):
            found["W_U"] = _share_at(m.W_U.cpu().numpy().T, m.p, written)
    return found


def _of_group(m: GroupMeasurements, formula: GroupFormula) -> dict[str, float]:
    """Return the shares of the input matrices and of `W_U` in the representations of a formula."""
    parts = read_by(formula)
    read, written = (set().union(*(part[k] for part in parts)) for k in (0, 1))
    found: dict[str, float] = {}
    with suppress(NotRecorded, AttributeError):
        matrices = {name: (x, read) for name, x in m.embeddings.items()} if m.has_embedding else {}
        for name, (x, names) in (matrices | {"W_U": (m.model.W_U.detach().T, written)}).items():
            rows = x.double().cpu().numpy()
            rows = rows - rows.mean(axis=0)
            kept = sum(_projected(formula.blocks[one], rows) for one in names | set(formula.alphas))
            found[name] = float(kept / np.square(rows).sum()) if rows.any() else float("nan")
    return found


def _projected(block: Block, rows: np.ndarray) -> float:
    return float(np.square(block.features @ (block.inverse @ rows)).sum())


def _frequencies(formula: Formula) -> tuple[set[int], set[int]]:
    """Return the frequencies that a formula reads, and the frequencies that it writes. [cycles per p]"""
    p, parts = formula.p, read_by(formula)
    read, written = set(formula.alphas), {*formula.alphas, *(x.freq for x in formula.path)}
    for of_cluster, outputs, _ in parts:
        read, written = read | {int(k) for k in of_cluster}, written | {int(k) for k in outputs}
    for x in formula.path:
        read |= {x.freq * max(abs(i), abs(j)) % p for i, j in TERMS[x.term]}
    for head in formula.heads:
        read |= {*head.first, *(head.second or ())}
    return {min(k, p - k) for k in read if k}, written


def _share_at(matrix: np.ndarray, p: int, freqs: set[int]) -> float:
    """Return the share of a column-centred matrix's squared norm at some frequencies of its rows."""
    energy = (np.abs(np.fft.fft(matrix, axis=0)) ** 2).sum(axis=1)[1:]
    at = [k - 1 for freq in freqs for k in {freq, p - freq}]
    return float(energy[at].sum() / energy.sum()) if energy.sum() > 0 else float("nan")


def _explained(whole: np.ndarray, found: np.ndarray, axis: int | tuple[int, ...]) -> float:
    whole, found = (x - x.mean(axis=axis, keepdims=True) for x in (whole, found))
    total = np.square(whole).sum()
    return float(1 - np.square(whole - found).sum() / total) if total > 0 else float("nan")


def _of_neurons(r: NeuronReading | GroupReading, formula: Formula | GroupFormula) -> dict[str, float]:
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
