"""Circles of the embedding and of W_L, recomputed."""

from __future__ import annotations

import numpy as np
from claims.recomputed.network import Array, Numbers, fourier_basis, network


def _circle(vectors: Array, freq: int) -> tuple[float, float, float]:
    """Quality, mean radius and its variation of the points in the plane of their own frequency."""
    F = fourier_basis(len(vectors))
    plane = F[2 * freq - 1 : 2 * freq + 1] @ vectors
    points = vectors @ (plane / np.linalg.norm(plane, axis=1, keepdims=True)).T
    points -= points.mean(axis=0)
    radii, energy = np.linalg.norm(points, axis=1), np.square(F @ points)
    quality = energy[2 * freq - 1 : 2 * freq + 1].sum() / energy.sum()
    return float(quality), float(radii.mean()), float(radii.std(ddof=1) / radii.mean())


def embedding_circles(run: str) -> Numbers:
    """Quality and roundness of the embeddings at the key frequencies."""
    n = network(run)
    found = [_circle(n.w["W_E"][:-1], k) for k in n.keys]
    return {
        "lowest quality of a circle": min(c[0] for c in found),
        "largest variation of the radius": max(c[2] for c in found),
    }


def other_circles(run: str) -> Numbers:
    """Size and quality of the embeddings at all other frequencies beside those at the key frequencies."""
    n = network(run)
    found, own = {k: _circle(n.w["W_E"][:-1], k) for k in range(1, n.p // 2 + 1)}, n.keys
    keys, others = ([found[k][:2] for k in found if (k in own) == key] for key in (True, False))
    return {
        "mean radius over that of key frequencies": float(np.mean(others, axis=0)[1] / np.mean(keys, axis=0)[1]),
        "key frequencies rounder than all others": min(keys)[0] > max(others)[0],
    }


def output_circles(run: str) -> Numbers:
    """Quality of the circles of W_L's columns."""
    n = network(run)
    return {"lowest quality of a circle": min(_circle(n.W_L.T, k)[0] for k in n.keys)}


def circles_with_bias(run: str) -> Numbers:
    """By how much the bias after the MLP, as one more neuron that is always 1, changes that quality."""
    n = network(run)
    constant = n.w["b_out"] @ n.w["W_U"]
    with_bias = np.append(n.W_L.T, constant[:, None], axis=1)
    changes = [abs(_circle(with_bias, k)[0] - _circle(n.W_L.T, k)[0]) for k in n.keys]
    return {"largest change of quality": max(changes)}
