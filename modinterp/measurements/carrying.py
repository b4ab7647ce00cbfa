"""Test inside a network that adds long numbers whether a carry is one direction, and whether digits lie on a circle."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.statistics.share_interval import Share
from modinterp.interventions.at_positions import as_far, logits_with_edits, seen
from modinterp.measurements.component import Component
from modinterp.measurements.inside import SAMPLED
from modinterp.measurements.interchanges import FEWEST, Counted, Moved
from modinterp.measurements.network import NoSuchPart
from modinterp.models import Network
from modinterp.tasks import ColumnSum, DigitAddition
from modinterp.tasks.carries import Columns

MOSTLY = 0.5  # mean attention to both digits of a column, by which a head fetches them
TEN = 10  # digits, the first tokens
DRAWN = 4 * SAMPLED  # inputs, so that enough have a carry through nines


class Carrying(Component[Any]):
    """Interventions on the columns of a long sum; available as `m.carrying`.

    Raises:
        NoSuchPart: the task is not a sum of long numbers, or only the network's answers are visible.
    """

    @property
    def network(self) -> Network:
        """The network."""
        return self.m.inside.network

    @property
    def task(self) -> ColumnSum | DigitAddition:
        """The task of the network: a sum of long numbers."""
        if not isinstance(self.m.task, ColumnSum | DigitAddition):
            raise NoSuchPart(f"{self.m.task.name} does not add digits")
        return self.m.task

    @cached_property
    def inputs(self) -> Int[Tensor, "input pos"]:
        """The first inputs of the task, on which the network is evaluated."""
        return self.m.asked.inputs[:DRAWN]

    @cached_property
    def columns(self) -> Columns:
        """Columns of the evaluated inputs, one for each digit of the sum."""
        return self.task.columns(self.inputs)

    @property
    def _added(self) -> range:
        """Indices of the sum's digits whose column adds two digits and receives a carry."""
        return range(int(isinstance(self.task, DigitAddition)), self.columns.base.shape[1] - 1)

    @property
    def hook(self) -> str:
        """Name of the hook between the last attention and the last neurons."""
        last = f"blocks.{len(self.network.blocks) - 1}"
        names = (f"{last}.hook_resid_mid", f"{last}.hook_resid_post")
        return next(name for name in names if name in self.network.hook_dict)

    @cached_property
    def directions(self) -> Float[Tensor, "answer d_model"]:
        """For each digit of the sum, the mean change that a carry makes to the residual stream, among inputs with the
        same digits.

        The mean changes are computed on half of the inputs. The carry direction is 0 for digits that never receive a
        carry.
        """
        half = len(self.inputs) // 2
        streams = seen(self.network, self.inputs[:half], [self.hook])[self.hook]
        found = torch.zeros(self.columns.base.shape[1], streams.shape[-1], dtype=streams.dtype, device=streams.device)
        for column in self._added:
            x = streams[:, self.task.read_positions[column]]
            base, carry = self.columns.base[:half, column], self.columns.carry[:half, column].bool()
            steps = [
                x[carry & (base == digit)].mean(dim=0) - x[~carry & (base == digit)].mean(dim=0)
                for digit in range(10)
                if bool((carry & (base == digit)).any()) and bool((~carry & (base == digit)).any())
            ]
            if steps:
                found[column] = torch.stack(steps).mean(dim=0)
        return found

    def _with_other_carry(self, is_counted: Bool[Tensor, "input answer"]) -> Moved:
        """Return the effect of taking the residual stream along the carry direction from an input with the opposite
        carry.
        """
        counted, half = Counted(), len(self.inputs) // 2
        inputs, columns = self.inputs[half:], self.columns
        streams = seen(self.network, inputs, [self.hook])[self.hook]
        for column in self._added:
            position, direction = self.task.read_positions[column], self.directions[column]
            if not bool(direction.any()):
                continue
            unit = direction / direction.norm()
            coordinate = streams[:, position] @ unit
            carry = columns.carry[half:, column]
            other = _with_the_other(carry, column)
            step = (coordinate[other] - coordinate).unsqueeze(-1) * unit
            foretold = (columns.base[half:, column] + 1 - carry) % 10
            given = [self._given(inputs, position, by) for by in (step, as_far(step, column))]
            counted.add(*given, foretold, is_counted[half:, column])  # type: ignore[misc]
        return counted.moved("exchanging carries")

    @cached_property
    def carry(self) -> Moved:
        """Effect of taking the carry direction from an input with the opposite carry: the digit of the sum should
        change by one.

        The control for the carry direction is a change of equal length in a random direction.
        """
        return self._with_other_carry(torch.ones_like(self.columns.base, dtype=torch.bool))

    @cached_property
    def carry_through_nines(self) -> Moved:
        """Effect of `carry` on digits whose next column adds up to nine, so the carry comes from a later column."""
        return self._with_other_carry(self.columns.nine.bool())

    @cached_property
    def half_turn(self) -> Moved:
        """Effect of moving both digits of a column by half a step on the circles of their embeddings: the digit of the
        sum should move by one.

        A lookup table of digits has no entry at half a step. The control for a move by half a step is a change of equal
        length in random directions.
        """
        task, counted = self.task, Counted()
        n, inputs = task.digits, self.inputs[:SAMPLED]
        steps = half_a_step_on(self._digits) - self._digits
        longer = int(isinstance(task, DigitAddition))
        for column in range(longer, self.columns.base.shape[1]):
            places = (column - longer, n + 1 + column - longer)
            by = {place: steps[inputs[:, place]] for place in places}
            random = {place: as_far(step, place) for place, step in by.items()}
            position = task.read_positions[column]
            given = [self._given_embedded(inputs, position, x) for x in (by, random)]
            foretold = (self.columns.digits[: len(inputs), column] + 1) % 10
            counted.add(*given, foretold, torch.ones(len(inputs), dtype=torch.bool))  # type: ignore[misc]
        return counted.moved("turning digits")

    @property
    def _digits(self) -> Float[Tensor, "digit d_model"]:
        """The embeddings of the ten digits.

        Raises:
            NoSuchPart: the task adds no digits.
        """
        assert self.task
        return self.network.W_E.detach()[:TEN]

    @cached_property
    def circle(self) -> tuple[int, float]:
        """Frequency k of the circle with the largest share of the ten centred digit embeddings, and the share of this
        circle.

        On the circle of frequency k, digit d has the angle 2 pi k d / 10.
        """
        waves = torch.fft.rfft(self._digits.double(), dim=0)[1:]
        energy = waves.abs().square().sum(dim=1)
        energy[-1] /= 2  # that of 5 cycles is its own mirror image
        best = int(energy.argmax())
        return best + 1, float(energy[best] / energy.sum())

    def accuracy(self, least: int, most: int) -> Share:
        """Return the accuracy on digits whose carry came through `least` to `most` columns; digits with 0 columns
        receive no carry.

        Raises:
            NoSuchPart: the sample has too few digits whose carry came through that many columns.
        """
        crossed = self.task.columns(self.m.asked.inputs).crossed
        counted = (crossed >= least) & (crossed <= most)
        counted[:, : self._added.start] &= least > 0  # the first digit of a longer sum is the carry itself
        if int(counted.sum()) < FEWEST:
            raise NoSuchPart(f"{int(counted.sum())} digits have such a carry, too few to judge by")
        return Share(int(self.m.answering.correct[counted].sum()), int(counted.sum()))

    @cached_property
    def fetching(self) -> dict[str, tuple[str, ...]]:
        """Map `own` and `next` to the heads that attend most to both digits of the answer's own column, or of the next
        column.
        """
        found = {}
        for name, ahead in (("own", 0), ("next", 1)):
            heads = []
            for layer, patterns in enumerate(self.m.inside.attention):
                for head, pattern in enumerate(patterns):
                    shares = [self._on_column(pattern, answer, ahead) for answer in self._added]
                    heads += [f"{layer}.{head}"] * (sum(shares) / len(shares) >= MOSTLY)
            found[name] = tuple(heads)
        return found

    def _on_column(self, pattern: Float[Tensor, "query key"], answer: int, ahead: int) -> float:
        """Return the attention from a digit of the sum to the two digits of its own column, or of the column `ahead`
        places further.
        """
        place = answer - self._added.start + ahead
        query = self.task.read_positions[answer]
        return float(pattern[query, place] + pattern[query, self.task.digits + 1 + place])

    def fetched(self) -> pd.DataFrame:
        """Return a table of the mean attention to the two digits of each column, by digit of the sum and head."""
        task, attention = self.task, self.m.inside.attention
        longer, rows = int(isinstance(task, DigitAddition)), []
        for answer in range(len(task.read_positions)):
            for layer, heads in enumerate(attention):
                for head, pattern in enumerate(heads):
                    row = {"digit of the sum": answer, "layer": layer, "head": head}
                    for column in range(longer, task.digits + longer):
                        row[f"column of digit {column}"] = self._on_column(pattern, answer, column - answer)
                    rows.append(row)
        return pd.DataFrame(rows)

    def _given(self, inputs: Tensor, position: int, by: Tensor) -> Int[Tensor, " input"]:
        def edit(x: Tensor) -> Tensor:
            x[:, position] += by.to(x)
            return x

        return logits_with_edits(self.network, inputs, position, {self.hook: edit})[:, :10].argmax(dim=-1)

    def _given_embedded(self, inputs: Tensor, position: int, by: dict[int, Tensor]) -> Int[Tensor, " input"]:
        def edit(x: Tensor) -> Tensor:
            for place, step in by.items():
                x[:, place] += step.to(x)
            return x

        return logits_with_edits(self.network, inputs, position, {"hook_embed": edit})[:, :10].argmax(dim=-1)


def half_a_step_on(digits: Float[Tensor, "digit d_model"]) -> Float[Tensor, "digit d_model"]:
    """Move the vectors of all numbers mod n halfway to the next number on all circles.

    A component whose sign alternates from number to number is 0 halfway between two numbers.

    >>> turns = 2 * torch.pi * torch.arange(10) / 10
    >>> moved = half_a_step_on(torch.stack([turns.cos(), turns.sin()], dim=1))
    >>> bool(torch.allclose(moved[:, 0], (turns + torch.pi / 10).cos(), atol=1e-6))
    True
    """
    n = len(digits)
    waves = torch.fft.rfft(digits.double(), dim=0)
    k = torch.arange(len(waves), dtype=torch.float64)
    waves = waves * torch.polar(torch.ones_like(k), torch.pi * k / n).unsqueeze(1).to(waves.device)
    if n % 2 == 0:
        waves[-1] = 0
    return torch.fft.irfft(waves, n=n, dim=0).to(digits)


def _with_the_other(carry: Int[Tensor, " input"], seed: int) -> Int[Tensor, " input"]:
    """Return, for each input, the index of a random input with the opposite carry; its own index without one."""
    generator, found = torch.Generator().manual_seed(seed), torch.arange(len(carry))
    for value in (0, 1):
        others = (carry == 1 - value).nonzero()[:, 0]
        mine = carry == value
        if len(others):
            found[mine] = others[torch.randint(len(others), (int(mine.sum()),), generator=generator)]
    return found
