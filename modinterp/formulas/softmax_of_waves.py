"""Write the attention of heads as a softmax of waves of a and b, with numpy alone.

A head attends from the last position to a, to b and to the last position itself. The head's score of a is ``offset +
sum of Re(z e^(i w a))`` over some frequencies; the score of the last position is zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray
KINDS = ("head", "second of head", "last of head")  # of terms: a wave that is mixed, and attention to b and to the last


@dataclass(frozen=True)
class Head:
    """One head's attention to a, to b and to the last position.

    Attributes:
        offsets: mean scores of a and of b, minus the score of the last position.
        first: map from frequency to the complex amplitude of the score of a.
        second: map from frequency to the complex amplitude of the score of b; None if a and b have the same waves.
    """

    offsets: tuple[float, float]
    first: Mapping[int, complex]
    second: Mapping[int, complex] | None = None

    @property
    def numbers(self) -> int:
        """The number of parameters of the head: two offsets, and a frequency, an amplitude and a phase for each
        wave.
        """
        return 2 + 3 * len(self.first) + 2 * len(self.second or ())

    def pattern(self, a: Array, b: Array, p: int) -> tuple[Array, Array, Array]:
        """Return the head's attention to a, to b and to the last position."""
        x = np.arange(p)

        def score(waves: Mapping[int, complex], offset: float) -> Array:
            return offset + sum(((z * np.exp(2j * np.pi * k * x / p)).real for k, z in waves.items()), np.zeros(p))

        of_a = score(self.first, self.offsets[0])[a % p]
        of_b = score(self.first if self.second is None else self.second, self.offsets[1])[b % p]
        large = np.maximum(np.maximum(of_a, of_b), 0.0)
        parts = np.exp(of_a - large), np.exp(of_b - large), np.exp(-large)
        total = parts[0] + parts[1] + parts[2]
        to_a, to_b, to_last = (np.asarray(part / total) for part in parts)  # of one pair numpy makes numbers of arrays
        return to_a, to_b, to_last

    def mapped(self, rounded: Any) -> Head:
        """Apply a function to the array of the head's numbers."""
        waves = [*self.first.values(), *(self.second or {}).values()]
        offsets = rounded(np.array(self.offsets)).tolist()
        parts = rounded(np.array([part for z in waves for part in (z.real, z.imag)])).reshape(-1, 2).tolist()
        values = [complex(*x) for x in parts]
        first = dict(zip(self.first, values, strict=False))
        second = None if self.second is None else dict(zip(self.second, values[len(first) :], strict=True))
        return Head((offsets[0], offsets[1]), first, second)


def term_of_head(term: str) -> tuple[str, int] | None:
    """Parse the name of a term, such as `head 3`, into a kind of head term and the head's index; None for other
    terms.
    """
    kind, _, number = term.rpartition(" ")
    return (kind, int(number)) if kind in KINDS else None


def mixed(term: str, heads: tuple[Head, ...], wave: tuple[Array, Array], a: Array, b: Array, p: int) -> Array:
    """Return a head's term as a function of pairs: its attention, or the neuron's wave mixed by the attention.

    Args:
        wave: e^(i w a) and e^(i w b) at the neuron's frequency.
    """
    found = term_of_head(term)
    assert found is not None
    kind, number = found
    to_a, to_b, to_last = heads[number].pattern(a, b, p)
    if kind == "head":
        return np.asarray(to_a * wave[0] + to_b * wave[1])
    return (to_b if kind == "second of head" else to_last).astype(complex)


def to_json(heads: Iterable[Head], significant: Any) -> list[dict[str, Any]]:
    """Return plain data that describe some heads."""

    def waves(some: Mapping[int, complex]) -> dict[str, list[float]]:
        return {str(k): significant([z.real, z.imag]) for k, z in some.items()}

    return [
        {"offsets": significant(x.offsets), "first": waves(x.first)}
        | ({} if x.second is None else {"second": waves(x.second)})
        for x in heads
    ]


def of_json(data: Iterable[Mapping[str, Any]]) -> tuple[Head, ...]:
    """Rebuild heads from the result of `to_json`."""

    def waves(some: Mapping[str, Any]) -> dict[int, complex]:
        return {int(k): complex(*z) for k, z in some.items()}

    return tuple(
        Head(tuple(x["offsets"]), waves(x["first"]), waves(x["second"]) if "second" in x else None) for x in data
    )
