"""Which network is to be explained, and what it was trained on."""

from __future__ import annotations

import copy
from pathlib import Path

from modinterp.models import Network, modular_task
from modinterp.models.config import ACTIVATIONS
from modinterp.runs import TrainedRun, load, store
from modinterp.tasks import ModularArithmetic

SIGNS = {"add": 1, "sub": -1}


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
    elif Path(network).suffix in (".safetensors", *store.PICKLED):
        task = modular_task(store.read_weights(Path(network)), op or "add", p)
        return load(network, task, device=device, act_fn=act_fn)
    else:
        run = load(network, root=root, device=device)
    task = run.task
    if not isinstance(task, ModularArithmetic) or task.op not in SIGNS:
        raise ValueError(f"networks are explained that learned a + b or a - b mod p; {run.name} learned {task.name}")
    for name, wanted, there in (("op", op, task.op), ("p", p, task.p)):
        if wanted is not None and wanted != there:
            raise ValueError(f"{run.name} was trained on {task.name}, which contradicts {name} {wanted}")
    return run


def with_activation(network: Network, act_fn: str) -> Network:
    """The same weights with neurons of another kind."""
    changed = copy.deepcopy(network)
    for block in changed.blocks:
        if hasattr(block, "mlp"):
            block.mlp.act = ACTIVATIONS[act_fn]
    return changed
