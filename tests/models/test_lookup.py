"""Looked up rows and their gradients are torch's, whatever rows are looked up and however often."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from modinterp.models.lookup import (
    Index,
    fast_index,
    fast_mixed_rows,
    fast_row_sums,
    fast_rows,
    mappable_mixed_rows,
    mappable_row_sums,
    mappable_rows,
)

PAIRS = [(fast_rows, mappable_rows), (fast_row_sums, mappable_row_sums)]
SIZES = (st.integers(1, 40), st.integers(1, 4), st.integers(1, 12), st.integers(0, 10**6))


def result_and_gradients(function, leaves: list[Tensor], index: Index, seed: int) -> list[Tensor]:
    leaves = [leaf.clone().requires_grad_() for leaf in leaves]
    out = function(*leaves, index)
    weights = torch.randn(out.shape, dtype=out.dtype, generator=torch.Generator().manual_seed(seed))
    return [out.detach(), *torch.autograd.grad((out * weights).sum(), leaves)]


def assert_same(fast, plain, leaves: list[Tensor], index: Index, seed: int) -> None:
    for ours, theirs in zip(*(result_and_gradients(f, leaves, index, seed) for f in (fast, plain)), strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(("fast", "plain"), PAIRS)
@settings(max_examples=30, deadline=None)
@given(*SIZES)
def test_rows_and_gradients_are_those_of_torch(
    fast, plain, inputs: int, per_input: int, n_rows: int, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    table = torch.randn(n_rows, 5, dtype=torch.float64, generator=generator)
    index = fast_index(torch.randint(n_rows, (inputs, per_input), generator=generator), n_rows)
    assert_same(fast, plain, [table], index, seed)


@settings(max_examples=30, deadline=None)
@given(*SIZES, st.integers(1, 4))
def test_heads_mix_rows_as_by_torch(inputs: int, per_input: int, n_rows: int, seed: int, n_heads: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    table = torch.randn(n_rows, n_heads, 3, dtype=torch.float64, generator=generator)
    pattern = torch.rand(per_input, inputs, n_heads, dtype=torch.float64, generator=generator)
    index = fast_index(torch.randint(n_rows, (inputs, per_input), generator=generator), n_rows, n_heads)
    assert_same(fast_mixed_rows, mappable_mixed_rows, [table, pattern], index, seed)


def test_places_are_listed_row_by_row_in_the_order_of_the_inputs() -> None:
    index = fast_index(torch.tensor([[2, 0], [2, 2]]), 4)
    assert index["order"].tolist() == [1, 0, 2, 3]
    assert index["starts"].tolist() == [0, 1, 1, 4]
