"""Which network is to be explained, and what it was trained on."""

from __future__ import annotations

import copy
from pathlib import Path

from modinterp.models import Network, modular_task
from modinterp.models.config import ACTIVATIONS
from modinterp.runs import TrainedRun
from modinterp.runs.weights import READ, read_weights
from modinterp.sources import load
from modinterp.tasks import ModularArithmetic
from modinterp.tasks.modular import SIGNS

MOST_MEMORY = 16 * 2**30  # bytes


def subject(
    network: TrainedRun | str | Path,
    op: str | None = None,
    p: int | None = None,
    act_fn: str = "relu",
    device: str = "cpu",
    root: str | Path | None = None,
) -> TrainedRun:
    """The network to be explained, from a run, a run's name or a file of weights, as a run whose task is known.

    Args:
        op: `add` or `sub`; addition by default for a file, and a run knows.
        p: the modulus; taken from the shapes of a file by default, and a run knows.
        act_fn: for a file, the nonlinearity of its neurons.
        device: where the network is to live.
        root: folder to look for a named run in.
    Raises:
        FileNotFoundError: there is no such run or file.
        ValueError: as `modinterp.load`; a run that came without its weights; an operation that is not explained here;
            an operation or a modulus other than the run's; more pairs than fit into memory.
    """
    if op not in (None, *SIGNS):
        raise ValueError(f"networks are explained that learned {' or '.join(SIGNS)}, not {op!r}")
    if isinstance(network, TrainedRun):
        run = network
    elif Path(network).suffix in READ:
        task = modular_task(read_weights(Path(network)), op or "add", p)
        return _within_memory(load(network, task, device=device, act_fn=act_fn), task.p)
    else:
        run = load(network, root=root, device=device)
    task = run.task
    if not isinstance(task, ModularArithmetic) or task.op not in SIGNS:
        raise ValueError(f"networks are explained that learned a + b or a - b mod p; {run.name} learned {task.name}")
    for name, wanted, actual in (("op", op, task.op), ("p", p, task.p)):
        if wanted is not None and wanted != actual:
            raise ValueError(f"{run.name} was trained on {task.name}, which contradicts {name} {wanted}")
    return _within_memory(run, task.p)


def _within_memory(run: TrainedRun, p: int) -> TrainedRun:
    """The run itself, if every activation on all its pairs fits into memory.

    Raises:
        ValueError: it does not, or the run came without its weights.
    """
    c = run.network.cfg
    size = 8 * (p**2 * c.n_ctx * c.n_layers * (6 * c.d_model + 2 * (c.d_mlp or 0)) + 6 * p**3)  # bytes, in float64
    if size > MOST_MEMORY:
        raise ValueError(
            f"all {p**2:,} pairs of {run.name} would take {size / 2**30:,.0f} GiB of memory, more than the "
            f"{MOST_MEMORY / 2**30:.0f} that are spent on one network"
        )
    return run


def with_activation(network: Network, act_fn: str) -> Network:
    """The same weights with neurons of another kind."""
    changed = copy.deepcopy(network)
    for block in changed.blocks:
        if hasattr(block, "mlp"):
            block.mlp.act = ACTIVATIONS[act_fn]
    return changed
