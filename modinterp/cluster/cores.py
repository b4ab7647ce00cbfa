"""Count the idle cores of this machine, and set the number of threads that torch uses."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_TIMES, _SECONDS = Path("/proc/stat"), 0.1
MOST_THREADS = 1024  # torch begins as many as it is told to, until the machine can begin no process any more


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_cores() -> int:
    """Return the number of idle cores, at least one; the number of all cores if the load is unknown."""
    before, _, after = _Moment.now(), time.sleep(_SECONDS), _Moment.now()
    return after.free_since(before)


def set_threads(threads: int | None = None) -> None:
    """Set the number of torch's threads in this process; by default the number of free cores.

    If the variable OMP_NUM_THREADS is set, its number of threads is kept.

    Raises:
        ValueError: the number of threads is below 1, or larger than any machine needs.
    """
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"--threads must be a whole number from 1 to {MOST_THREADS:,}, got {threads}")
    if threads is None and "OMP_NUM_THREADS" in os.environ:
        return
    import torch

    torch.set_num_threads(threads or free_cores())


@contextmanager
def within_free_cores() -> Iterator[None]:
    """Limit torch's threads to the number of idle cores inside a `with` statement, since two threads on one core wait
    in turn.

    Use `within_free_cores` around long computations. Counting free cores takes no time: a core is free if it was idle,
    or used by this process, since the last count. If OMP_NUM_THREADS is set, or fewer threads were set before, the
    number of threads stays unchanged.
    """
    global _last, _free, _depth
    if "OMP_NUM_THREADS" in os.environ or _depth:
        yield
        return
    import torch

    if _free is None or time.monotonic() - _last.seconds >= _SECONDS:
        time.sleep(max(0.0, _last.seconds + _SECONDS - time.monotonic()))
        now = _Moment.now()
        _last, _free = now, now.free_since(_last)
    before = torch.get_num_threads()
    threads, _depth = min(before, _free), _depth + 1
    if threads < before:
        torch.set_num_threads(threads)
    try:
        yield
    finally:
        _depth -= 1
        if threads < before:
            torch.set_num_threads(before)


class _Moment(NamedTuple):
    """What the clocks of machine and process say.

    Attributes:
        seconds: time.
        idle: time for which all cores together had nothing to do; None where it cannot be told. [s]
        own: time for which this process has computed, all threads together. [s]
    """

    seconds: float
    idle: float | None
    own: float

    @classmethod
    def now(cls) -> _Moment:
        """Return the current times of all cores and of this process."""
        idle = None
        if _TIMES.is_file():
            ticks = _TIMES.read_text(encoding="utf-8").split(maxsplit=6)[4:6]  # idle, and waiting for a disk
            idle = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        return cls(time.monotonic(), idle, time.process_time())

    def free_since(self, before: _Moment) -> int:
        """Return the number of cores that were idle, or used by this process, since an earlier moment; at least one."""
        if self.idle is None or before.idle is None:
            return cores()
        free = (self.idle - before.idle + self.own - before.own) / (self.seconds - before.seconds)
        return max(1, min(cores(), round(free)))


_last, _depth = _Moment.now(), 0
_free: int | None = None  # cores, at the last look
