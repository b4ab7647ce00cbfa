"""A core that computes is not free."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack

from modinterp.cluster import cores as module
from modinterp.cluster.cores import cores, free_cores


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
