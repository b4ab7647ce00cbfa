"""Use NVIDIA's Multi-Process Service (MPS), which runs kernels of several processes on one GPU at the same time."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

DAEMON = "nvidia-cuda-mps-control"
PIPES, LOGS = "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"


@contextmanager
def shared_gpu() -> Iterator[bool]:
    """Let processes that start inside the `with` statement share the GPU by MPS; without MPS, processes take turns.

    Yields:
        True if a daemon of MPS runs. No MPS daemon runs if MPS is not installed or fails to start. If the environment
        already names an MPS daemon, that daemon is used and left running.
    """
    if PIPES in os.environ:
        yield True
        return
    if shutil.which(DAEMON) is None:
        yield False
        return
    with TemporaryDirectory() as folder:
        named = {PIPES: folder, LOGS: folder}
        if subprocess.run([DAEMON, "-d"], env=os.environ | named, capture_output=True, check=False).returncode:
            yield False
            return
        os.environ.update(named)
        try:
            yield True
        finally:
            subprocess.run([DAEMON], input=b"quit", env=os.environ, capture_output=True, check=False)
            for name in named:
                del os.environ[name]
