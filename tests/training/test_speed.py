"""A training that is far too slow for this machine is told so, with a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from modinterp.models import TransformerConfig
from modinterp.runs import train
from modinterp.runs import trainer as trainer_module
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec, speed

TASK = addition(5)
SPEC = RunSpec(
    TASK, TransformerConfig.of(TASK, d_model=8, n_heads=2, d_head=4, d_mlp=12), Recipe(epochs=6, log_every=2)
)


def test_a_machine_of_twice_the_rate_is_expected_to_be_faster() -> None:
    one, other = (speed.expected_seconds([SPEC], rate) for rate in (1e6, 2e6))
    assert one - speed._OVERHEAD == pytest.approx(2 * (other - speed._OVERHEAD))
    assert speed.expected_seconds([SPEC, SPEC], 1e6) == pytest.approx(2 * one)
    assert speed.rate_of_products() > 1e8


@pytest.mark.parametrize(
    ("threads", "free", "said"), [(2, 1, "--threads 1 is faster"), (1, 1, "other programs may use")]
)
def test_why_a_training_is_slow(monkeypatch: pytest.MonkeyPatch, threads: int, free: int, said: str) -> None:
    monkeypatch.setattr(speed, "free_cores", lambda: free)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    assert said in speed.slowness(0.4, 0.1)
    assert not speed.slowness(0.2, 0.1)


@pytest.mark.parametrize(("expected", "times"), [(1e-9, 1), (1e3, 0)])
def test_a_slow_training_says_so_once(tmp_path, capsys, monkeypatch, expected: float, times: int) -> None:
    monkeypatch.setattr(trainer_module, "SPEED_AFTER", 0.0)
    monkeypatch.setattr(trainer_module, "expected_seconds", lambda specs, rate: expected)
    train({"mine/run": replace(SPEC)}, tmp_path, "cpu", progress=False)
    assert capsys.readouterr().err.count("mine/run: an epoch takes") == times
