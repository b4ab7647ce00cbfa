"""What networks lose, or not, when parts are taken out or replaced, recomputed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from claims.recomputed.network import Numbers, fourier_basis, network


def attention_skip(run: str) -> Numbers:
    """The loss where the MLP reads, and passes on, what the heads write and nothing of the token =."""
    n = network(run)
    return {"ablated loss": n.loss(n.logits(n.attention_out(n.pattern))), "accuracy": n.accuracy(n.logits())}


def self_attention(run: str) -> Numbers:
    """Attention of the last position to itself, and the loss without it."""
    n = network(run)
    original, cut = n.loss(n.logits()), n.pattern * [1, 1, 0]
    return {
        "largest mean attention to itself": float(n.pattern[..., 2].mean(axis=(0, 1)).max()),
        "loss over original, without it": n.loss(n.logits(n.mid(cut))) / original,
        "loss over original, renormalised": n.loss(n.logits(n.mid(cut / cut.sum(axis=-1, keepdims=True)))) / original,
    }


def sigmoid(run: str) -> Numbers:
    """How far the attention to a is from the sigmoid of a difference of scores, and both attentions from 1 together."""
    n = network(run)
    by_sigmoid = 1 / (1 + np.exp(n.scores[..., 1] - n.scores[..., 0]))
    return {
        "mean difference to the sigmoid": float(np.abs(n.pattern[..., 0] - by_sigmoid).mean()),
        "mean difference of the sum to 1": float(np.abs(n.pattern[..., :2].sum(axis=-1) - 1).mean()),
    }


def off_directions(run: str) -> Numbers:
    """The loss without what the neurons hold in the directions that W_L reads at the key frequencies."""
    n = network(run)
    rows = [row for k in n.keys for row in (2 * k - 1, 2 * k)]
    Q, _ = np.linalg.qr((fourier_basis(n.p)[rows] @ n.W_L.T).T)
    post = n.post()
    return {"ablated loss": n.loss(n.logits(post=post - post @ Q @ Q.T)), "accuracy": n.accuracy(n.logits())}


def amplifiers(run: str) -> Numbers:
    """The pair of heads whose attentions to a come nearest to adding to 1, and the cosine of their OV circuits."""
    n = network(run)
    to_a = n.pattern[..., 0].reshape(-1, n.pattern.shape[2]).T
    ov = [(n.w["W_E"][:-1] @ W_V @ W_O).ravel() for W_V, W_O in zip(n.w["W_V"], n.w["W_O"], strict=True)]
    pairs = combinations(range(len(ov)), 2)
    best, i, j = max((float(np.corrcoef(to_a[i], 1 - to_a[j])[0, 1]), i, j) for i, j in pairs)
    cosine = ov[i] @ ov[j] / np.linalg.norm(ov[i]) / np.linalg.norm(ov[j])
    return {"correlation of the best pair": best, "cosine of the pair's OV circuits": float(cosine)}


def affine(run: str) -> Numbers:
    """The accuracy with the best affine map of the residual stream in place of the neurons."""
    n = network(run)
    mid, post = n.mid(), n.post()
    rows = np.append(mid.reshape(-1, mid.shape[-1]), np.ones((n.p**2, 1)), axis=1)
    fit = rows @ np.linalg.lstsq(rows, post.reshape(len(rows), -1))[0]
    return {
        "accuracy with an affine map in place of the neurons": n.accuracy(n.logits(mid, fit.reshape(post.shape))),
    }


def below_zero(run: str) -> Numbers:
    """Share of what the neurons get that is below 0."""
    n = network(run)
    return {"pre-activations below 0": float((n.pre(n.mid()) < 0).mean())}
