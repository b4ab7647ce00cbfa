"""Write and read the two latest states of a training, from which the training can resume.

The states lie in the folder of the run::

    SOURCE/RUN/state.safetensors     weights, optimiser moments and history
               before.safetensors    the same of the state before that one
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from safetensors import SafetensorError
from torch import Tensor

from modinterp.runs.damage import Damage
from modinterp.runs.store import OTHER_SETTINGS, Guard, history_bytes, table_from_csv, write_weights
from modinterp.runs.weights import first_line, read_safetensors
from modinterp.tasks import Task
from modinterp.tasks.description import TaskNotImportable
from modinterp.training import Outcome, RunSpec, TrainingState

STATE, BEFORE = "state.safetensors", "before.safetensors"


def digest(tensors: dict[str, Tensor], metadata: dict[str, str]) -> str:
    """Return a checksum of the tensors and metadata of a file, in hexadecimal."""
    sum_of_all = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        sum_of_all.update(name.encode() + tensors[name].contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return sum_of_all.hexdigest()


@dataclass(frozen=True)
class WrittenState:
    """A complete training state on disk.

    Attributes:
        file: name of the file.
        seconds: training time until the state. [s]
        files: map from the name of each file written before the state to the file's checksum. For the log of spectra,
            the checksum covers the entries of the log. The value of `files` is None for states of earlier versions,
            which list no files.
    """

    file: str
    spec: RunSpec
    state: TrainingState
    seconds: float
    files: dict[str, str] | None


def write_state(
    folder: Path,
    spec: RunSpec,
    state: TrainingState,
    seconds: float,
    files: Mapping[str, str] | None = None,
    before: Guard = None,
) -> None:
    """Write the state from which a training can continue; the previous state is kept in a second file.

    Runs that train together are written one after the other. If the process is killed while it writes, some runs have
    the new state, and all runs have the previous state. The `run.json` of a finished run and the files listed in it do
    not change.

    Args:
        files: map from the name of each written file to its checksum; see `WrittenState`.
    """
    if before is not None:
        before()
    if (folder / STATE).is_file():
        os.replace(folder / STATE, folder / BEFORE)
    history = history_bytes(state)
    tensors = {f"weights/{name}": w for name, w in state.weights.items()} | state.moments
    metadata = {
        "epoch": str(state.epoch),
        "spec": json.dumps(spec.to_json(), sort_keys=True),
        "ended": "" if state.ended is None else json.dumps(state.ended.to_json()),
        "seconds": repr(seconds),
        "history": history.decode(),
    }
    if files is not None:
        metadata["files"] = json.dumps(files, sort_keys=True)
    write_weights(folder / STATE, tensors, metadata | {"sha256": digest(tensors, metadata)}, before)


def step_back(folder: Path) -> None:
    """Replace the last state by the state before it."""
    os.replace(folder / BEFORE, folder / STATE)


def read_states(folder: Path, spec: RunSpec) -> tuple[list[WrittenState], list[Damage]]:
    """Return the undamaged states in a folder, newest first, and the damage of the other states.

    Raises:
        ValueError: a state belongs to another spec.
    """
    written, damages = [], []
    for name in (STATE, BEFORE):
        try:
            one = read_state(folder / name, spec.task)
        except FileNotFoundError:
            continue
        except TaskNotImportable:
            raise
        except ValueError as error:
            damages.append(Damage(name, str(error)))
            continue
        goal = replace(one.spec, recipe=replace(one.spec.recipe, epochs=spec.recipe.epochs))  # which may go on longer
        if goal != spec:
            raise ValueError(f"{folder} holds {OTHER_SETTINGS}")
        written.append(one)
    return written, damages


def last_state(folder: Path, task: Task | None = None) -> tuple[RunSpec, TrainingState] | None:
    """Return the spec and the last undamaged state of a training, or None without a state.

    Another process may write to the training while `last_state` reads.

    Args:
        task: task to use if the class of the recorded task cannot be imported; see `RunSpec.from_json`.
    Raises:
        ValueError: every state is damaged.
    """
    errors: list[ValueError] = []
    for name in (STATE, BEFORE):  # while a state is written, the one before it is whole
        try:
            one = read_state(folder / name, task)
        except FileNotFoundError:
            continue
        except ValueError as error:
            errors.append(error)
        else:
            return one.spec, one.state
    if errors:
        raise errors[0]
    return None


def read_state(path: Path, task: Task | None = None) -> WrittenState:
    """Read the state in a file, together with the spec of its training.

    Args:
        task: task to use if the class of the recorded task cannot be imported; see `RunSpec.from_json`.
    Raises:
        FileNotFoundError: the file does not exist.
        TaskNotImportable: the class of the task cannot be imported.
        ValueError: the file is damaged.
    """
    try:
        tensors, metadata = read_safetensors(path)
        written = metadata.pop("sha256")
        if written != digest(tensors, metadata):
            raise ValueError("the sha256 of the file differs from the recorded one")
        history = table_from_csv(metadata["history"].encode())
        epoch, seconds, ended = int(metadata["epoch"]), float(metadata["seconds"]), _outcome(metadata["ended"])
        begun = RunSpec.from_json(json.loads(metadata["spec"]), task)
        files = json.loads(metadata["files"]) if "files" in metadata else None
    except (TaskNotImportable, FileNotFoundError):
        raise
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError, RecursionError, OSError) as error:
        raise ValueError(f"{path} is not a complete state of a training: {first_line(error)}") from error
    weights = {k.removeprefix("weights/"): v for k, v in tensors.items() if k.startswith("weights/")}
    moments = {k: v for k, v in tensors.items() if not k.startswith("weights/")}
    rows = tuple({str(k): v for k, v in row.items()} for row in history.to_dict("records"))
    return WrittenState(path.name, begun, TrainingState(epoch, weights, moments, rows, ended), seconds, files)


def _outcome(text: str) -> Outcome | None:
    """Read a training's outcome from a state's metadata; None if training is not over.

    The outcome is JSON, or a sentence in states written by earlier versions.
    """
    return Outcome.from_json(json.loads(text) if text.startswith("{") else text)
