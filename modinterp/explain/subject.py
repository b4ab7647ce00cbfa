"""Which network is to be explained, and what it was trained on."""

from __future__ import annotations

import copy
from pathlib import Path

from modinterp.models import Network, modular_task
from modinterp.models.config import ACTIVATIONS
from modinterp.runs import TrainedRun, load, store
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
    """A run, a run's name, or a file of weights, as a run whose task is known.

    Args:
        op: `add` or `sub`; addition by default for a file, and a run knows.
        p: the modulus; read off the shapes of a file by default, and a run knows.
        act_fn: for a file, the nonlinearity of its neurons.
        root: folder to look for a named run in.
    Raises:
        FileNotFoundError, ValueError: as `modinterp.load`; an operation that is not explained here; one or a modulus
            other than the run's.
    """
    if op not in (None, *SIGNS):
        raise ValueError(f"networks are explained that learned {' or '.join(SIGNS)}, not {op!r}")
    if isinstance(network, TrainedRun):
        run = network
    elif Path(network).suffix in store.READ:
        task = modular_task(store.read_weights(Path(network)), op or "add", p)
        return _of_bearable_size(load(network, task, device=device, act_fn=act_fn), task.p)
    else:
        run = load(network, root=root, device=device)
    task = run.task
    if not isinstance(task, ModularArithmetic) or task.op not in SIGNS:
        raise ValueError(f"networks are explained that learned a + b or a - b mod p; {run.name} learned {task.name}")
    for name, wanted, there in (("op", op, task.op), ("p", p, task.p)):
        if wanted is not None and wanted != there:
            raise ValueError(f"{run.name} was trained on {task.name}, which contradicts {name} {wanted}")
    return _of_bearable_size(run, task.p)


def _of_bearable_size(run: TrainedRun, p: int) -> TrainedRun:
    """The run, if every activation on all its pairs fits into memory.

    Raises:
        ValueError: it does not.
    """
    c = run.model.cfg
    numbers = p**2 * c.n_ctx * c.n_layers * (6 * c.d_model + 2 * (c.d_mlp or 0)) + 6 * p**3
    if 8 * numbers > MOST_MEMORY:
        raise ValueError(f"all {p**2:,} pairs of {run.name} would take {8 * numbers / 2**30:,.0f} GiB of memory, more "
                         f"than the {MOST_MEMORY / 2**30:.0f} that are spent on one network")  # fmt: skip
    return run


def with_activation(network: Network, act_fn: str) -> Network:
    """The same weights with neurons of another kind."""
    changed = copy.deepcopy(network)
    for block in changed.blocks:
        if hasattr(block, "mlp"):
            block.mlp.act = ACTIVATIONS[act_fn]
    return changed
