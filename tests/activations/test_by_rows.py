"""Tensors whose rows are computed when they are read give what ordinary tensors give, and hold nothing."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from modinterp.activations import on_demand
from modinterp.activations.by_rows import ByRows
from modinterp.activations.capture import activations
from modinterp.analyses.fourier.cosine_sums import logit_fit
from modinterp.analyses.fourier.marginals import marginals
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
