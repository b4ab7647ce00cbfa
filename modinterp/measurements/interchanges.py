"""Exchange values, keys, queries or directions inside a network on sequences, and test if the answer follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from modinterp.analyses.statistics.share_interval import Share
from modinterp.interventions.at_positions import as_far, exchanged, logits_with_edits, put, seen
from modinterp.measurements.component import Component
from modinterp.measurements.inside import sampled
from modinterp.measurements.network import NoSuchPart
from modinterp.models import Network
from modinterp.tasks import SignOfSum

MOST_POSITIONS = 10  # that are read, at which parts are exchanged
IN_INPUT = 0.95  # share of the answers that stand in the input, for a task to be one of copying
FEWEST = 20  # answers of which a share is taken


@dataclass(frozen=True)
class Moved:
    """Share of the answers that changed as predicted when a part was exchanged, and the same share in a control.

    Attributes:
        share: count of answers that changed as predicted, out of all answers.
        control: count of answers that changed as predicted when another part of the same size was exchanged, out of all
            answers.
    """

    share: Share
    control: Share

    @property
    def moved(self) -> float:
        """Share of the answers that changed as predicted in the exchange."""
        return self.share.held / self.share.of

    @property
    def moved_by_control(self) -> float:
        """Share of the answers that changed in the predicted way in the control."""
        return self.control.held / self.control.of


class Counted:
    """Counts of answers that changed as predicted, summed over positions."""

    def __init__(self) -> None:
        self.held = [0, 0]
        self.of = 0

    def add(self, given: Tensor, control: Tensor, foretold: Tensor, counted: Bool[Tensor, " input"]) -> None:
        """Add the counts of changed answers at one position to the totals."""
        self.held = [n + int((x == foretold)[counted].sum()) for n, x in zip(self.held, (given, control), strict=True)]
        self.of += int(counted.sum())

    def moved(self, what: str) -> Moved:
        """Return the shares of answers that changed as predicted, with the control.

        Args:
            what: name of the exchange, for the error message.
        Raises:
            NoSuchPart: too few answers were counted.
        """
        if self.of < FEWEST:
            raise NoSuchPart(f"{what} would change only {self.of} answers, too few for a result")
        return Moved(*(Share(held, self.of) for held in self.held))


class Interchanges(Component[Any]):
    """Effects of exchanging parts of activations between positions and inputs; available as `m.interchanges`."""

    @property
    def network(self) -> Network:
        """The network, if its activations are accessible."""
        return self.m.inside.network

    @cached_property
    def inputs(self) -> Int[Tensor, "input pos"]:
        """The first inputs of the task, on which the network is evaluated."""
        inputs = self.m.asked.inputs
        return inputs[: sampled(inputs.shape[1])]

    @property
    def right(self) -> Int[Tensor, "input answer"]:
        """The right answers to the evaluated inputs."""
        return self.m.answering.answers.right[: len(self.inputs)]

    @property
    def is_asked(self) -> Bool[Tensor, "input answer"]:
        """True for each input and answer position at which the task has an answer."""
        return self.m.answering.is_asked[: len(self.inputs)]

    @property
    def columns(self) -> list[tuple[int, int]]:
        """Index and position of each measured answer; the measured answers are evenly spread over all answers."""
        positions = self.m.task.read_positions
        count = min(len(positions), MOST_POSITIONS)
        chosen = torch.linspace(0, len(positions) - 1, count).round().long().tolist()
        return [(column, positions[column]) for column in chosen]

    def hooks(self, letter: str) -> list[str]:
        """Return the hook names of the queries, keys or values of all layers.

        Args:
            letter: `q`, `k` or `v`.
        Raises:
            NoSuchPart: the network has no attention.
        """
        names = [f"blocks.{layer}.attn.hook_{letter}" for layer in range(len(self.network.blocks))]
        if not set(names) <= set(self.network.hook_dict):
            raise NoSuchPart(f"{self.m.name} has no attention")
        return names

    # Values, keys and queries

    @cached_property
    def answer_tokens(self) -> Bool[Tensor, "input answer pos"]:
        """Mask of positions whose token is the answer, among the positions visible from the answer's position.

        Raises:
            NoSuchPart: many answers are not tokens of their inputs, so the network cannot copy them.
        """
        inputs, right = self.inputs, self.right
        positions = torch.tensor(self.m.task.read_positions)
        found = inputs[:, None, :] == right[:, :, None]
        found &= torch.arange(inputs.shape[1]) <= positions[:, None]
        if float(found.any(dim=-1)[self.is_asked].double().mean()) < IN_INPUT:
            raise NoSuchPart(
                f"the answers of {self.m.task.name} are not tokens of the input, so the network cannot copy them"
            )
        return found

    def _place(self, column: int) -> tuple[Int[Tensor, " input"], Bool[Tensor, " input"]]:
        """Return the position of each answer's token, and a mask of the inputs in which the token occurs only once."""
        found = self.answer_tokens[:, column]
        return found.long().argmax(dim=-1), (found.sum(dim=-1) == 1) & self.is_asked[:, column]

    @cached_property
    def _candidates(self) -> Int[Tensor, " place"]:
        """Return the positions at which the answer's token occurs in some input."""
        single = self.answer_tokens.sum(dim=-1) == 1
        return (self.answer_tokens & single[..., None]).any(dim=0).any(dim=0).nonzero()[:, 0]

    def _other_place(self, places: Int[Tensor, "input n"], position: int, seed: int) -> Int[Tensor, " input"]:
        """Return, for each input, a random possible position of an answer, other than the given positions.

        Raises:
            NoSuchPart: no other position exists.
        """
        generator = torch.Generator().manual_seed(seed)
        known = self._candidates[self._candidates <= position]
        weights = torch.ones(len(self.inputs), len(known))
        weights[(known[None, :, None] == places[:, None, :]).any(dim=-1)] = 0
        if len(known) < places.shape[1] + 1:
            raise NoSuchPart(f"{self.m.task.name} has no other position to compare with")
        return known[weights.multinomial(1, generator=generator)[:, 0]]

    @cached_property
    def value(self) -> Moved:
        """Effect of taking the value at the answer token from another input: the network should give the other input's
        answer.

        In the control for values, the other input's value is put at another position.
        """
        names, counted = self.hooks("v"), Counted()
        values = seen(self.network, self.inputs, names)
        for column, position in self.columns:
            (place, is_there), right = self._place(column), self.right[:, column]
            rows = torch.arange(len(place)).roll(1)
            theirs, elsewhere = right[rows], self._other_place(place[:, None], position, column)
            given = [
                self._given(position, {name: put(values[name][rows, place[rows]], where) for name in names})
                for where in (place, elsewhere)
            ]
            counted.add(*given, theirs, is_there & is_there[rows] & (theirs != right))  # type: ignore[misc]
        return counted.moved("exchanging values")

    @cached_property
    def key(self) -> Moved:
        """Effect of exchanging the keys of the answer token and another token: the network should answer with the other
        token.

        In the control for keys, the keys of two other positions are exchanged.
        """
        names, counted = self.hooks("k"), Counted()
        for column, position in self.columns:
            place, is_there = self._place(column)
            other = self._other_place(place[:, None], position, column)
            third = self._other_place(torch.stack([place, other], dim=1), position, column + 1)
            token = self.inputs[torch.arange(len(place)), other]
            given = [
                self._given(position, {name: exchanged(where, other) for name in names}) for where in (place, third)
            ]
            counted.add(*given, token, is_there & (token != self.right[:, column]))  # type: ignore[misc]
        return counted.moved("exchanging keys")

    @cached_property
    def query(self) -> Moved:
        """Effect of replacing the query of one answer's position by that of another answer's position: the network
        should give the other answer.

        In the control for queries, the query is changed by an equal length in a random direction.

        Raises:
            NoSuchPart: the task has only one answer per input, so there is no other query.
        """
        names, counted = self.hooks("q"), Counted()
        positions = torch.tensor(self.m.task.read_positions)
        if len(positions) < 2:
            raise NoSuchPart(f"{self.m.task.name} has one answer for each input, so there is no other query")
        queries = seen(self.network, self.inputs, names)
        rows = torch.arange(len(self.inputs))
        for column, position in self.columns:
            shift = torch.randint(1, len(positions), (len(rows),), generator=torch.Generator().manual_seed(column))
            other = (column + shift) % len(positions)
            theirs, (_, is_there) = self.right[rows, other], self._place(column)
            visible = (self.answer_tokens[rows, other].long().argmax(dim=-1) <= position) & self.is_asked[rows, other]
            where = torch.full_like(rows, position)
            new = {name: queries[name][rows, positions[other]] for name in names}
            old = {name: queries[name][:, position] for name in names}
            given = [
                self._given(position, {name: put(x[name], where) for name in names})
                for x in (new, {name: old[name] + as_far(new[name] - old[name], column) for name in names})
            ]
            counted.add(*given, theirs, is_there & visible & (theirs != self.right[:, column]))  # type: ignore[misc]
        return counted.moved("exchanging queries")

    # One direction

    @cached_property
    def _attended(self) -> Float[Tensor, "input answer d_model"]:
        """Output of the last attention at the answer positions."""
        self.hooks("v")
        return seen(self.network, self.inputs, [self._writing])[self._writing][:, list(self.m.task.read_positions)]

    @property
    def _writing(self) -> str:
        return f"blocks.{len(self.network.blocks) - 1}.hook_attn_out"

    @cached_property
    def direction(self) -> Float[Tensor, " d_model"]:
        """Direction in which the output of the last attention differs most between answers, computed on half of the
        inputs.

        Raises:
            NoSuchPart: all answers of the sample are equal. NoSuchPart is also raised for a network with two outputs
                and no MLP, whose logit difference is one direction by construction.
        """
        if self.m.task.output_sizes[0] < 3 and self.network.cfg.attn_only:
            raise NoSuchPart(
                f"{self.m.name} has two outputs and no MLP, so its answer depends on one direction in any case"
            )
        half = len(self.inputs) // 2
        written, right = self._attended[:half][self.is_asked[:half]], self.right[:half][self.is_asked[:half]]
        classes = right.unique()
        if len(classes) < 2:
            raise NoSuchPart(f"all answers to {self.m.task.name} are equal")
        means = torch.stack([written[right == c].mean(dim=0) for c in classes])
        return torch.linalg.svd(means - means.mean(dim=0), full_matrices=False).Vh[0]

    def _along(self, moves: Callable[[int, int], tuple[Tensor, Tensor, Tensor]]) -> Counted:
        """Count answers on the other half of the inputs, with the last attention's output changed along `direction`.

        Args:
            moves: function from index and position of an answer to the length of each input's change, the predicted
                answer, and a mask of the inputs that count.
        """
        counted, half = Counted(), len(self.inputs) // 2
        for column, position in self.columns:
            far, foretold, counts = moves(column, position)
            step = far.unsqueeze(-1) * self.direction

            def moved(by: Tensor, position: int = position) -> Callable[[Tensor], Tensor]:
                def edit(x: Tensor) -> Tensor:
                    x[:, position] += by.to(x)
                    return x

                return edit

            given = [self._given(position, {self._writing: moved(by)}) for by in (step, as_far(step, column))]
            counts = counts & self.is_asked[:, column] & (torch.arange(len(far)) >= half)
            counted.add(*given, foretold, counts)  # type: ignore[misc]
        return counted

    @cached_property
    def along_direction(self) -> Moved:
        """Effect of taking only the component along `direction` from another input: the network should give the other
        input's answer.

        In the control for the direction, the change has equal length in a random direction.
        """
        coordinates = self._attended @ self.direction

        def moves(column: int, position: int) -> tuple[Tensor, Tensor, Tensor]:
            theirs = self.right[:, column].roll(1)
            rolled = coordinates[:, column].roll(1) - coordinates[:, column]
            return rolled, theirs, self.is_asked[:, column].roll(1) & (theirs != self.right[:, column])

        return self._along(moves).moved("exchanging one direction")

    @cached_property
    def along_mean(self) -> Moved:
        """Effect of a change along `direction` that imitates another sum: the answer should be the sign of the imitated
        sum.

        The length of the change comes from the slope of the coordinate along `direction` against the mean of the
        numbers so far. In the control for the sum, the change has equal length in a random direction.

        Raises:
            NoSuchPart: the task does not sum numbers.
        """
        task = self.m.task
        if not isinstance(task, SignOfSum):
            raise NoSuchPart(f"{task.name} is not a running sum")
        half, counts = len(self.inputs) // 2, torch.arange(1, task.n + 1)
        sums = task.numbers(self.inputs).cumsum(dim=1)
        mean = (sums / counts).double()
        coordinates = (self._attended @ self.direction).double().cpu()
        x, y = mean[:half].flatten(), coordinates[:half].flatten()
        slope = float(((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum())
        generator = torch.Generator().manual_seed(0)

        def moves(column: int, position: int) -> tuple[Tensor, Tensor, Tensor]:
            added = torch.randint(1, task.largest + 1, (len(sums),), generator=generator)
            added = torch.where(torch.rand(len(sums), generator=generator) < 0.5, -added, added)
            foretold = (sums[:, column] + added).sign() + 1
            far = (slope * added / counts[column]).to(self.direction)
            return far, foretold, foretold != self.right[:, column]

        return self._along(moves).moved("moving along the direction")

    def _given(self, position: int, edits: dict[str, Callable[[Tensor], Tensor]]) -> Int[Tensor, " input"]:
        classes = self.m.task.output_sizes[0]
        return logits_with_edits(self.network, self.inputs, position, edits)[:, :classes].argmax(dim=-1)
