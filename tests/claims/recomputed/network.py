"""Shipped runs by other code: a forward pass, Fourier basis and split by numpy and the standard library alone."""

from __future__ import annotations

import csv
import gzip
import json
import math
import random
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

Array = NDArray[np.float64]
Numbers = dict[str, float | list[float]]
CHECKPOINTS = Path(__file__).parents[3] / "checkpoints"
PRIMES = [q for q in range(2, 113) if all(q % d for d in range(2, q))]


def weights(run: str) -> dict[str, Array]:
    """The final weights in float64, by the last part of their names."""
    stored = load_file(CHECKPOINTS / run / "final.safetensors")
    return {name.rpartition(".")[2]: w.astype(np.float64) for name, w in stored.items()}


def history(run: str) -> dict[str, Array]:
    """The columns of the training's history."""
    with gzip.open(CHECKPOINTS / run / "history.csv.gz", "rt", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return {
        name: np.array(column, dtype=np.float64) for name, column in zip(names, zip(*rows, strict=True), strict=True)
    }


def recipe(run: str) -> dict:
    """How a network was made, and trained."""
    return json.loads((CHECKPOINTS / run / "run.json").read_text(encoding="utf-8"))["spec"]


def first_epoch(h: dict[str, Array], condition: NDArray[np.bool_]) -> float:
    """The first logged epoch at which something is so; NaN for never."""
    return float(h["epoch"][condition.argmax()]) if condition.any() else math.nan


def split(run: str) -> tuple[list[int], list[int]]:
    """Numbers of the pairs, a first, that a run is trained on, and of those held out."""
    spec = recipe(run)
    order = list(range(spec["task"]["p"] ** 2))
    random.Random(spec["seed"]).shuffle(order)
    n_train = int(spec["recipe"]["fraction"] * len(order))
    return order[:n_train], order[n_train:]


def fourier_basis(p: int) -> Array:
    """The constant, and cosine and sine of every frequency in turn, as orthonormal rows."""
    x = np.arange(p)
    rows = [np.ones(p)]
    for k in range(1, (p - 1) // 2 + 1):
        rows += [np.cos(2 * np.pi * (k * x % p) / p), np.sin(2 * np.pi * (k * x % p) / p)]
    return np.array([row / np.linalg.norm(row) for row in rows])


def frequency_norms(x: Array) -> Array:
    """Norm of the rows' spectrum at every frequency, the first for frequency 1."""
    squares = np.square(fourier_basis(len(x)) @ x.reshape(len(x), -1)).sum(axis=1)
    return np.sqrt(squares[1::2] + squares[2::2])


def gini(x: Array) -> float:
    """Gini coefficient of non-negative numbers."""
    ordered, n = np.sort(x), len(x)
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum()))


@dataclass(frozen=True)
class Network:
    """A one-layer transformer on all pairs of residues, looked at from its last position.

    Attributes:
        w: its weights by their short names, those of the unembedding for numbers alone.
        scores: of the last position with a, b and itself, `[a, b, head, key]`.
    """

    w: dict[str, Array]
    scores: Array

    @property
    def p(self) -> int:
        return len(self.w["W_E"]) - 1

    @property
    def pattern(self) -> Array:
        """Attention of the last position."""
        shares = np.exp(self.scores - self.scores.max(axis=-1, keepdims=True))
        return shares / shares.sum(axis=-1, keepdims=True)

    @property
    def W_L(self) -> Array:
        """The map from neurons to logits."""
        return self.w["W_out"] @ self.w["W_U"]

    def embedded(self, position: int) -> Array:
        """The tokens' embeddings at a position."""
        return self.w["W_E"] + (self.w["W_pos"][position] if "W_pos" in self.w else 0)

    def attention_out(self, pattern: Array) -> Array:
        """What the heads write at the last position when they attend like this."""
        out = np.zeros((self.p, self.p, self.w["W_E"].shape[1]))
        for h, (W_V, W_O) in enumerate(zip(self.w["W_V"], self.w["W_O"], strict=True)):
            of_a, of_b, of_self = (self.embedded(position) @ W_V @ W_O for position in range(3))
            out += pattern[:, :, h, :1] * of_a[:-1, None] + pattern[:, :, h, 1:2] * of_b[None, :-1]
            out += pattern[:, :, h, 2:] * of_self[-1]
        return out

    def mid(self, pattern: Array | None = None) -> Array:
        """The residual stream before the MLP."""
        return self.embedded(2)[-1] + self.attention_out(self.pattern if pattern is None else pattern)

    def pre(self, mid: Array) -> Array:
        """What the neurons get."""
        return mid @ self.w["W_in"] + self.w.get("b_in", 0)

    def post(self) -> Array:
        """What the neurons of a network with ReLU give."""
        return np.maximum(self.pre(self.mid()), 0)

    def logits(self, mid: Array | None = None, post: Array | None = None) -> Array:
        """Logits `[a, b, answer]`, by other values before the MLP, or of the neurons, in place of its own."""
        mid = self.mid() if mid is None else mid
        post = np.maximum(self.pre(mid), 0) if post is None else post
        return (mid + post @ self.w["W_out"] + self.w.get("b_out", 0)) @ self.w["W_U"]

    def answers(self) -> NDArray[np.int64]:
        """The right answers `[a, b]`."""
        return np.add.outer(np.arange(self.p), np.arange(self.p)) % self.p

    def loss(self, logits: Array) -> float:
        """Cross-entropy over all pairs, in float64."""
        own = np.take_along_axis(logits, self.answers()[..., None], axis=-1)
        others = logits - own
        top = others.max(axis=-1)
        return float((top + np.log(np.exp(others - top[..., None]).sum(axis=-1))).mean())

    def accuracy(self, logits: Array) -> float:
        """Share of all pairs that are answered right."""
        return float((logits.argmax(axis=-1) == self.answers()).mean())

    @property
    def keys(self) -> list[int]:
        """Key frequencies: cut at the largest ratio of neighbours among the 20 strongest above a tenth of the first."""
        norms = frequency_norms(self.W_L.T)
        order = np.argsort(-norms)
        falling = norms[order]
        ratios = [falling[i] / falling[i + 1] for i in range(20) if falling[i] >= falling[0] / 10]
        return sorted(int(k) + 1 for k in order[: int(np.argmax(ratios)) + 1])


@lru_cache(maxsize=2)
def network(run: str) -> Network:
    """A shipped network on all its inputs."""
    w = weights(run)
    p, d_head = len(w["W_E"]) - 1, w["W_Q"].shape[-1]
    if recipe(run)["task"]["kind"] == "ModularArithmetic":
        w["W_U"] = w["W_U"][:, :p]
    empty = Network(w, np.zeros((p, p, len(w["W_Q"]), 3)))
    for h, (W_Q, W_K) in enumerate(zip(w["W_Q"], w["W_K"], strict=True)):
        query = W_K @ (empty.embedded(2)[-1] @ W_Q) / math.sqrt(d_head)
        of_a, of_b, of_self = (empty.embedded(position) @ query for position in range(3))
        empty.scores[:, :, h] = np.stack(np.broadcast_arrays(of_a[:-1, None], of_b[None, :-1], of_self[-1]), axis=-1)
    return empty
