"""Whether every activation of a network, on all its inputs, fits into memory."""

from __future__ import annotations

from math import prod

from modinterp.models import Network
from modinterp.tasks import Task

MOST_MEMORY = 16 * 2**30  # bytes


def check_memory(name: str, task: Task, network: Network) -> None:
    """Raise ValueError where the activations on all inputs would take more than `MOST_MEMORY`.

    Args:
        task: with one answer over a grid of inputs.
        name: of the network, for the message.
    """
    c, inputs, classes = network.cfg, prod(task.grid or ()), task.output_sizes[0]
    width = 6 * getattr(c, "d_model", 0) + 2 * (getattr(c, "d_mlp", 0) or 0)
    size = 8 * (inputs * c.n_ctx * c.n_layers * width + 6 * inputs * classes)  # bytes, in float64
    if size > MOST_MEMORY:
        raise ValueError(
            f"all {inputs:,} inputs of {name} would take {size / 2**30:,.0f} GiB of memory, more than the "
            f"{MOST_MEMORY / 2**30:.0f} that are spent on one network"
        )
