"""The states that a training goes on from: the last one and the one before it.

They lie in the folder of the run::

    SOURCE/RUN/state.safetensors     weights, optimiser moments and history
               before.safetensors    the same of the state before that one
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

from safetensors import SafetensorError
from torch import Tensor

from modinterp.runs.store import OTHER_SETTINGS, history_bytes, table_from_csv, write_weights
from modinterp.runs.weights import read_safetensors
from modinterp.tasks import Task
from modinterp.tasks.description import TaskNotImportable
from modinterp.training import Outcome, RunSpec, TrainingState

STATE, BEFORE = "state.safetensors", "before.safetensors"


def _digest(tensors: dict[str, Tensor], metadata: dict[str, str]) -> str:
    """Checksum of the tensors of a file and of its metadata, in hexadecimal."""
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name in sorted(tensors):
        digest.update(name.encode() + tensors[name].contiguous().numpy().tobytes())
    return digest.hexdigest()


def write_state(folder: Path, spec: RunSpec, state: TrainingState, seconds: float) -> None:
    """Write all that is needed to go on from a state; the state that was written before it stays beside it.

    Runs that train together are written one after the other; a kill in between leaves some with this state and some
    with the one before, which all have. `run.json` of a finished run and the files that it vouches for stay the same.
    """
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
    write_weights(folder / STATE, tensors, metadata | {"sha256": _digest(tensors, metadata)})


def step_back(folder: Path) -> None:
    """Replace the last state by the one before it."""
    os.replace(folder / BEFORE, folder / STATE)


def read_states(folder: Path, spec: RunSpec) -> list[tuple[TrainingState, float]]:
    """The states that were written for a spec, the newest first, each with the seconds of training until then.

    Raises:
        ValueError: a state was trained from another spec, or is damaged.
    """
    states = []
    for path in (folder / name for name in (STATE, BEFORE) if (folder / name).is_file()):
        begun, state, seconds = _read_state(path, spec.task)
        goal = replace(begun, recipe=replace(begun.recipe, epochs=spec.recipe.epochs))  # a later one may go on longer
        if goal != spec:
            raise ValueError(f"{folder} holds {OTHER_SETTINGS}")
        states.append((state, seconds))
    return states


def last_state(folder: Path, task: Task | None = None) -> tuple[RunSpec, TrainingState] | None:
    """The spec and the last whole state of a training, which may be going on in another process; None without one.

    Args:
        task: used where the class of the recorded task cannot be imported; see `RunSpec.from_json`.
    Raises:
        ValueError: every state is damaged.
    """
    errors: list[ValueError] = []
    for name in (STATE, BEFORE):  # while a state is written, the one before it is whole
        try:
            spec, state, _ = _read_state(folder / name, task)
        except FileNotFoundError:
            continue
        except ValueError as error:
            errors.append(error)
        else:
            return spec, state
    if errors:
        raise errors[0]
    return None


def _read_state(path: Path, task: Task | None) -> tuple[RunSpec, TrainingState, float]:
    """The spec of a training, the state in a file, and the seconds of training until then.

    Raises:
        FileNotFoundError: there is no such file.
        TaskNotImportable: the class of the task cannot be imported.
        ValueError: the file is damaged.
    """
    try:
        tensors, metadata = read_safetensors(path)
        digest, history = metadata.pop("sha256"), table_from_csv(metadata["history"].encode())
        epoch, seconds, ended = int(metadata["epoch"]), float(metadata["seconds"]), _outcome(metadata["ended"])
        begun = RunSpec.from_json(json.loads(metadata["spec"]), task)
    except TaskNotImportable:
        raise
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a whole state of a training: {error}") from error
    if digest != _digest(tensors, metadata):
        raise ValueError(f"{path} is not the state that was written: its sha256 differs")
    weights = {k.removeprefix("weights/"): v for k, v in tensors.items() if k.startswith("weights/")}
    moments = {k: v for k, v in tensors.items() if not k.startswith("weights/")}
    rows = tuple({str(k): v for k, v in row.items()} for row in history.to_dict("records"))
    return begun, TrainingState(epoch, weights, moments, rows, ended), seconds


def _outcome(text: str) -> Outcome | None:
    """The outcome in the metadata of a state: JSON, or the sentence that earlier versions wrote; None for none."""
    return Outcome.from_json(json.loads(text) if text.startswith("{") else text)
