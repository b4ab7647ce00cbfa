"""Processes that train on one GPU share it by NVIDIA's MPS where that is installed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from modinterp.commands import runs as command
from modinterp.runs.mps import DAEMON, PIPES, shared_gpu
from modinterp.runs.same_shape import PROCESSES_ON_GPU
from modinterp.sources import specs


def put_daemon(folder: Path, code: int) -> Path:
    """A program of the daemon's name that writes down how it is called and what it reads."""
    told = folder / "told"
    program = folder / DAEMON
    program.write_text(f'#!/bin/sh\necho "$1 ${PIPES}" >> {told}\n[ "$1" = -d ] || cat >> {told}\nexit {code}\n')
    program.chmod(0o755)
    return told


def test_a_daemon_is_started_for_the_block_and_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = put_daemon(tmp_path, 0)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv(PIPES, raising=False)
    with shared_gpu() as shares:
        assert shares
        pipes = os.environ[PIPES]
        assert Path(pipes).is_dir()
    assert PIPES not in os.environ
    assert told.read_text().split() == ["-d", pipes, pipes, "quit"]


def test_a_daemon_that_runs_already_is_used_and_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = put_daemon(tmp_path, 0)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv(PIPES, "/somewhere")
    with shared_gpu() as shares:
        assert shares
    assert os.environ[PIPES] == "/somewhere"
    assert not told.exists()


@pytest.mark.parametrize("code", [None, 1])
def test_without_a_daemon_processes_take_turns(
    code: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if code is not None:
        put_daemon(tmp_path, code)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin" if code is not None else str(tmp_path))
    monkeypatch.delenv(PIPES, raising=False)
    with shared_gpu() as shares:
        assert not shares
        assert PIPES not in os.environ


@pytest.mark.parametrize(("names", "wanted"), [(["nanda/p53-0", "nanda/p53-1"], 1), (["nanda/p53-*", "he/*"], 3)])
def test_on_a_gpu_each_shape_has_a_process(
    names: list[str], wanted: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    taken: list[tuple] = []
    monkeypatch.setattr("modinterp.training.resolved_device", lambda device: torch.device("cuda"))
    monkeypatch.setattr("modinterp.commands.runs.free_cores", lambda: 3)
    monkeypatch.setattr("modinterp.runs.distributed.train_in_processes", lambda *a: taken.append(a) or {})
    monkeypatch.setattr("modinterp.runs.train", lambda *_, **__: taken.append(()) or {})
    assert command.main(["train", *names, "--out", str(tmp_path), "--device", "cuda"]) == 0
    ((chosen, *_, device),) = [a if a else ({}, "") for a in taken]
    if wanted == 1:
        assert device == "", "one shape trains in the process itself"
        return
    assert set(chosen) == set(specs(*names))
    assert taken[0][2] == wanted <= PROCESSES_ON_GPU
    assert device == "cuda"
