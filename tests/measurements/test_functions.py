"""Networks that add functions of two numbers, with circles of these functions planted, and tables that have none."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from modinterp import explain
from modinterp.explain.labels import FOURIER, WAVES
from modinterp.interventions.turning import turn, turn_of_values
from modinterp.measurements.network import NoSuchPart
from modinterp.tasks import ModularArithmetic

P, FREQS = 29, (3, 7)
Function = Callable[[Tensor], Tensor]
SUMS: dict[str, tuple[Function, Function]] = {
    "a^2 + b": (lambda n: n * n, lambda n: n),
    "squares": (lambda n: n * n, lambda n: n * n),
    "a^3 + b": (lambda n: n**3, lambda n: n),  # which renames a
    "2a^3 - b^2 + 3": (lambda n: 2 * n**3, lambda n: 3 - n * n),
}


def circles(values: Tensor) -> Tensor:
    angles = [2 * math.pi * k / P * values.double() for k in FREQS]
    return torch.stack([wave for angle in angles for wave in (angle.cos(), angle.sin())], dim=1)


class Adds(nn.Module):
    """Circles of f(a) and of g(b) in the embedding, whose angles are added."""

    def __init__(self, f: Function, g: Function) -> None:
        super().__init__()
        numbers = torch.arange(P)
        self.tok = nn.Embedding(P, 8)
        self.tok.weight = nn.Parameter(torch.cat([circles(f(numbers)), circles(g(numbers))], dim=1).float())

    def forward(self, x: Tensor) -> Tensor:
        seen = self.tok(x[:, :2])
        first, second = (torch.view_as_complex(seen[:, i, 4 * i : 4 * i + 4].reshape(-1, 2, 2)) for i in (0, 1))
        classes = torch.view_as_complex(circles(torch.arange(P)).float().view(P, 2, 2))
        return 8 * (first * second @ classes.conj().T).real


class Table(nn.Module):
    """A neuron for every pair of tokens, which gives the logits that the circles would."""

    def __init__(self, op: str) -> None:
        super().__init__()
        self.tok = nn.Embedding(P, P)
        self.tok.weight = nn.Parameter(torch.eye(P))
        waves = circles(torch.arange(P)).float()
        self.pairs = nn.Parameter(8 * waves[ModularArithmetic(P, op).answers()] @ waves.T)

    def forward(self, x: Tensor) -> Tensor:
        seen = self.tok(x[:, :2])
        neurons = (seen[:, 0, :, None] + seen[:, 1, None, :] - 1).relu()
        return neurons.flatten(1) @ self.pairs


@pytest.mark.parametrize("op", SUMS)
def test_circles_of_functions_are_turned_and_removed(op: str) -> None:
    x = explain(Adds(*SUMS[op]), op, P, equals=False, draws=99)
    assert (x.verdict.label, x.verdict.algorithm) == (FOURIER, "circles of functions")
    assert "No activation inside the network was changed" not in x.verdict.words
    functions = x.measurements.functions
    assert functions.circles == FREQS
    assert functions.values_half_turn == functions.values_accuracy_alone == 1
    assert functions.values_accuracy_without < 0.1
    assert max(functions.values_half_turn_controls.values()) < 0.15
    assert x["values_half_turn"] == 1


@pytest.mark.parametrize("op", ["a^2 + b", "a^3 + b"])
def test_a_table_of_tokens_has_nothing_half_a_step_on(op: str) -> None:
    x = explain(Table(op), op, P, equals=False, draws=99)
    assert (x["accuracy"], x.verdict.label, x.verdict.algorithm) == (1, WAVES, "")
    assert x["values_half_turn"] < 0.95
    assert "do not show that the network adds by rotating circles" in x.verdict.words


@pytest.mark.parametrize(("op", "why"), [("add", "not a sum of a function"), ("3a + 5", "only one number")])
def test_where_the_numbers_themselves_are_added_or_one_does_not_count(op: str, why: str) -> None:
    x = explain(Adds(lambda n: n, lambda n: n), "add", P, equals=False, draws=99)
    m = x.measurements
    if op != "add":
        m = explain(Adds(lambda n: 3 * n + 5, lambda n: 0 * n), op, P, equals=False, draws=99).measurements
    with pytest.raises(NoSuchPart, match=why):
        _ = m.functions.values_half_turn


def test_values_that_are_the_numbers_are_turned_as_these_are() -> None:
    numbers, angles = torch.arange(P), {k: 2 * math.pi * k / P * 0.5 for k in FREQS}
    torch.testing.assert_close(turn_of_values(numbers, P, FREQS, 0.5), turn(P, angles))
    order = torch.randperm(P, generator=torch.Generator().manual_seed(0))
    renamed = turn_of_values(order, P, FREQS, 0.5)
    torch.testing.assert_close(renamed, turn(P, angles)[order][:, order])
