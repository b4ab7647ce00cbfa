"""Load trained runs by name, folder or Hub address, and load users' checkpoint files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from modinterp.activations import Spectra
from modinterp.models import ForwardPass, Network, Weights, fitting, from_state_dict
from modinterp.runs import hub, store
from modinterp.runs.recorded_results import read_recorded
from modinterp.runs.recorded_run import MARK
from modinterp.runs.run import TrainedRun, how_to_train, is_trained_here
from modinterp.runs.snapshots import Snapshots
from modinterp.runs.states import BEFORE, STATE, last_state
from modinterp.tasks import Task
from modinterp.tasks.description import TaskNotImportable
from modinterp.terminal.errors import printable
from modinterp.terminal.suggestions import suggestion
from modinterp.training import RunSpec, resolved_device

HISTORY_COLUMNS = ("epoch", "train_loss", "test_loss", "train_accuracy", "test_accuracy")


def load(
    name: str | Path,
    task: Task | None = None,
    root: str | Path | None = None,
    device: str = "cpu",
    act_fn: str = "relu",
    partial: bool = False,
    attention_rate: float = 1.0,
    causal: bool = True,
    joined: str | None = None,
    normalization_type: str | None = None,
) -> TrainedRun:
    """Load a trained run by its name or folder, or a checkpoint of yours.

    Args:
        name: a run such as `SOURCE/RUN`; the folder of a run; its address `hf://OWNER/REPO/SOURCE/RUN@REVISION` on the
            Hugging Face Hub; or a `.safetensors`, `.pt`, `.pth`, `.ckpt` or `.bin` file.
        task: for a file, the task on which its network was trained. For a run, the argument `task` is only needed if
            the class of the run's task can no longer be imported.
        root: folder in which to look for a named run, or `hf://OWNER/REPO`; `checkpoints/` by default.
        device: torch device of the network.
        act_fn, attention_rate, causal, joined, normalization_type: for a file, options of the forward pass, which no
            checkpoint stores; see `modinterp.models.ForwardPass`.
        partial: True to open a run that is still in training, at its last state.
    Raises:
        FileNotFoundError: no run or file of that name exists, or the run is still in training.
        ValueError: the file is damaged, would run code, or does not fit the task; `task` differs from the task of the
            run; the device does not exist.
    """
    path, device = Path(name), str(resolved_device(device))
    if task is not None and not isinstance(task, Task):
        raise ValueError(f"expected a task, such as modinterp.tasks.addition(113), got {task!r}")
    if path.suffix in store.READ and not hub.is_address(name):
        weights = store.read_weights(path)
        if task is None:
            raise ValueError(
                f"a file does not contain the task of its network; give the task: load({str(name)!r}, task=...)"
            )
        assumed = ForwardPass(act_fn, attention_rate, causal, joined, normalization_type)
        return TrainedRun(printable(str(name)), task, from_state_dict(weights, task, assumed).to(device))
    if root is not None and not hub.is_address(name):
        store.checked_name(str(name))
    if path.is_file():
        step = "in a script, call `mi.explain(module)` on the module itself"
        step = step if path.suffix == ".py" else "save model.state_dict() by torch.save, or give the module itself"
        raise ValueError(f"{path} is not read: weights come in {', '.join(store.READ)}; {step}")
    folder = _folder(name, root)
    run = _unfinished_run(printable(str(name)), folder, device, task) if partial else None
    if run is None and not (folder / store.RECORD).is_file() and path.is_dir():
        files = sorted(each.name for each in path.iterdir() if each.suffix in store.READ)
        some = f"{', '.join(files[:3])}{', ...' * (len(files) > 3)}"
        step = f"name one of its files of weights: {some}" if files else "it holds no file of weights; name another"
        raise FileNotFoundError(f"{path} is a folder without a trained run; {step}")
    if run is None and not (folder / store.RECORD).is_file():
        raise FileNotFoundError(f"no trained run in {folder}{_how_to_have(str(name), folder, root, task)}")
    run = run or _finished_run(printable(str(name)), folder, device, task)
    if task is not None and task != run.task:
        raise ValueError(f"{name} was trained on {run.task.name}, not on {task.name}")
    return run


def _folder(name: str | Path, root: str | Path | None) -> Path:
    """Return the folder of a run, given its address, folder or name; a run on the Hub is downloaded."""
    if hub.is_address(name):
        return hub.fetched_run(hub.Address.parsed(str(name)))
    if root is None and any((Path(name) / file).is_file() for file in (store.RECORD, STATE, BEFORE)):
        return Path(name)
    where = store.published() if root is None else root
    if hub.is_address(where):
        return hub.fetched_run(replace(hub.Address.parsed(str(where)), run=str(name)))
    return Path(where) / name


def _how_to_have(name: str, folder: Path, root: str | Path | None, task: Task | None) -> str:
    """Return advice on how to get a missing run, as text that ends an error message."""
    if (begun := last_state(folder, task)) is not None:
        _, state = begun
        return f"; the run is in training, at epoch {state.epoch:,}: load(..., partial=True) opens it"
    if is_trained_here(name):
        return f"; {how_to_train(name)}"
    if (folder / MARK).is_file():
        return "; `mi.record` wrote it, without its module: in your script, call `mi.explain(recorded.run())`"
    shipped = store.published()
    if root is not None and isinstance(shipped, Path) and (shipped / name / store.RECORD).is_file():
        return f"; the run lies in {shipped}: give this folder as --runs, or as root"
    where = Path(root or shipped)
    recorded = (path.parent.relative_to(where).as_posix() for path in where.rglob(MARK))
    alike = suggestion(name, [*store.run_names(where), *recorded])
    return f"{alike}; `python -m modinterp.runs list` shows what can be trained"


def _spec(folder: Path, record: dict[str, Any], task: Task | None) -> RunSpec:
    """Read the spec of a finished run from its `run.json`."""
    try:
        return RunSpec.from_json(record["spec"], task)
    except TaskNotImportable:
        raise
    except ValueError as error:
        writer = record.get("versions", {}).get("modinterp") if isinstance(record.get("versions"), dict) else None
        by = "another version" if writer is None else f"version {printable(str(writer))}"
        told = f"modinterp {version('modinterp')} cannot read {folder / store.RECORD}, which {by} wrote"
        raise ValueError(f"{told}: {error}") from error


def _network(folder: Path, record: dict[str, Any], spec: RunSpec) -> Network | None:
    """Load the network of a finished run; None if its weights are not shipped."""
    if store.FINAL not in record["sha256"]:
        return None
    weights = store.read_weights(store.verify(folder, record, store.FINAL))
    try:
        return fitting(weights, spec.model, spec.task)
    except ValueError as error:
        raise ValueError(
            f"the network in {folder / store.FINAL} differs from the one that run.json describes: {error}"
        ) from error


def _spectra(path: Path, task: Task) -> Spectra:
    """Read a run's log of activation spectra.

    Raises:
        ValueError: the log is damaged, or its grid differs from the task's inputs.
    """
    spectra = store.read_spectra(path)
    if spectra.grid != task.grid:
        raise ValueError(f"the spectra in {path} belong to other inputs than those of {task.name}")
    return spectra


def _verified_snapshot(folder: Path, record: dict[str, Any], paths: Mapping[int, str], epoch: int) -> Weights:
    return store.read_weights(store.verify(folder, record, paths[epoch]))


def _unverified_snapshot(folder: Path, epoch: int) -> Weights:
    return store.read_weights(store.snapshot_path(folder, epoch))


def _finished_run(name: str, folder: Path, device: str, task: Task | None) -> TrainedRun:
    """Load the finished run in a folder; each file's checksum is compared with `run.json` before the file is read."""
    record = store.read_record(folder)
    spec = _spec(folder, record, task)
    for file in record["sha256"]:
        store.check_there(folder, file)
    network = _network(folder, record, spec)
    paths = {epoch: str(store.snapshot_path(Path(), epoch)) for epoch in store.snapshot_epochs(folder)}
    recorded = {epoch: path for epoch, path in paths.items() if path in record["sha256"]}
    if recorded:  # the last of them is the final weights
        recorded.setdefault(record["epoch"], store.FINAL)

    def table(name: str, columns: tuple[str, ...] = ("epoch",)) -> pd.DataFrame | None:
        listed = next((x for x in (name, name + store.PACKED) if x in record["sha256"]), None)
        return None if listed is None else store.read_numbers(store.verify(folder, record, listed), columns)

    history = table(store.HISTORY, HISTORY_COLUMNS)
    if history is None:
        raise ValueError(f"{folder / store.RECORD} does not list {store.HISTORY}")
    has_spectra, measured = store.SPECTRA in record["sha256"], store.MEASURED + store.PACKED
    return TrainedRun(
        name,
        spec.task,
        None if network is None else network.to(device),
        spec,
        history,
        Snapshots(sorted(recorded), partial(_verified_snapshot, folder, record, recorded)),
        table(store.PROGRESS),
        _spectra(store.verify(folder, record, store.SPECTRA), spec.task) if has_spectra else None,
        store.recorded_outcome(record),
        read_recorded(store.verify(folder, record, measured)) if measured in record["sha256"] else None,
    )


def _unfinished_run(name: str, folder: Path, device: str, task: Task | None) -> TrainedRun | None:
    """Load the unfinished run in a folder at its last state; None if no state is later than the finished run."""
    begun = last_state(folder, task)
    if begun is None:
        return None
    spec, state = begun
    if (folder / store.RECORD).is_file() and store.read_record(folder)["epoch"] >= state.epoch:
        return None
    epochs = [epoch for epoch in store.snapshot_epochs(folder) if epoch <= state.epoch]
    spectra = _spectra(folder / store.SPECTRA, spec.task) if (folder / store.SPECTRA).is_file() else None
    return TrainedRun(
        name,
        spec.task,
        fitting(state.weights, spec.model, spec.task).to(device),
        spec,
        pd.DataFrame(list(state.history)),
        Snapshots(epochs, partial(_unverified_snapshot, folder)),
        spectra=None if spectra is None else spectra.before(state.epoch + 1),
        in_training=True,
    )
