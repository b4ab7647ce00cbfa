"""How many cores of this machine have nothing to do."""

from __future__ import annotations

import os
import time
from pathlib import Path

_TIMES, _SECONDS = Path("/proc/stat"), 0.1
MOST_THREADS = 1024  # torch begins as many as it is told to, until the machine can begin no process any more


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_cores() -> int:
    """How many of these cores have nothing to do at the moment, one at least; all of them where that cannot be told."""
    if not _TIMES.is_file():
        return cores()
    before, _, after = _idle(), time.sleep(_SECONDS), _idle()
    ticks = os.sysconf("SC_CLK_TCK") * _SECONDS
    return max(1, min(cores(), round((after - before) / ticks)))


def set_threads(threads: int | None = None) -> None:
    """Let torch compute on so many threads in this process; by default on one a free core.

    OMP_NUM_THREADS, where it is set, has said so already, and is kept.

    Raises:
        ValueError: less than one, or more than any machine needs.
    """
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"--threads must be a whole number from 1 to {MOST_THREADS:,}, got {threads}")
    if threads is None and "OMP_NUM_THREADS" in os.environ:
        return
    import torch

    torch.set_num_threads(threads or free_cores())


def _idle() -> int:
    """Time for which all cores together had nothing to do since the machine began. [ticks]"""
    idle, waiting = _TIMES.read_text(encoding="utf-8").split(maxsplit=6)[4:6]
    return int(idle) + int(waiting)
