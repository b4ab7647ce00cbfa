"""Set two options that make training on a CPU faster without changing any result."""

from __future__ import annotations

import ctypes
import sys

import torch

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def prepare_cpu(threads: int | None = None) -> None:
    """Make training steps on a CPU as fast as the machine allows; call it early in the process.

    Args:
        threads: number of threads; by default the number that torch uses.

    Numbers below 1e-38 are rounded to zero. Gradients of memorised pairs contain many numbers below 1e-38, and
    arithmetic on such numbers is several times slower. Worker threads of torch adopt the rounding to zero only if it is
    set before the first parallel computation.

    The process keeps freed memory instead of returning it to the system (glibc). Every step allocates the same few
    megabytes; requesting this memory from the system each time would take a fifth of the step.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)
            mallopt(_M_MMAP_THRESHOLD, 2**30)
