"""Waves that neurons read and write, with their amplitudes and phases; numpy alone.

A neuron of frequency k reads ``u = constant + A [cos(w a + phi) + cos(w b + phi)] + ...`` with ``w = 2 pi k / p``. The
neuron writes ``R cos(w c + rho)`` times ``act(u)`` into the logit of class c. This module needs neither torch nor a
network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from modinterp.formulas.softmax_of_waves import Head, mixed, term_of_head

Array = np.ndarray
DIGITS = 5  # significant ones, of numbers in files
PAIRS_AT_ONCE = 20_000  # whose neurons are in memory at one time


def erf(x: Array) -> Array:
    """The error function, to 1.5e-7: numpy has none, and `math.erf` takes one number at a time.

    Source: Abramowitz and Stegun 1964, formula 7.1.26.
    """
    t = 1 / (1 + 0.3275911 * np.abs(x))
    polynomial = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - polynomial * np.exp(-np.square(x)))


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "none": lambda x: x,
    "square": np.square,
    "tanh": np.tanh,
    "gelu": lambda x: x * (1 + erf(x / np.sqrt(2))) / 2,
}
# Name of an input term to the multiples (i, j) of its waves, cos(w (i a + j b) + phase), which are added up.
TERMS: dict[str, tuple[tuple[int, int], ...]] = {
    "constant": ((0, 0),),
    "single": ((1, 0), (0, 1)),
    "first": ((1, 0),),
    "second": ((0, 1),),
    "double": ((2, 0), (0, 2)),
    "double first": ((2, 0),),
    "double second": ((0, 2),),
    "sum": ((1, 1),),
    "difference": ((1, -1),),
}


def significant(values: Iterable[float]) -> list[float]:
    """Numbers with the digits that files have of them."""
    return [float(f"{value:.{DIGITS}g}") for value in values]


def to_bits(bits: int) -> Callable[[Array], Array]:
    """A function that rounds an array to multiples of its largest size over 2^(bits - 1) - 1."""

    def rounded(x: Array) -> Array:
        largest = np.abs(x).max() if x.size else 0.0
        step = largest / (2 ** (bits - 1) - 1)
        return np.round(x / step) * step if step > 0 else x

    return rounded


def term_of(name: str, freq: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """Multiples (i, j) and frequency of a term by its name: `single`, or `single at 35` for another frequency.

    Args:
        freq: of the neurons that read the term. [cycles per p]
    """
    if (head := term_of_head(name)) is not None:  # what a head mixes has the phase of the wave; attention has none
        return ((1, 0),) if head[0] == "head" else ((0, 0),), freq
    kind, _, other = name.partition(" at ")
    return TERMS[kind], int(other or freq)


@dataclass(frozen=True)
class Waves:
    """Amplitudes of some waves, one per neuron, with their phases.

    Attributes:
        amplitude: [neuron]
        phase: of each wave [radians]; None where the phase follows from those of the neuron's waves of a and b.
    """

    amplitude: Array
    phase: Array | None = None

    @classmethod
    def of(cls, z: Array) -> Waves:
        """Waves with complex amplitudes, Re(z e^ix)."""
        return cls(np.abs(z), np.angle(z))

    @property
    def numbers(self) -> int:
        """How many numbers these are."""
        return self.amplitude.size * (1 if self.phase is None else 2)

    def complex(self, followed: Array | float) -> Array:
        """The complex amplitudes, with the phases that are followed where the waves have none of their own."""
        return self.amplitude * np.exp(1j * (followed if self.phase is None else self.phase))

    def mapped(self, amplitude: Callable[[Array], Array], phase: Callable[[Array], Array]) -> Waves:
        """The waves with a function of their amplitudes and another of their phases."""
        return Waves(amplitude(self.amplitude), None if self.phase is None else phase(self.phase))

    def to_json(self) -> dict[str, list[float]]:
        """Plain data."""
        data = {"amplitude": significant(self.amplitude)}
        return data if self.phase is None else data | {"phase": significant(self.phase)}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Waves:
        """The waves that `to_json` gave."""
        return cls(np.array(data["amplitude"]), np.array(data["phase"]) if "phase" in data else None)


@dataclass(frozen=True)
class Cluster:
    """The neurons of one frequency.

    Attributes:
        freq: [cycles per p]
        inputs: name of a term, as in `term_of`, to its waves in every neuron's input.
        outputs: frequency to the waves that every neuron writes into the logits over classes.
        neurons: number of each neuron in the network.
        heads: those of the network, where terms of `inputs` are what heads mix.
    """

    freq: int
    inputs: Mapping[str, Waves]
    outputs: Mapping[int, Waves]
    neurons: tuple[int, ...] = field(default=(), compare=False)
    heads: tuple[Head, ...] = field(default=(), compare=False, repr=False)

    @property
    def size(self) -> int:
        """How many neurons these are."""
        return next(iter(self.outputs.values())).amplitude.size if self.outputs else 0

    @property
    def numbers(self) -> int:
        """How many numbers they have: with their frequency, their count, and which waves they have."""
        return 3 + sum(waves.numbers for waves in (*self.inputs.values(), *self.outputs.values()))

    def own_phases(self) -> tuple[Array | float, Array | float]:
        """Phases of every neuron's wave of a, and of b; of what its first head mixes, where heads do. [radians]"""
        own = [x for term, x in self.inputs.items() if term.startswith("head ") and x.phase is not None]
        if own and own[0].phase is not None:
            return own[0].phase, own[0].phase
        found = [self.inputs.get(name, self.inputs.get("single")) for name in ("first", "second")]
        first, second = (0.0 if one is None or one.phase is None else one.phase for one in found)
        return first, second

    def followed(self, multiples: tuple[int, int]) -> Array | float:
        """The phase of a term of these multiples that follows from the phases of the waves of a and b. [radians]"""
        first, second = self.own_phases()
        return multiples[0] * first + multiples[1] * second

    def input(self, a: Array, b: Array, p: int) -> Array:
        """The inputs of the neurons for pairs of residues, `[..., neuron]`."""
        waves, sizes = [], []
        for name, x in self.inputs.items():
            multiples, _ = term_of(name, self.freq)
            waves.append(self.wave(name, a, b, p))
            sizes.append(x.complex(self.followed(multiples[0])))
        every, z = np.stack(waves, axis=-1), np.stack(sizes)  # one product in place of one for each term
        return np.concatenate([every.real, every.imag], axis=-1) @ np.concatenate([z.real, -z.imag])

    def wave(self, term: str, a: Array, b: Array, p: int) -> Array:
        """The complex wave of a term for pairs of residues."""
        multiples, freq = term_of(term, self.freq)
        if term_of_head(term) is None:
            return np.asarray(np.sum([circle(freq * (i * a + j * b), p) for i, j in multiples], axis=0))
        wave_a, wave_b = (np.asarray(circle(freq * x, p)) for x in (a, b))
        return mixed(term, self.heads, (wave_a, wave_b), a, b, p)

    def output(self, p: int) -> Array:
        """Output of each neuron, `[neuron, class]`."""
        written = 0.0
        for freq, waves in self.outputs.items():
            z = waves.complex(self.followed((1, 1)))
            written = written + np.multiply.outer(z, circle(freq * np.arange(p), p)).real
        return np.asarray(written)


@dataclass(frozen=True)
class Path:
    """The path to the logits around the neurons: products of one wave of the pair and one of the class.

    Attributes:
        freq: of the class, and of the wave of the pair. [cycles per p]
        term: name in `TERMS`.
        cosine, sine: complex amplitudes z; the pair's wave Re(z e^ix) is written along cos(w c), and along sin(w c).
    """

    freq: int
    term: str
    cosine: complex
    sine: complex

    @property
    def numbers(self) -> int:
        """How many numbers it has; a constant has no phases."""
        return 2 if self.term == "constant" else 4


def circle(steps: Array, p: int) -> Array:
    """e^(2 pi i steps / p); the steps are reduced mod p first, which keeps full precision."""
    return _roots(p)[steps % p]


@lru_cache(maxsize=16)
def _roots(p: int) -> Array:
    return np.exp(2j * np.pi / p * np.arange(p))
