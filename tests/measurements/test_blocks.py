"""Measurements in blocks of a grid are those of the whole grid."""

from __future__ import annotations

import math
from functools import cache

import pytest
import torch

from modinterp.activations import blocks, capture, on_demand
from modinterp.measurements import measure
from modinterp.models import hooked
from modinterp.models.planted import clock
from modinterp.runs import TrainedRun

P = 23


def readings() -> dict[str, float | None]:
    """Every number of a planted network with noise in its weights."""
    task, network = clock(P, (2, 5))
    generator = torch.Generator().manual_seed(0)
    weights = {
        name: w.detach() + 1e-2 * torch.randn(w.shape, generator=generator) for name, w in network.state_dict().items()
    }
    return {row.key: row.value for row in measure(TrainedRun("planted", task, hooked(network.cfg, weights))).readings()}


whole = cache(readings)


def differences(found: dict[str, float | None]) -> dict[str, tuple[float | None, float | None]]:
    def is_same(x: float | None, y: float | None) -> bool:
        if x is None or y is None:
            return x is y
        return (math.isnan(x) and math.isnan(y)) or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9)

    return {key: (x, found[key]) for key, x in whole().items() if not is_same(x, found[key])}


def test_small_blocks_change_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    whole()
    monkeypatch.setattr(blocks, "ROWS", 3 * P * P)
    monkeypatch.setattr(blocks, "COLUMNS", 5 * P * P)
    assert [len(range(P)[some]) for some in blocks.row_blocks((P, P, P))] == [3] * 7 + [2]
    found = readings()
    assert len(found) > 60
    assert not differences(found)


def test_large_activations_are_captured_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    task, network = clock(P, (2, 5))
    at_once = on_demand.all_activations(network, task)
    monkeypatch.setattr(on_demand, "INPUTS", 100)
    monkeypatch.setattr(capture, "INPUTS", 100)
    assert on_demand.size_of_all(network, task) == 8 * sum(x.numel() for x in at_once.cache_dict.values())
    monkeypatch.setattr(on_demand, "LARGE", 0)
    later = on_demand.all_activations(network, task)
    assert not dict.__len__(later.cache_dict)
    assert set(at_once.cache_dict) <= set(later.cache_dict)
    for name, x in at_once.cache_dict.items():
        assert later[name].dtype == torch.float32
        torch.testing.assert_close(later[name].double(), x, rtol=1e-4, atol=1e-3)
    with pytest.raises(KeyError):
        later.cache_dict["no such hook"]
