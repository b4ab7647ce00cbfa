"""A core that computes is not free, and nothing takes more threads than cores are."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack

import pytest
import torch

from modinterp.cluster import cores as module
from modinterp.cluster.cores import cores, free_cores, set_threads, within_free_cores


def test_busy_cores_are_not_free() -> None:
    assert 1 <= free_cores() <= cores()
    with ExitStack() as stack:
        for _ in range(cores()):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        assert any(free_cores() == 1 for _ in range(20))


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


@pytest.mark.parametrize(
    ("idle", "own", "threads"), [(1.0, 0.0, 1), (0.5, 1.4, 2), (2.0, 0.0, 2), (0.0, 0.0, 1), (None, 0.0, 2)]
)
def test_no_more_threads_than_cores_are_free_for_a_while(
    monkeypatch, idle: float | None, own: float, threads: int
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(module, "cores", lambda: 2)
    monkeypatch.setattr(module, "_last", module._Moment(0.0, 0.0, 0.0))
    monkeypatch.setattr(module._Moment, "now", lambda: module._Moment(1.0, idle, own))
    taken: list[int] = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr(torch, "set_num_threads", taken.append)
    with within_free_cores(), within_free_cores():
        assert taken == [threads] * (threads < 2)
    assert taken == [threads, 2] * (threads < 2)


def test_what_was_said_of_threads_is_not_overruled(monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(torch, "set_num_threads", lambda _: pytest.fail("torch was told otherwise"))
    with within_free_cores():
        pass


EXPLAINS = """
import time
import torch, modinterp as mi
from modinterp.models.planted import clock
from modinterp.runs import TrainedRun
from modinterp.cluster.cores import cores

def seconds(threads):
    torch.set_num_threads(threads)
    began = time.perf_counter()
    mi.explain(TrainedRun("planted", *clock(59, (3, 11, 20))), draws=99)
    return time.perf_counter() - began

mi.explain(TrainedRun("warm", *clock(23, (3, 5))), draws=99)
for _ in range(2):
    print(seconds(1), seconds(cores()))
"""


@pytest.mark.skipif(cores() < 2, reason="one core is both busy and free")
def test_beside_other_work_an_explanation_takes_the_time_of_one_thread() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}

    with ExitStack() as stack:
        for _ in range(cores() - 1):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(busy.kill)
        command = [sys.executable, "-c", EXPLAINS]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    rounds = [map(float, line.split()) for line in done.stdout.splitlines()]
    alone, by_default = (min(times) for times in zip(*rounds, strict=True))
    assert by_default <= 1.5 * alone
