"""Runs on disk: the only reader and writer of `checkpoints/` and of any folder laid out like it::

    SOURCE/RUN/run.json              spec, versions, where it stands, sha256 of every other file
               final.safetensors     weights after the last epoch; not there where the tables alone are shipped
               snapshots/epoch-000100.safetensors ...
               history.csv           losses in nats, accuracies, sum of squared weights, by epoch
               progress.csv          progress measures by epoch, where they have been taken
               spectra.safetensors   spectra of some activations by epoch, where the recipe asks for them
               *.csv.gz              in place of a table, where it is shipped
               state.safetensors     weights, optimiser moments and history, to go on training from
               before.safetensors    the state before that one

Every file is written beside its place and moved there, so that at any moment each is whole. Weights are read with
safetensors or `torch.load(weights_only=True)`: nothing that a file holds is ever executed (`modinterp.runs.weights`).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from safetensors import SafetensorError
from safetensors.torch import save
from torch import Tensor

from modinterp.activations import Spectra
from modinterp.runs.weights import READ as READ
from modinterp.runs.weights import read_safetensors
from modinterp.runs.weights import read_weights as read_weights
from modinterp.training import RunSpec, TrainingState

try:
    import fcntl
except ImportError:  # not on Windows, where nothing guards a folder
    fcntl = None

STATE, BEFORE, FINAL, HISTORY, PROGRESS, SPECTRA, RECORD = (
    "state.safetensors", "before.safetensors", "final.safetensors", "history.csv", "progress.csv",
    "spectra.safetensors", "run.json",
)  # fmt: skip
PACKED = ".gz"
_OTHER = "a training with other settings; move it away or choose another --out"


def checkpoints() -> Path:
    """Where named runs lie: `MODINTERP_CHECKPOINTS`, else `checkpoints/` of the checkout this package lives in."""
    return Path(os.environ.get("MODINTERP_CHECKPOINTS") or Path(__file__).parents[2] / "checkpoints")


def write(path: Path, content: bytes) -> None:
    """Write a file so that it holds either all of its old content or all of the new.

    Raises:
        OSError: the folder cannot be written, or the disk is full; the old file is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        with open(part, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def write_weights(path: Path, weights: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Weights as safetensors, written atomically."""
    write(path, save({name: w.contiguous() for name, w in weights.items()}, metadata))


def sha256(path: Path) -> str:
    """Checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def run_names(root: Path) -> list[str]:
    """Names of the finished runs in a folder, in order."""
    return sorted(path.parent.relative_to(root).as_posix() for path in root.rglob(RECORD) if path.parent != root)


def snapshot_path(folder: Path, epoch: int) -> Path:
    """Where the snapshot of an epoch lies."""
    return folder / "snapshots" / f"epoch-{epoch:06d}.safetensors"


def snapshot_epochs(folder: Path) -> list[int]:
    """Epochs of which there is a snapshot, in order."""
    return sorted(int(path.stem.removeprefix("epoch-")) for path in (folder / "snapshots").glob("epoch-*.safetensors"))


def _parsed(content: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(content), float_precision="round_trip")


def _history_bytes(state: TrainingState) -> bytes:
    return table_bytes(pd.DataFrame(list(state.history)))


def table_bytes(table: pd.DataFrame, digits: int | None = None) -> bytes:
    """A table as CSV, every number with all its digits, or with so many of them."""
    return table.to_csv(index=False, float_format=f"%.{digits}g" if digits else None).encode()


def write_packed(path: Path, content: bytes) -> None:
    """Write `path.gz` in place of `path`: a table takes a third of its size. The same content gives the same bytes."""
    write(path.with_name(path.name + PACKED), gzip.compress(content, mtime=0))


def read_table(path: Path) -> pd.DataFrame:
    """A table that `table_bytes` wrote, packed or not, every number as it was to the last bit."""
    content = path.read_bytes()
    return _parsed(gzip.decompress(content) if path.suffix == PACKED else content)


def _digest(tensors: dict[str, Tensor], described: dict[str, str]) -> str:
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for name in sorted(tensors):
        digest.update(name.encode() + tensors[name].contiguous().numpy().tobytes())
    return digest.hexdigest()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder against other trainings; the system lets go of it when the process ends, however it ends.

    Raises:
        ValueError: another process holds it.
    """
    with open(folder / ".lock", "w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise ValueError(f"{folder} is being trained in by another process") from error
        yield


def write_snapshot(folder: Path, state: TrainingState) -> None:
    """Keep the weights of an epoch."""
    write_weights(snapshot_path(folder, state.epoch), state.weights)


def add_spectra(folder: Path, new: Spectra) -> None:
    """Put the spectra of an epoch behind those of earlier ones; what was kept of it or of later ones gives way.

    Raises:
        ValueError: what lies there is damaged, or of other activations.
    """
    path = folder / SPECTRA
    tensors, described = (read_spectra(path).then(new) if path.is_file() else new).packed()
    write_weights(path, tensors, described)


def read_spectra(path: Path) -> Spectra:
    """What `add_spectra` kept.

    Raises:
        ValueError: the file is damaged.
    """
    try:
        return Spectra.unpacked(*read_safetensors(path))
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} holds no whole spectra: {error}") from error


def write_state(folder: Path, spec: RunSpec, state: TrainingState, seconds: float) -> None:
    """Keep all that is needed to go on from here, and the state that was kept before.

    Runs that train together are written one after the other; a kill in between leaves some with this state and some
    with the one before, which all have. What a finished run has, `run.json` and the files that it vouches for, is not
    touched.
    """
    if (folder / STATE).is_file():
        os.replace(folder / STATE, folder / BEFORE)
    history = _history_bytes(state)
    tensors = {f"weights/{name}": w for name, w in state.weights.items()} | state.moments
    metadata = {
        "epoch": str(state.epoch),
        "spec": json.dumps(spec.to_json(), sort_keys=True),
        "ended": state.ended,
        "seconds": repr(seconds),
        "history": history.decode(),
    }
    write_weights(folder / STATE, tensors, metadata | {"sha256": _digest(tensors, metadata)})


def step_back(folder: Path) -> None:
    """Forget the last state for the one before."""
    os.replace(folder / BEFORE, folder / STATE)


def read_states(folder: Path, spec: RunSpec) -> list[tuple[TrainingState, float]]:
    """The states kept for this spec, the newest first, each with the seconds spent until then.

    Raises:
        ValueError: what lies there was trained from another spec, or is damaged.
    """
    return [_state(folder / name, spec) for name in (STATE, BEFORE) if (folder / name).is_file()]


def _state(path: Path, spec: RunSpec) -> tuple[TrainingState, float]:
    try:
        tensors, metadata = read_safetensors(path)
        digest, history = metadata.pop("sha256"), _parsed(metadata["history"].encode())
        epoch, ended, seconds = int(metadata["epoch"]), metadata["ended"], float(metadata["seconds"])
        begun = RunSpec.from_json(json.loads(metadata["spec"]))
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a whole state of a training: {error}") from error
    if digest != _digest(tensors, metadata):
        raise ValueError(f"{path} is not the state that was written: its sha256 differs")
    if replace(begun, recipe=replace(begun.recipe, epochs=spec.recipe.epochs)) != spec:  # a later one may go on longer
        raise ValueError(f"{path.parent} holds {_OTHER}")
    weights = {k.removeprefix("weights/"): v for k, v in tensors.items() if k.startswith("weights/")}
    moments = {k: v for k, v in tensors.items() if not k.startswith("weights/")}
    rows = tuple({str(k): v for k, v in row.items()} for row in history.to_dict("records"))
    return TrainingState(epoch, weights, moments, rows, ended), seconds


def write_finished(folder: Path, spec: RunSpec, state: TrainingState, seconds: float) -> None:
    """The final weights, the history, and `run.json`, which is taken away first and written last."""
    (folder / RECORD).unlink(missing_ok=True)
    (folder / PROGRESS).unlink(missing_ok=True)  # that of fewer epochs
    write_weights(folder / FINAL, state.weights)
    write(folder / HISTORY, _history_bytes(state))
    write_record(folder, spec, state.epoch, state.ended, seconds)


def write_record(folder: Path, spec: RunSpec, epoch: int, ended: str, seconds: float | None) -> None:
    """run.json, last of all: it vouches for every other file by its checksum."""
    tables = [name + packed for name in (HISTORY, PROGRESS) for packed in ("", PACKED)]
    names = [FINAL, *tables, SPECTRA, *(str(snapshot_path(Path(), e)) for e in snapshot_epochs(folder))]
    record = {
        "spec": spec.to_json(),
        "epoch": epoch,
        "ended": ended,
        "seconds": None if seconds is None else round(seconds, 1),
        "versions": {"python": platform.python_version(), "torch": version("torch").partition("+")[0]},
        "machine": platform.machine(),
        "sha256": {name: sha256(folder / name) for name in names if (folder / name).is_file()},
    }
    write(folder / RECORD, (json.dumps(record, indent=1) + "\n").encode())


def read_record(folder: Path) -> dict[str, Any]:
    """run.json as written.

    Raises:
        FileNotFoundError: nothing was trained here to its end.
        ValueError: the file is not what `write_record` writes.
    """
    path = folder / RECORD
    if not path.is_file():
        raise FileNotFoundError(f"no trained run in {folder}")
    try:
        record = json.loads(path.read_text())
        if not isinstance(record["spec"], dict) or not isinstance(record["sha256"], dict):
            raise ValueError("spec and sha256 should be objects")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    return record


def finished(folder: Path, spec: RunSpec) -> str | None:
    """Why the run that lies finished here ended; None where none does.

    Raises:
        ValueError: it was trained from another spec, or its record is damaged.
    """
    if not (folder / RECORD).is_file():
        return None
    record = read_record(folder)
    if RunSpec.from_json(record["spec"]) != spec:
        raise ValueError(f"{folder} holds {_OTHER}")
    return record.get("ended") or "finished"


def verify(folder: Path, record: dict[str, Any], name: str) -> Path:
    """The path of a file of a run, after its checksum was compared with run.json.

    Raises:
        ValueError: the file is missing, or is not the one that was written.
    """
    path = folder / name
    if not path.is_file():
        raise ValueError(f"{path} is missing, though run.json names it")
    if sha256(path) != record["sha256"].get(name):
        raise ValueError(f"{path} is not the file that was written: its sha256 differs from run.json")
    return path
