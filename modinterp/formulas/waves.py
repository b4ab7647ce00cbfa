"""Define the waves that neurons read and write, with amplitudes and phases, with numpy alone.

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
    """Compute the error function of an array to 1.5e-7; numpy has no error function, and `math.erf` takes only single
    numbers.

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
    """Round numbers to the number of digits that files store."""
    return [float(f"{value:.{DIGITS}g}") for value in values]


def to_bits(bits: int) -> Callable[[Array], Array]:
    """Return a function that rounds an array to multiples of its largest absolute value divided by 2^(bits - 1) - 1."""

    def rounded(x: Array) -> Array:
        largest = np.abs(x).max() if x.size else 0.0
        step = largest / (2 ** (bits - 1) - 1)
        return np.round(x / step) * step if step > 0 else x

    return rounded


def term_of(name: str, freq: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """Parse the name of a term, such as `single` or `single at 35`, into multiples (i, j) and a frequency.

    Args:
        freq: frequency of the neurons that read the term. [cycles per p]
    """
    if (head := term_of_head(name)) is not None:  # what a head mixes has the phase of the wave; attention has none
        return ((1, 0),) if head[0] == "head" else ((0, 0),), freq
    kind, _, other = name.partition(" at ")
    return TERMS[kind], int(other or freq)


@dataclass(frozen=True)
class Waves:
    """Amplitudes of some waves, one per neuron, with their phases.

    Attributes:
        amplitude: amplitude of each neuron's wave, `[neuron]`.
        phase: phase of each wave [radians]; None if the phase follows from the phases of the neuron's waves of a and b.
    """

    amplitude: Array
    phase: Array | None = None

    @classmethod
    def of(cls, z: Array) -> Waves:
        """Build waves Re(z e^ix) from complex amplitudes z."""
        return cls(np.abs(z), np.angle(z))

    @property
    def numbers(self) -> int:
        """The number of parameters of the waves: amplitudes and phases."""
        return self.amplitude.size * (1 if self.phase is None else 2)

    def complex(self, followed: Array | float) -> Array:
        """Return the complex amplitudes; waves without phases use the given phases."""
        return self.amplitude * np.exp(1j * (followed if self.phase is None else self.phase))

    def mapped(self, amplitude: Callable[[Array], Array], phase: Callable[[Array], Array]) -> Waves:
        """Apply one function to the amplitudes and another function to the phases."""
        return Waves(amplitude(self.amplitude), None if self.phase is None else phase(self.phase))

    def to_json(self) -> dict[str, list[float]]:
        """Return plain data for JSON."""
        data = {"amplitude": significant(self.amplitude)}
        return data if self.phase is None else data | {"phase": significant(self.phase)}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Waves:
        """Rebuild waves from the result of `to_json`."""
        return cls(np.array(data["amplitude"]), np.array(data["phase"]) if "phase" in data else None)


@dataclass(frozen=True)
class Cluster:
    """The neurons of one frequency in a formula.

    Attributes:
        freq: frequency of the neurons. [cycles per p]
        inputs: map from the name of a term, as in `term_of`, to its waves in every neuron's input.
        outputs: map from frequency to the waves that every neuron writes into the logits over classes.
        neurons: index of each neuron in the network.
        heads: heads of the network, if terms of `inputs` are mixtures by attention.
    """

    freq: int
    inputs: Mapping[str, Waves]
    outputs: Mapping[int, Waves]
    neurons: tuple[int, ...] = field(default=(), compare=False)
    heads: tuple[Head, ...] = field(default=(), compare=False, repr=False)

    @property
    def size(self) -> int:
        """Number of neurons of the cluster."""
        return next(iter(self.outputs.values())).amplitude.size if self.outputs else 0

    @property
    def numbers(self) -> int:
        """The number of parameters of the cluster, including its frequency, its size, and its kinds of waves."""
        return 3 + sum(waves.numbers for waves in (*self.inputs.values(), *self.outputs.values()))

    def own_phases(self) -> tuple[Array | float, Array | float]:
        """Return the phases of every neuron's waves of a and b, or of the waves mixed by the neuron's first head.
        [radians]
        """
        own = [x for term, x in self.inputs.items() if term.startswith("head ") and x.phase is not None]
        if own and own[0].phase is not None:
            return own[0].phase, own[0].phase
        found = [self.inputs.get(name, self.inputs.get("single")) for name in ("first", "second")]
        first, second = (0.0 if one is None or one.phase is None else one.phase for one in found)
        return first, second

    def followed(self, multiples: tuple[int, int]) -> Array | float:
        """Return the phase of a term, derived from the phases of the neuron's waves of a and b. [radians]"""
        first, second = self.own_phases()
        return multiples[0] * first + multiples[1] * second

    def input(self, a: Array, b: Array, p: int) -> Array:
        """Return the inputs of the neurons for pairs of residues, `[..., neuron]`."""
        waves, sizes = [], []
        for name, x in self.inputs.items():
            multiples, _ = term_of(name, self.freq)
            waves.append(self.wave(name, a, b, p))
            sizes.append(x.complex(self.followed(multiples[0])))
        every, z = np.stack(waves, axis=-1), np.stack(sizes)  # one product in place of one for each term
        return np.concatenate([every.real, every.imag], axis=-1) @ np.concatenate([z.real, -z.imag])

    def wave(self, term: str, a: Array, b: Array, p: int) -> Array:
        """Return the complex wave of a term for pairs of residues."""
        multiples, freq = term_of(term, self.freq)
        if term_of_head(term) is None:
            return np.asarray(np.sum([circle(freq * (i * a + j * b), p) for i, j in multiples], axis=0))
        wave_a, wave_b = (np.asarray(circle(freq * x, p)) for x in (a, b))
        return mixed(term, self.heads, (wave_a, wave_b), a, b, p)

    def output(self, p: int) -> Array:
        """Return the output of each neuron to every class, `[neuron, class]`."""
        written = 0.0
        for freq, waves in self.outputs.items():
            z = waves.complex(self.followed((1, 1)))
            written = written + np.multiply.outer(z, circle(freq * np.arange(p), p)).real
        return np.asarray(written)


@dataclass(frozen=True)
class Path:
    """The path to the logits around the neurons: products of a wave of the pair and a wave of the class.

    Attributes:
        freq: frequency of the class's wave and of the pair's wave. [cycles per p]
        term: kind of the pair's wave, a key of `TERMS`.
        cosine, sine: complex amplitudes z of the pair's waves Re(z e^ix), which are multiplied by cos(w c) and sin(w
            c).
    """

    freq: int
    term: str
    cosine: complex
    sine: complex

    @property
    def numbers(self) -> int:
        """The number of parameters of the path; a constant has no phases."""
        return 2 if self.term == "constant" else 4


def circle(steps: Array, p: int) -> Array:
    """Return e^(2 pi i steps / p); the integers `steps` are first reduced mod p, for full precision."""
    return _roots(p)[steps % p]


@lru_cache(maxsize=16)
def _roots(p: int) -> Array:
    return np.exp(2j * np.pi / p * np.arange(p))
