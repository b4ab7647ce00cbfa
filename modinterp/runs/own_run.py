"""Open a network that was trained elsewhere as a run, with its snapshots, split and history."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from modinterp.models import ForwardPass, Network, Weights, Wrapped, fitting, from_state_dict
from modinterp.models.call_search import calling_of
from modinterp.runs.run import TrainedRun
from modinterp.runs.series import WeightsOfEpochs
from modinterp.runs.snapshots import Snapshots
from modinterp.runs.store import READ
from modinterp.runs.weights import read_weights
from modinterp.tasks import Split, Task

_NUMBER = re.compile(r"\d+")
Rows = Tensor | Sequence[int] | Sequence[bool]


def run(
    network: nn.Module | Callable[[], nn.Module] | Mapping[str, Tensor],
    task: Task,
    *,
    snapshots: Mapping[int, Mapping[str, Tensor] | str | Path] | str | Path | None = None,
    train: Rows | None = None,
    history: pd.DataFrame | None = None,
    name: str = "own run",
    hooks: Mapping[str, str] | None = None,
    inputs: str | None = None,
    tokens: str | Callable[..., Any] | None = None,
    forward: ForwardPass | None = None,
) -> TrainedRun:
    """Make a run from your own training, for progress measures, phases, film, `measure`, `explain` and `compare`.

    Use `run` for a training in any loop outside modinterp. For a training by modinterp, `mi.load` returns the run.

    >>> import torch, modinterp as mi
    >>> task = mi.tasks.addition(13)
    >>> model = torch.nn.Sequential(torch.nn.Embedding(14, 8), torch.nn.Flatten(), torch.nn.Linear(24, 13))
    >>> mine = mi.run(model, task, snapshots={0: model.state_dict()}, train=range(50))
    >>> len(mine.split.train), list(mine.snapshots)
    (50, [0])

    Args:
        network: your module, a function without arguments that returns a module, or a state dict in a known layout.
        task: the task on which the network was trained, such as `mi.tasks.addition(113)`.
        snapshots: a dict from epoch to state dict or file; or a folder of files with the epoch in their names, as
            `step_1000.pt`; or one file with several state dicts, as `{"state_dicts": [...], "epochs": [...]}`.
        train: training inputs of the network, as indices into `task.inputs()` or as a mask over all inputs.
        history: table with one row per logged epoch, and columns `epoch` and any of `train_loss`, `test_loss` [nats],
            `train_accuracy`, `test_accuracy`. By default the history is measured at the snapshots, if `train` is given.
        name: name of the run.
        hooks, inputs, tokens: for a module, its hooks and input format; see `explain`.
        forward: for a state dict, options of its forward pass.
    Raises:
        FileNotFoundError: a file or folder does not exist.
        ValueError: a snapshot does not fit the network; the mask has another length, or an index is out of range; the
            folder has no snapshots, or the history has no epochs.
    """
    opened, reopened = _opened(network, task, hooks, inputs, tokens, forward)
    kept = _snapshots(snapshots, reopened)
    split = None if train is None else own_split(task, train)
    made = TrainedRun(name, task, opened, snapshots=kept, own_split=split, reopened=reopened)
    made.history = _measured_history(made) if history is None else _checked_history(history)
    return made


def own_split(task: Task, train: Rows) -> Split:
    """Return the split into the given training inputs of a network and all other inputs.

    Args:
        task: the task of the network.
        train: training inputs, as indices into `task.inputs()`, or as a mask over all inputs or over the grid.
    Raises:
        ValueError: the mask has another length, or an index is out of range or occurs twice.
    """
    count, rows = len(task.inputs()), torch.as_tensor(train if isinstance(train, Tensor) else list(train)).flatten()
    if rows.dtype == torch.bool:
        if len(rows) != count:
            raise ValueError(f"the mask `train` has {len(rows):,} entries; {task.name} has {count:,} inputs")
        rows = rows.nonzero().flatten()
    rows = rows.long()
    if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < count:
        raise ValueError(f"`train` has rows from {int(rows.min())} to {int(rows.max())}; inputs are 0 to {count - 1:,}")
    if len(rows.unique()) != len(rows):
        raise ValueError("`train` lists a row twice")
    held_out = torch.ones(count, dtype=torch.bool)
    held_out[rows] = False
    return Split(rows, held_out.nonzero().flatten())


def _opened(
    network: Any,
    task: Task,
    hooks: Mapping[str, str] | None,
    inputs: str | None,
    tokens: str | Callable[..., Any] | None,
    forward: ForwardPass | None,
) -> tuple[Network, Callable[[Weights], Network]]:
    """Return the network with modinterp's hook names, and a function that builds such a network from other weights."""
    if isinstance(network, Mapping):
        weights, assumed = dict(network), forward or ForwardPass()
        return from_state_dict(weights, task, assumed), lambda other: from_state_dict(other, task, assumed)
    if isinstance(network, Network):
        return network, lambda weights: fitting(weights, network.cfg, task)
    module: nn.Module = network if isinstance(network, nn.Module) else network()
    if not isinstance(module, nn.Module):
        raise ValueError(
            f"expected a module, a function that returns a module, or a state dict, got {type(module).__name__}"
        )
    wrapped = Wrapped(module, task, calling_of(module, task, inputs, tokens), hooks)

    def of_weights(weights: Weights) -> Network:
        other = copy.deepcopy(module)
        try:
            other.load_state_dict(dict(weights))
        except RuntimeError as error:
            raise ValueError(f"a snapshot does not fit the network: {' '.join(str(error).split())[:200]}") from None
        return Wrapped(other, task, wrapped.cfg.calling, wrapped.cfg.hooks)

    return wrapped, of_weights


def _snapshots(given: Any, reopened: Callable[[Weights], Network]) -> Mapping[int, Weights]:
    """Map each epoch to its weights, sorted by epoch; each file is read on access."""
    if given is None:
        return {}
    if isinstance(given, str | Path):
        given = WeightsOfEpochs(Path(given)) if Path(given).is_file() else _files(Path(given))
    by_epoch = {int(epoch): epoch for epoch in sorted(given, key=int)}

    def read(epoch: int) -> Weights:
        one = given[by_epoch[epoch]]
        return read_weights(Path(one)) if isinstance(one, str | Path) else dict(one)

    found = Snapshots(list(by_epoch), read)
    for epoch in list(by_epoch)[:1] + list(by_epoch)[1:][-1:]:  # the first and the last show whether they fit
        try:
            reopened(found[epoch])
        except ValueError as error:
            raise ValueError(f"the snapshot of epoch {epoch:,} does not fit: {error}") from error
    return found


def _files(folder: Path) -> dict[int, Path]:
    """Map epochs to the files in a folder of snapshots; the epoch is the last number in a file's name."""
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    files = {path: _NUMBER.findall(path.stem) for path in sorted(folder.iterdir()) if path.suffix in READ}
    found = {int(numbers[-1]): path for path, numbers in files.items() if numbers}
    if not found:
        raise ValueError(f"{folder} holds no snapshots such as step_1000.pt; it has {len(files)} files of weights")
    if len(found) < sum(map(bool, files.values())):
        raise ValueError(f"two files in {folder} have the same number; pass snapshots={{epoch: file}}")
    return found


def _checked_history(history: pd.DataFrame) -> pd.DataFrame:
    if "epoch" not in history:
        raise ValueError(f"the history has no column `epoch`; it has {', '.join(map(str, history.columns)) or 'none'}")
    return history.sort_values("epoch").reset_index(drop=True)


def _measured_history(made: TrainedRun) -> pd.DataFrame:
    """Measure losses [nats] and accuracies at every snapshot, if the split is known."""
    from modinterp.activations import logits_on_grid
    from modinterp.training import accuracy, cross_entropy

    if not made.knows_split or not made.snapshots or made.task.grid is None:
        return pd.DataFrame()
    labels, split, rows = made.task.labels(), made.split, []
    for epoch in made.snapshots:
        network = made.at(epoch)
        logits = logits_on_grid(network, made.task).flatten(0, -2).double().cpu()
        row: dict[str, float] = {"epoch": epoch}
        for part, some in (("train", split.train), ("test", split.test)):
            answers = labels[some, 0]
            row[f"{part}_loss"] = float(cross_entropy(logits[some], answers)) if len(some) else float("nan")
            row[f"{part}_accuracy"] = float(accuracy(logits[some], answers)) if len(some) else float("nan")
        row["sum_of_squares"] = float(sum(w.detach().double().square().sum() for w in network.parameters()))
        rows.append(row)
    return pd.DataFrame(rows)
