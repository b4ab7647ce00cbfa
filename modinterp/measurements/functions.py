"""Intervene on networks with answers f(a) + g(b) mod p, such as a^2 + b: rotate or remove circles of f(a) and g(b)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import pi
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.interventions.embedded import Changed, Embedded, Vectors
from modinterp.interventions.turning import moved_at_random, turn_of_random_planes, turn_of_values, waves_of_values
from modinterp.measurements.component import Component
from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.sum_waves import SumWaves, sum_waves
from modinterp.tasks import cyclic
from modinterp.tasks.cyclic import is_sum_of_functions

HALF = 0.5  # of a step: no token stands there
Map = Float[Tensor, "element element"]


class Functions(Component[Any]):
    """Interventions on circles of f(a) and g(b), where the answer is f(a) + g(b) mod p: `m.functions`.

    Use `m.functions` for answers such as a^2 + b, and `m.causal` for a + b. Several numbers may have the same value of
    f, as a and -a have the same square. The rotated circles are the frequencies of the answer's waves in the logits,
    and twice these frequencies.

    Raises:
        NoSuchPart: the answer is not a sum f(a) + g(b), or is a + b itself, or the values or waves leave nothing to
            test.
    """

    @cached_property
    def values(self) -> tuple[Int[Tensor, " a"], Int[Tensor, " b"]]:
        """The values f(a) and g(b) for every number, with g(0) = 0."""
        task = self.m.task
        if cyclic(task) is not None or not is_sum_of_functions(task):
            sums = "not a sum of a function of a and a function of b, or just a + b"
            raise NoSuchPart(f"this needs an answer such as a^2 + b; {task.name} is {sums}")
        answers = task.answers().view(task.grid)
        found = answers[:, 0] % task.p, (answers[0] - answers[0, 0]) % task.p
        if any(len(values.unique()) == 1 for values in found):
            raise NoSuchPart(f"{task.name} depends on only one number, so the network adds nothing")
        return found

    @property
    def waves(self) -> SumWaves:
        """The waves of the answer in the logits."""
        self.values  # noqa: B018 - or there are none
        return self._waves

    @cached_property
    def _waves(self) -> SumWaves:
        return sum_waves(self.m)

    @property
    def circles(self) -> tuple[int, ...]:
        """Frequencies of the answer's waves that explain the logits. [cycles per p]

        Raises:
            NoSuchPart: the waves of these circles span more than half of all functions of f(a) or g(b).
        """
        found, fewest = self.waves.freqs, min(len(values.unique()) for values in self.values)
        if 4 * len(found) > fewest - 1:
            raise NoSuchPart(
                f"{len(found)} circles contain half of all functions of {fewest} values, so there is no "
                "small set of circles to rotate"
            )
        return found

    @property
    def _p(self) -> int:
        return self.m.task.p

    def _with_companions(self, freqs: Sequence[int]) -> list[int]:
        """Return the frequencies and twice each, which a nonlinearity creates, without duplicates and mirror
        frequencies.
        """
        p, found = self._p, list(freqs)
        for k in freqs:
            if all((2 * k - other) % p and (2 * k + other) % p for other in found) and 2 * k % p:
                found.append(2 * k)
        return found

    @cached_property
    def _embedded(self) -> Embedded:
        return Embedded(self.m.model, self.m.task, torch.arange(self._p))

    def _turned(self, freqs: Sequence[int]) -> tuple[Vectors, Vectors]:
        """Return the embeddings of both numbers with the given circles rotated by half a step."""
        maps = (turn_of_values(values, self._p, freqs, HALF) for values in self.values)
        first, second = (turn @ table for turn, table in zip(maps, self._embedded.tables, strict=True))
        return first, second

    def _answered(self, tables: Iterable[Vectors], by: int = 0) -> float:
        """Return the share of pairs answered with the right answer plus `by`, when `tables` replace the embeddings."""
        changed: Changed = self._embedded.changed(*tables)
        given = torch.cat([block.argmax(dim=-1) for block in changed.blocks]).cpu()
        return float((given == (self.m.task.answers() + by) % self._p).double().mean())

    @cached_property
    def values_half_turn(self) -> float:
        """Share of pairs whose answer changes by one when f(a) and g(b) move half a step, midway between tokens."""
        return self._answered(self._turned(self._with_companions(self.circles)), by=1)

    @cached_property
    def values_half_turn_controls(self) -> dict[str, float]:
        """Share of answers that change by one when another part is changed as much, for each changed part."""
        freqs, tables = self._with_companions(self.circles), self._embedded.tables
        angles = [2 * pi * k / self._p * HALF for k in freqs]
        random = turn_of_random_planes(self._p, angles)
        moved = [
            moved_at_random(x, y, seed) for seed, (x, y) in enumerate(zip(tables, self._turned(freqs), strict=True))
        ]
        found = {
            "random planes": self._answered([random @ table for table in tables], by=1),
            "random directions, as far": self._answered(moved, by=1),
        }
        if others := self._others(freqs):
            found["other circles"] = self._answered(self._turned(others), by=1)
        return found

    def _others(self, freqs: Sequence[int]) -> list[int]:
        """Return the strongest other circles of f(a) in the embedding, of the same number as the given circles."""
        p, table = self._p, self._embedded.tables[0]
        taken = {min(k % p, -k % p) for k in freqs}
        sizes = {k: self._part(table, self.values[0], [k]).square().sum() for k in range(1, p // 2 + 1)}
        ranked = sorted((k for k in sizes if k not in taken), key=lambda k: -float(sizes[k]))
        return ranked[: len(self.circles)]

    def _part(self, table: Vectors, values: Int[Tensor, " element"], freqs: Sequence[int]) -> Vectors:
        """Return the least-squares fit of vectors by waves of the given frequencies, without the constant."""
        waves = waves_of_values(values, self._p, freqs)
        coefficients = torch.linalg.pinv(waves) @ table
        return (waves[:, 1:] - waves[:, 1:].mean(dim=0)) @ coefficients[1:]

    @cached_property
    def _parts(self) -> list[tuple[Vectors, Vectors]]:
        """The embeddings of all numbers as a and as b, and the part of each embedding on the circles."""
        freqs = self._with_companions(self.circles)
        return [
            (table, self._part(table, values, freqs))
            for table, values in zip(self._embedded.tables, self.values, strict=True)
        ]

    @cached_property
    def values_accuracy_without(self) -> float:
        """Accuracy without circles of f(a) and g(b) in the embedding."""
        return self._answered([table - part for table, part in self._parts])

    @cached_property
    def values_accuracy_alone(self) -> float:
        """Accuracy with only the circles of f(a) and g(b) and the mean in the embedding."""
        return self._answered([table.mean(dim=0) + part for table, part in self._parts])
