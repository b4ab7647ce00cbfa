"""Keep a GPU busy with small kernels: launch hundreds of kernels at once, and run several computations in parallel."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch

_WARM_UP = 3  # calls before one is captured as a graph
_STREAMS = 16  # more were no faster with 64 runs


def beside_one_another(calls: Sequence[Callable[[], Any]], device: torch.device) -> list[Any]:
    """Call several functions and return their results; on a GPU, the calls run on parallel streams at the same time.

    Args:
        device: the device of the computations. The inputs of the functions must be ready on the current CUDA stream.
    """
    if device.type != "cuda":
        return [call() for call in calls]
    current, results = torch.cuda.current_stream(device), []
    streams = _streams(device)[: len(calls)]
    for stream in streams:
        stream.wait_stream(current)
    for i, call in enumerate(calls):
        with torch.cuda.stream(streams[i % len(streams)]):
            results.append(call())
    for stream in streams:
        current.wait_stream(stream)
    return results


@cache
def _streams(device: torch.device) -> list[torch.cuda.Stream]:
    return [torch.cuda.Stream(device) for _ in range(_STREAMS)]


class Captured:
    """A function without arguments that is captured after a few calls, and then replayed as a CUDA graph.

    The function must read and change the same tensors in each call, and must not read their values into Python. The
    next call of the captured function overwrites the returned tensors.
    """

    def __init__(self, function: Callable[[], Any], device: torch.device):
        """Create the captured function without computing anything.

        Args:
            device: a GPU.
        """
        self.function, self.device = function, device
        self._until_captured = _WARM_UP
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result: Any = None

    def __call__(self) -> Any:
        """Compute the function once."""
        if self._until_captured:
            self._until_captured -= 1
            return self._aside()
        if self._graph is None:
            gc.collect()  # a graph that is no longer needed must not go while another is captured
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph, stream=torch.cuda.Stream(self.device)):
                self._result = self.function()
        self._graph.replay()
        return self._result

    def _aside(self) -> Any:
        """Call the function without capture, on a separate stream, as CUDA requires before a capture."""
        current, side = torch.cuda.current_stream(self.device), torch.cuda.Stream(self.device)
        side.wait_stream(current)
        with torch.cuda.stream(side):
            result = self.function()
        current.wait_stream(side)
        return result
