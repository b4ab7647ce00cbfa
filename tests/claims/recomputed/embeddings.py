"""Embeddings, positions, attention and keys, recomputed."""

from __future__ import annotations

import numpy as np
from claims.recomputed.network import PRIMES, Numbers, frequency_norms, network, split, weights


def half_of_values(run: str) -> Numbers:
    """How many singular values of the embedding make half of their sum."""
    values = np.linalg.svd(weights(run)["W_E"][:-1], compute_uv=False)
    return {"values to 50%": int((values.cumsum() / values.sum() < 0.5).sum()) + 1}


def active_frequencies(run: str) -> Numbers:
    """Frequencies of the embedding above the mean norm by one deviation, and their share of the squares."""
    norms = frequency_norms(weights(run)["W_E"][:-1])
    active = norms > norms.mean() + norms.std()
    share = np.square(norms[active]).sum() / np.square(norms).sum()
    return {"active frequencies": int(active.sum()), "their share of the squared norm": float(share)}


def singular_waves(run: str) -> Numbers:
    """The median share of one frequency in the top left singular vectors, two for each key frequency."""
    n = network(run)
    U, _, _ = np.linalg.svd(n.w["W_E"][:-1], full_matrices=False)
    squares = np.array([np.square(frequency_norms(vector)) for vector in U.T[: 2 * len(n.keys)]])
    return {"median share of the best wave, top vectors": float(np.median(squares.max(axis=1) / squares.sum(axis=1)))}


def positions_alike(run: str) -> Numbers:
    """The correlation of the first two positions' embeddings, and the accuracy on the pairs held out."""
    n, held_out = network(run), split(run)[1]
    right = (n.logits().argmax(axis=-1) == n.answers()).ravel()
    return {
        "Pearson correlation of the two position embeddings": float(
            np.corrcoef(n.w["W_pos"][0], n.w["W_pos"][1])[0, 1]
        ),
        "test accuracy": float(right[held_out].mean()),
    }


def exclusive_attention(remainders: str, *sums: str) -> Numbers:
    """Distance of the attention to the two digits in the median head, and the accuracy on the inputs held out."""
    n, held_out = network(remainders), split(remainders)[1]
    numbers = np.add.outer(np.arange(n.p), n.p * np.arange(n.p)).ravel()[held_out]
    parts = np.split(n.logits().reshape(n.p**2, -1)[held_out], np.cumsum(PRIMES)[:-1], axis=1)
    accuracies = [(part.argmax(axis=1) == numbers % q).mean() for part, q in zip(parts, PRIMES, strict=True)]
    patterns = (network(run).pattern for run in (remainders, *sums))
    distances = [np.abs(A[..., 0] - A[..., 1]).mean(axis=(0, 1)) for A in patterns]
    distance, *others = map(float, np.median(distances, axis=1))
    return {
        "median distance of the attention to the digits, T_miiii less T_nanda": distance - max(others),
        "mean test accuracy": float(np.mean(accuracies)),
    }


def half_attention(run: str) -> Numbers:
    """Mean attention to a, of the head with the least and with the most of it."""
    means = network(run).pattern[..., 0].mean(axis=(0, 1))
    return {
        "lowest mean attention to a": float(means.min()),
        "highest mean attention to a": float(means.max()),
    }


def key_lines(run: str) -> Numbers:
    """How far the keys of the numbers, at the mean input position, are lines from 20 on, and how steep below."""
    w = weights(run)
    keys = np.concatenate((w["W_E"][:-1] + w["W_pos"][:5].mean(axis=0)) @ w["W_K"], axis=1)
    number, above = np.arange(20, len(keys)), keys[20:]
    slope, intercept = np.polyfit(number, above, 1)
    rest = above - slope * number[:, None] - intercept
    below = np.polyfit(np.arange(20), keys[:20], 1)[0]
    return {
        "variance of the keys on lines": float(1 - np.square(rest).sum() / np.square(above - above.mean(axis=0)).sum()),
        "|slope| of the keys below over above": float(np.abs(below).sum() / np.abs(slope).sum()),
    }


def input_positions(run: str) -> Numbers:
    """Cosines among the embeddings of the five input positions, and with that of CLS."""
    unit = weights(run)["W_pos"]
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = unit @ unit.T
    return {
        "mean cosine among input positions": float((cosines[:5, :5].sum() - 5) / 20),
        "largest |cosine| of an input position with CLS": float(np.abs(cosines[:5, 5]).max()),
    }
