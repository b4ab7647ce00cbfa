"""A core that computes is not free."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack

import pytest
import torch

from modinterp.cluster import cores as module
from modinterp.cluster.cores import cores, free_cores, set_threads


def test_busy_cores_are_not_free() -> None:
    assert 1 <= free_cores() <= cores()
    with ExitStack() as stack:
        for _ in range(cores()):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        assert min(free_cores() for _ in range(20)) == 1


def test_where_it_cannot_be_told_all_are_taken(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(module, "_TIMES", tmp_path / "none")
    assert free_cores() == cores()


@pytest.mark.parametrize(("said", "in_environment", "free", "taken"), [(3, None, 1, 3), (None, None, 2, 2),
                                                                      (None, "1", 2, None), (2, "1", 1, 2)])  # fmt: skip
def test_as_many_threads_compute_as_are_said_or_cores_are_free(
    monkeypatch, said: int | None, in_environment: str | None, free: int, taken: int | None
) -> None:
    taken_by_torch: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", taken_by_torch.append)
    monkeypatch.setattr(module, "free_cores", lambda: free)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if in_environment is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", in_environment)
    set_threads(said)
    assert taken_by_torch == ([] if taken is None else [taken])


@pytest.mark.parametrize("threads", [0, -1, 1025, 10_000_000])
def test_a_number_of_threads_that_stops_the_machine_is_refused(monkeypatch, threads: int) -> None:
    monkeypatch.setattr(torch, "set_num_threads", lambda _: pytest.fail("torch was told to begin them"))
    with pytest.raises(ValueError, match=f"from 1 to 1,024, got {threads}"):
        set_threads(threads)
