"""The step as a CUDA graph, with a graph that records and replays on the CPU: no step is lost, none is taken twice.

What the graph itself does can only be seen on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest
import torch

from modinterp.models import TransformerConfig
from modinterp.tasks import addition
from modinterp.training import ExecutionMode, Recipe, RunSpec
from modinterp.training.captured import Captured
from modinterp.training.program import Program

TASK = addition(7)
CONFIG = TransformerConfig.of(TASK, d_model=16, n_heads=2, d_head=8, d_mlp=24)


def program(batches: str) -> Program:
    recipe = Recipe(dropout=0.2, fraction=0.5, batches=batches, batch_size=0 if batches == "full" else 8)
    return Program.at_start([RunSpec(TASK, CONFIG, recipe)], torch.device("cpu"), ExecutionMode.VMAPPED)


class Stream:
    def __init__(self, device: object = None):
        self.device = device

    def wait_stream(self, other: Stream) -> None:
        pass


@pytest.mark.parametrize("batches", ["full", "shuffled", "fresh"])
@pytest.mark.parametrize("steps", [(1,), (3,), (4,), (12,), (2, 5, 1, 7)])
def test_captured_steps_are_the_same_steps(
    monkeypatch: pytest.MonkeyPatch, batches: str, steps: tuple[int, ...]
) -> None:
    plain, captured = program(batches), program(batches)
    device = torch.device("cuda")
    replayed = []

    class Graph:
        def replay(self) -> None:
            replayed.append(captured.epoch)
            captured._step()

    @contextmanager
    def recorded(_: Graph, stream: Stream) -> Iterator[None]:
        """As when a stream is captured, nothing that is run in here has happened."""
        assert stream.device == device
        state = [captured.weights, captured._epoch, *captured.optimiser.moments.values()]
        before = [x.clone() for x in state]
        yield
        for x, old in zip(state, before, strict=True):
            x.copy_(old)

    for name, fake in {"Stream": Stream, "current_stream": Stream, "stream": lambda _: nullcontext(),
                       "CUDAGraph": Graph, "graph": recorded}.items():  # fmt: skip
        monkeypatch.setattr(torch.cuda, name, fake)
    monkeypatch.setattr(captured, "_take_step", Captured(captured._step, device))
    for count in steps:
        plain.advance(count)
        captured.advance(count)
    assert torch.equal(plain.weights, captured.weights)
    assert captured.epoch == plain.epoch == sum(steps)
    assert len(replayed) == max(0, sum(steps) - 3)
