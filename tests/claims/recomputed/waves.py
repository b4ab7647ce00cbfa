"""Neurons, logits and the map between them as waves, recomputed."""

from __future__ import annotations

import statistics
from functools import cache

import numpy as np
from claims.recomputed.network import Array, Numbers, fourier_basis, frequency_norms, gini, network


@cache
def _neuron_shares(run: str) -> tuple[Array, Array]:
    """Of every neuron the share of its variance in the eight terms of its best frequency, and that frequency."""
    post = network(run).post()
    F = fourier_basis(len(post))
    energy = np.square(np.einsum("ia,abn->ibn", F, np.einsum("jb,abn->ajn", F, post, optimize=True), optimize=True))
    energy[0, 0] = 0
    shares = []
    for k in range(1, len(F) // 2 + 1):
        c, s = 2 * k - 1, 2 * k
        terms = [(0, c), (0, s), (c, 0), (s, 0), (c, c), (c, s), (s, c), (s, s)]
        shares.append(sum(energy[term] for term in terms) / energy.sum(axis=(0, 1)))
    return np.max(shares, axis=0), np.argmax(shares, axis=0) + 1


def explained_neurons(run: str) -> Numbers:
    """Share of the neurons above 0.85, and the median share."""
    shares, _ = _neuron_shares(run)
    return {"neurons_explained": float((shares > 0.85).mean()), "neurons_median": float(np.median(shares))}


def neurons_1_to_4(run: str) -> Numbers:
    """The median share of neurons 1 to 4."""
    return {"median share, neurons 1 to 4": float(np.median(_neuron_shares(run)[0][1:5]))}


def first_neurons(run: str) -> Numbers:
    """The median share of the first three neurons."""
    return {"median share of neurons 0 to 2": float(np.median(_neuron_shares(run)[0][:3]))}


def sparse_neurons(run: str) -> Numbers:
    """Median Gini coefficient of the sizes of every eighth neuron's 2D spectrum, and frequencies of the explained."""
    n = network(run)
    F, post, (shares, freqs) = fourier_basis(n.p), n.post(), _neuron_shares(run)
    ginis = [gini(np.abs(F @ post[..., i] @ F.T).ravel()) for i in range(0, post.shape[2], 8)]
    return {
        "median Gini coefficient of a neuron": statistics.median(ginis),
        "different frequencies of the neurons": len(set(freqs[shares > 0.85].tolist())),
        "accuracy": n.accuracy(n.logits()),
    }


def cosine_fve(run: str) -> float:
    """Share of the logits' variance about their mean that one cosine of w(a + b - c) for each key frequency explains."""
    n = network(run)
    logits, residue = n.logits(), np.arange(n.p)
    turn = (n.answers()[..., None] - residue) % n.p
    waves = np.array([np.cos(2 * np.pi * k / n.p * turn).ravel() for k in n.keys])
    y = logits.ravel() - logits.mean()
    rest = y - np.linalg.solve(waves @ waves.T, waves @ y) @ waves
    return float(1 - rest @ rest / (y @ y))


def logit_fve(run: str) -> Numbers:
    """FVE of the logits, about their global mean."""
    return {"logit_fve": cosine_fve(run)}


def key_frequencies(run: str) -> Numbers:
    """How many stand out of W_L, how far, and their share of what varies over the answers."""
    n = network(run)
    norms, keys = frequency_norms(n.W_L.T), np.array(n.keys) - 1
    return {
        "n_keys": len(keys),
        "strongest other over weakest key": float(np.delete(norms, keys).max() / norms[keys].min()),
        "key_energy": float(np.square(norms[keys]).sum() / np.square(norms).sum()),
    }
