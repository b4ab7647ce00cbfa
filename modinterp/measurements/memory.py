"""Check that all activations of a network on all inputs fit into the memory of this machine."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from math import prod
from pathlib import Path

from modinterp.activations.on_demand import has_narrow_logits
from modinterp.models import Network
from modinterp.tasks import Task, cyclic

WHERE_UNKNOWN = 16 * 2**30  # bytes that are taken as free where the system does not say
OTHERS, BLOCKS = 64, 2**29  # numbers of attention for each input; bytes of blocks that are held at a time
WORTH_TELLING = 2**30  # bytes; what takes more is announced
_GROUPS = Path("/sys/fs/cgroup")  # where Linux says what a container may use


def check_memory(name: str, task: Task, network: Network) -> None:
    """Raise ValueError if the activations on all inputs would take more memory than is free.

    A message on stderr announces a need of more than 1 GiB.

    Args:
        name: name of the network, for the error message.
        task: a task with one answer for each input of a grid.
        network: the network whose activations are needed.
    """
    inputs, needed, free = prod(task.grid or ()), needed_memory(task, network), free_memory()
    if needed > free:
        raise ValueError(
            f"all {inputs:,} inputs of {name} would take {needed / 2**30:,.1f} GiB of memory, more than "
            f"the {free / 2**30:,.1f} that are free; end other programs, or use a machine with more memory"
        )
    if needed > WORTH_TELLING:
        print(
            f"{name} takes up to {needed / 2**30:,.1f} GiB of memory; {free / 2**30:,.1f} GiB are free", file=sys.stderr
        )


def needed_memory(task: Task, network: Network) -> int:
    """Estimate the memory for the measurements of a network [bytes]; tests used 75 to 100% of the estimate.

    The estimated memory is the smaller of two numbers of bytes. The first number is the size of all activations in
    float64. The second number, for addition and similar tasks, is the size of logits and neurons in float32, computed
    in blocks. Logits of more than 1 GiB are computed from the residual stream at each access.
    """
    c, inputs, classes = network.cfg, prod(task.grid or ()), task.output_sizes[0]
    d_model, neurons = getattr(c, "d_model", 0), getattr(c, "d_mlp", 0) or 0
    at_once = 8 * (inputs * c.n_ctx * c.n_layers * (6 * d_model + 2 * neurons) + 6 * inputs * classes)
    if cyclic(task) is None:
        return at_once
    kept = d_model if has_narrow_logits(network, inputs) else classes
    return min(at_once, 4 * inputs * (kept + neurons * c.n_layers + OTHERS) + BLOCKS)


def free_memory() -> int:
    """Return the memory that this process can still allocate [bytes], on the machine and in its container."""
    return min([_free_on_machine(), *_free_in_groups()])


def _free_on_machine() -> int:
    with suppress(OSError, ValueError, IndexError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    with suppress(OSError, ValueError, AttributeError):  # macOS says how much there is, not how much is free
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return WHERE_UNKNOWN


def _free_in_groups() -> list[int]:
    """Yield the free memory [bytes] within each limit of a container."""
    found = []
    newer, older = ("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes")
    for limit, used in (newer, older):
        with suppress(OSError, ValueError):  # no such group, or no limit, which is the word max
            most, taken = (int((_GROUPS / name).read_text(encoding="utf-8")) for name in (limit, used))
            stat = (_GROUPS / limit).with_name("memory.stat").read_text(encoding="utf-8").splitlines()
            cached = next((int(line.split()[1]) for line in stat if line.startswith("inactive_file ")), 0)
            found.append(max(0, most - taken + cached))
    return found
