"""Tensors whose rows are computed when they are read give what ordinary tensors give, and hold nothing."""

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor

from modinterp.activations import on_demand
from modinterp.activations.blocks import mean_over_pairs, not_finite
from modinterp.activations.by_rows import ByRows, renamed
from modinterp.activations.capture import activations
from modinterp.analyses.fourier.cosine_sums import logit_fit
from modinterp.analyses.fourier.logit_sums import logit_sums
from modinterp.analyses.fourier.marginals import marginals
from modinterp.analyses.fourier.transforms import sum_means
from modinterp.models.planted import clock

P, WIDTH = 7, 5
VALUES = torch.rand(P * P, WIDTH, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def made(asked: list[slice | Tensor]) -> ByRows:
    def rows(some: slice | Tensor) -> Tensor:
        asked.append(some)
        return VALUES[some]

    return ByRows(rows, (P, P, WIDTH), 2, torch.float64)


SOME = {
    "slice": lambda x: x[2:4],
    "row": lambda x: x[-1],
    "of pairs": lambda x: x.flatten(0, 1)[4:9],
    "folded again": lambda x: x.flatten(0, 1).unflatten(0, (P, P))[3],
    "index": lambda x: x.flatten(0, 1)[torch.tensor([3, 40, 8, 8])],
    "all columns": lambda x: x[..., :WIDTH][1:2],
}
WHOLE = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(dim=-1),
    "column": lambda x: x[:, 1],
    "product": lambda x: x @ torch.eye(WIDTH, dtype=torch.float64),
}


@pytest.mark.parametrize("of", [*SOME.values(), *WHOLE.values()], ids=[*SOME, *WHOLE])
def test_rows_computed_when_read_are_those_of_the_whole(of: Callable[[Tensor], Tensor]) -> None:
    assert torch.equal(of(made([])), of(VALUES.view(P, P, WIDTH)))


@pytest.mark.parametrize(
    "of", [SOME[name] for name in ("slice", "row", "of pairs", "folded again", "index", "all columns")]
)
def test_only_rows_that_are_read_are_computed(of: Callable[[Tensor], Tensor]) -> None:
    asked: list[slice | Tensor] = []
    x = made(asked)
    assert not asked
    of(x)
    assert sum(len(VALUES[some]) for some in asked) < P * P


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("p", [7, 8])
def test_sums_of_a_product_are_those_of_the_whole_and_compute_no_row(p: int, sign: int) -> None:
    generator = torch.Generator().manual_seed(p)
    left, right = (torch.randn(*shape, generator=generator, dtype=torch.float64) + 1 for shape in ((p, p, 3), (3, p)))
    product, whole = ByRows.product(left, right), left @ right
    product.rows = lambda some: pytest.fail("a row was computed")
    same = partial(torch.testing.assert_close, rtol=1e-9, atol=1e-9)
    same(mean_over_pairs(product), mean_over_pairs(whole))
    same(sum_means(product, sign), sum_means(whole, sign))
    assert not not_finite(product.flatten(0, 1))
    for name in ("of_a", "of_b", "of_sum", "of_difference", "energy", "mean"):
        same(getattr(marginals(product), name), getattr(marginals(whole), name))
    one, other = logit_sums(product, sign), logit_sums(whole, sign)
    for name in ("by_distance", "of_class"):
        same(getattr(one, name), getattr(other, name))
    for name in ("raw", "about_mean", "by_row", "by_row_and_class"):
        assert math.isclose(getattr(one, name), getattr(other, name), rel_tol=1e-9)


def test_renamed_numbers_are_gathered_as_they_are_read() -> None:
    x, order = VALUES.view(P, P, WIDTH), torch.randperm(P, generator=torch.Generator().manual_seed(1))
    assert torch.equal(renamed(x, order)[2:4], x[order][:, order][2:4])
    torch.testing.assert_close(marginals(renamed(x, order)).products, marginals(x[order][:, order]).products)


def test_numbers_that_are_not_finite_are_found_in_a_product() -> None:
    left, right = torch.ones(3, 2), torch.ones(2, 4)
    for factor, wrong in ((left, 1), (right, 3)):
        for value in (torch.inf, torch.nan):
            factors = [each.clone() for each in (left, right)]
            factors[0 if factor is left else 1][0, 1] = value
            assert not_finite(ByRows.product(*factors)) == wrong
    assert not_finite(ByRows.product(1e25 * left, 1e25 * right)) == 3  # factors are finite, and products are not


def test_large_logits_and_inputs_of_neurons_are_computed_by_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    task, network = clock(13, (1, 4))
    whole = activations(network, task, precise=False)
    monkeypatch.setattr(on_demand, "LARGE", 0)
    monkeypatch.setattr(on_demand, "INPUTS", 1)
    found = on_demand.all_activations(network, task)
    for name, by_rows in (("logits", True), ("blocks.0.mlp.hook_pre", True), ("blocks.0.mlp.hook_post", False)):
        assert isinstance(found[name], ByRows) is by_rows
        torch.testing.assert_close(found[name][:], whole[name][:], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(
        marginals(found["logits"]).of_sum, marginals(whole["logits"]).of_sum, rtol=1e-4, atol=1e-3
    )
    fits = [logit_fit(x["logits"], (1, 4)) for x in (found, whole)]
    assert abs(fits[0].explained - fits[1].explained) < 1e-6
