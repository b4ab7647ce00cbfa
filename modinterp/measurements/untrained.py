"""Compute logits of untrained networks, for comparison with a trained network."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor

from modinterp.activations.blocks import joined
from modinterp.models import Config, indexed, initial_weights, read_logits
from modinterp.tasks import Task

DRAWS_AT_START = 19
BLOCK = 2**12  # inputs in one forward pass, whose neurons stay in a processor's cache


def untrained_logits(
    config: Config, task: Task, rows: Int[Tensor, " row"] | None = None
) -> Iterator[Float[Tensor, "*input output"]]:
    """Yield the logits of 19 untrained networks, in the task's order.

    Args:
        config: configuration of the networks.
        task: the task whose inputs are given to the networks.
        rows: indices of the task's inputs; by default all inputs, with logits in the shape of the task's grid.
    """
    inputs = task.inputs() if rows is None else task.inputs()[rows]
    last = inputs[:, -1].unique()
    indices = [indexed(config, some, last) for some in inputs.split(BLOCK)]

    def drawn(seed: int) -> Tensor:  # by the forward pass of training, several times as fast as the hooked one
        weights = initial_weights(config, seed)
        blocks = (read_logits(config, weights, index)[:, -1] for index in indices)
        found = joined(blocks, len(inputs))
        return found.unflatten(0, task.grid) if rows is None and task.grid else found

    return map(torch.no_grad()(drawn), range(DRAWS_AT_START))
