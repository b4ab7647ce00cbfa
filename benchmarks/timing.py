"""What the benchmarks share: contestants that take turns, and a line that says what was compared."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import torch

import modinterp


def versions(*packages: str) -> str:
    """One line on what is measured: versions of modinterp, Python, torch and further packages, threads, processor."""
    names = {"modinterp": modinterp.__version__, "Python": platform.python_version(), "torch": torch.__version__}
    names |= {package: _version(package) for package in packages}
    threads = f"{torch.get_num_threads()} threads of {os.cpu_count()} cores, {platform.machine()}"
    return ", ".join([*(f"{name} {number}" for name, number in names.items()), threads])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Time of one call, until the GPU is done too, where there is one.

    Args:
        clock: `time.process_time` where other work on the machine should not count.
    """
    _wait_for_gpu()
    began = clock()
    work()
    _wait_for_gpu()
    return clock() - began


def _wait_for_gpu() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def alternated(
    contestants: dict[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Times of each contestant [s], one of every round; they take turns, so that a noisy machine hurts all alike.

    Args:
        clock: `time.process_time` where other work on the machine should not count.
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, work in contestants.items():
            times[name].append(seconds(work, clock))
    return times
