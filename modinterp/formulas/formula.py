"""Write a network over pairs as waves: neurons with frequencies, amplitudes and phases, evaluated by numpy alone.

A neuron of frequency k reads ``u = constant + A [cos(w a + phi) + cos(w b + phi)] + ...`` with ``w = 2 pi k / p``. The
neuron writes ``R cos(w c + rho)`` times ``act(u)`` into the logit of class c. This module needs neither torch nor a
network.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modinterp.formulas import softmax_of_waves
from modinterp.formulas.softmax_of_waves import Head
from modinterp.formulas.waves import (
    ACTIVATIONS,
    PAIRS_AT_ONCE,
    TERMS,
    Array,
    Cluster,
    Path,
    Waves,
    circle,
    significant,
    to_bits,
)


@dataclass(frozen=True)
class Formula:
    """A network over pairs of residues as waves, a function of (a, b) that returns the logits of all classes.

    Attributes:
        p: modulus.
        sign: 1 if the answer is a + b, -1 if the answer is a - b; b is multiplied by this sign.
        act_fn: nonlinearity of the neurons, a key of `ACTIVATIONS`.
        alphas: map from frequency to the coefficient of cos(w (a + sign b - c)) in the logits.
        halves: map from frequency to the coefficient of the pizza's wave, abs(cos(w (a - sign b) / 2)) cos(w (a + sign
            b - c)).
        clusters: groups of neurons with the same frequency and the same kinds of waves.
        path: waves that reach the logits without passing through neurons.
        heads: attention of the heads, if neurons read mixtures by attention.
        names: the task's numbers in the order in which they add, if this order is not 0 .. p - 1.
    """

    p: int
    sign: int = 1
    act_fn: str = "relu"
    alphas: Mapping[int, float] = field(default_factory=dict)
    clusters: tuple[Cluster, ...] = ()
    path: tuple[Path, ...] = ()
    names: tuple[int, ...] = ()
    heads: tuple[Head, ...] = ()
    halves: Mapping[int, float] = field(default_factory=dict)

    @property
    def numbers(self) -> int:
        """The number of parameters of the formula: amplitudes, phases, frequencies, counts of neurons and kinds of
        waves.
        """
        freqs = len({one.freq for one in self.path})
        return (
            2 * len(self.alphas)
            + len(self.halves)
            + sum(x.numbers for x in (*self.clusters, *self.path, *self.heads))
            + freqs
        )

    @property
    def neurons(self) -> int:
        """The number of neurons of the formula."""
        return sum(cluster.size for cluster in self.clusters)

    def __call__(self, a: Array | int, b: Array | int) -> Array:
        """Return the logits `[..., class]` of pairs, given by their positions in `names`; for a + b these are the
        residues.
        """
        a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
        b = np.asarray(self.sign * b)
        c = np.arange(self.p)
        logits = np.zeros((*a.shape, self.p))
        for freq, alpha in self.alphas.items():
            size = alpha + self.halves.get(freq, 0.0) * np.abs(np.cos(np.pi * freq * (a - b) / self.p))[..., None]
            logits += size * circle(freq * ((a + b)[..., None] - c), self.p).real
        act = ACTIVATIONS[self.act_fn]
        read = [act(cluster.input(a, b, self.p)) for cluster in self.clusters]
        written = [cluster.output(self.p) for cluster in self.clusters]
        for one in self.path:
            wave = sum(circle(one.freq * (i * a + j * b), self.p) for i, j in TERMS[one.term])
            of_class = circle(one.freq * c, self.p)
            read.append(np.stack([(one.cosine * wave).real, (one.sine * wave).real], axis=-1))
            written.append(np.stack([of_class.real, of_class.imag]))
        if read:
            logits += np.concatenate(read, axis=-1) @ np.concatenate(written)  # one product is the quickest
        return logits

    def grid(self) -> Array:
        """Return the logits of all pairs, `[a, b, class]`."""
        x = np.arange(self.p)
        rows = max(1, PAIRS_AT_ONCE // self.p)
        return np.concatenate([self(x[i : i + rows, None], x[None]) for i in range(0, self.p, rows)])

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which `of_json` rebuilds the formula."""
        data: dict[str, Any] = {"p": self.p, "sign": self.sign, "act_fn": self.act_fn}
        if self.names:
            data["names"] = list(self.names)
        if self.alphas:
            data["alphas"] = dict(zip(map(str, self.alphas), significant(list(self.alphas.values())), strict=True))
        if self.halves:
            data["halves"] = dict(zip(map(str, self.halves), significant(list(self.halves.values())), strict=True))
        if self.heads:
            data["heads"] = softmax_of_waves.to_json(self.heads, significant)
        if self.clusters:
            data["clusters"] = [
                {"freq": x.freq, "inputs": {name: waves.to_json() for name, waves in x.inputs.items()},
                 "outputs": {str(k): waves.to_json() for k, waves in x.outputs.items()}, "neurons": list(x.neurons)}
                for x in self.clusters
            ]  # fmt: skip
        if self.path:
            data["path"] = [
                {"freq": x.freq, "term": x.term, "cosine": significant([x.cosine.real, x.cosine.imag]),
                 "sine": significant([x.sine.real, x.sine.imag])} for x in self.path
            ]  # fmt: skip
        return data

    @classmethod
    def of_json(cls, data: Mapping[str, Any] | str) -> Formula:
        """Rebuild a formula from the result of `to_json`, or from its JSON text."""
        if isinstance(data, str):
            data = json.loads(data)
        every = softmax_of_waves.of_json(data.get("heads", ()))
        clusters = tuple(
            Cluster(x["freq"], {name: Waves.of_json(waves) for name, waves in x["inputs"].items()},
                    {int(k): Waves.of_json(waves) for k, waves in x["outputs"].items()},
                    tuple(x.get("neurons", ())), every)
            for x in data.get("clusters", ())
        )  # fmt: skip
        path = tuple(
            Path(x["freq"], x["term"], complex(*x["cosine"]), complex(*x["sine"])) for x in data.get("path", ())
        )
        alphas = {int(k): alpha for k, alpha in data.get("alphas", {}).items()}
        halves = {int(k): half for k, half in data.get("halves", {}).items()}
        names = tuple(data.get("names", ()))
        return cls(data["p"], data["sign"], data["act_fn"], alphas, clusters, path, names, every, halves)

    def rounded(self, bits: int) -> Formula:
        """Round every number of the formula to a number of bits: amplitudes within their array's range, phases within 2
        pi.

        Args:
            bits: number of bits of each number, including its sign; 2 or more.
        """
        amplitude, phase = to_bits(bits), _phase_to_bits(bits)

        def all_of(some: Mapping[Any, Waves]) -> dict[Any, Waves]:
            return {key: waves.mapped(amplitude, phase) for key, waves in some.items()}

        every = tuple(x.mapped(amplitude) for x in self.heads)
        clusters = tuple(Cluster(x.freq, all_of(x.inputs), all_of(x.outputs), x.neurons, every) for x in self.clusters)
        parts = amplitude(np.array([part for x in self.path for part in _parts(x)]))
        quads = parts.reshape(-1, 4).tolist()
        path = tuple(
            Path(x.freq, x.term, complex(*quad[:2]), complex(*quad[2:]))
            for x, quad in zip(self.path, quads, strict=True)
        )
        alphas = dict(zip(self.alphas, amplitude(np.array(list(self.alphas.values()))).tolist(), strict=True))
        halves = dict(zip(self.halves, amplitude(np.array(list(self.halves.values()))).tolist(), strict=True))
        return Formula(self.p, self.sign, self.act_fn, alphas, clusters, path, self.names, every, halves)


def _parts(path: Path) -> Iterator[float]:
    yield from (path.cosine.real, path.cosine.imag, path.sine.real, path.sine.imag)


def _phase_to_bits(bits: int) -> Callable[[Array], Array]:
    step = 2 * np.pi / 2**bits
    return lambda x: np.round(x / step) * step


def freqs_of(formula: Formula) -> Sequence[int]:
    """Return all frequencies that a formula contains, in ascending order."""
    return sorted({*formula.alphas, *(x.freq for x in (*formula.clusters, *formula.path))})
