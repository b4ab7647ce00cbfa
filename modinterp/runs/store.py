"""Runs on disk: the only reader and writer of `checkpoints/` and of any folder laid out like it::

    SOURCE/RUN/run.json              spec, versions, how it ended, sha256 of every other file
               final.safetensors     weights after the last epoch, as trained; absent where the tables alone are shipped
               snapshots/epoch-000100.safetensors ...
               history.csv           losses in nats, accuracies, sum of squared weights, by epoch
               progress.csv          progress measures by epoch, where they have been taken
               spectra.safetensors   spectra of some activations by epoch, where the recipe asks for them
               *.csv.gz              in place of a table, where it is shipped
               state.safetensors     to go on training from, and before.safetensors; see `modinterp.runs.states`

Every file is written beside its place and moved there, so that at any moment each is whole. Weights are read with
safetensors or `torch.load(weights_only=True)`: nothing that a file holds is ever executed (`modinterp.runs.weights`).
"""

from __future__ import annotations

import gzip
import io
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from safetensors import SafetensorError
from safetensors.torch import save
from torch import Tensor

from modinterp.activations import Spectra
from modinterp.files import sha256, write_atomically
from modinterp.runs.weights import READ as READ
from modinterp.runs.weights import read_safetensors
from modinterp.runs.weights import read_weights as read_weights
from modinterp.training import Outcome, OutcomeKind, RunSpec, TrainingState

try:
    import fcntl
except ImportError:  # not on Windows, where nothing guards a folder
    fcntl = None

FINAL, RECORD = "final.safetensors", "run.json"
HISTORY, PROGRESS, SPECTRA = "history.csv", "progress.csv", "spectra.safetensors"
PACKED = ".gz"
OTHER_SETTINGS = "a training with other settings; move it away or choose another --out"


def checkpoints() -> Path:
    """Where named runs lie: `MODINTERP_CHECKPOINTS`, else `checkpoints/` of the checkout this package lives in."""
    return Path(os.environ.get("MODINTERP_CHECKPOINTS") or Path(__file__).parents[2] / "checkpoints")


def write_weights(path: Path, weights: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Weights as safetensors, written atomically."""
    write_atomically(path, save({name: w.contiguous() for name, w in weights.items()}, metadata))


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


def table_from_csv(content: bytes) -> pd.DataFrame:
    """A table from CSV, every number as it was to the last bit."""
    return pd.read_csv(io.BytesIO(content), float_precision="round_trip")


def history_bytes(state: TrainingState) -> bytes:
    """The history of a training as CSV."""
    return table_bytes(pd.DataFrame(list(state.history)))


def table_bytes(table: pd.DataFrame, digits: int | None = None) -> bytes:
    """A table as CSV, every number with all its digits, or with so many significant ones."""
    return table.to_csv(index=False, float_format=f"%.{digits}g" if digits else None).encode()


def write_packed(path: Path, content: bytes) -> None:
    """Write `path.gz` in place of `path`: a table takes a third of its size. The same content gives the same bytes."""
    write_atomically(path.with_name(path.name + PACKED), gzip.compress(content, mtime=0))


def read_table(path: Path) -> pd.DataFrame:
    """A table that `table_bytes` wrote, packed or not, every number as it was to the last bit."""
    content = path.read_bytes()
    return table_from_csv(gzip.decompress(content) if path.suffix == PACKED else content)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A lock on a folder against other trainings; the system releases it when the process ends, however it ends.

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
    """Write the weights of an epoch."""
    write_weights(snapshot_path(folder, state.epoch), state.weights)


def add_spectra(folder: Path, new: Spectra) -> None:
    """Append the spectra of an epoch to those of earlier ones; entries of that epoch or later ones are replaced.

    Raises:
        ValueError: the log in the folder is damaged, or of other activations.
    """
    path = folder / SPECTRA
    tensors, metadata = (read_spectra(path).then(new) if path.is_file() else new).packed()
    write_weights(path, tensors, metadata)


def read_spectra(path: Path) -> Spectra:
    """The spectra that `add_spectra` wrote.

    Raises:
        ValueError: the file is damaged.
    """
    try:
        return Spectra.unpacked(*read_safetensors(path))
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} holds no whole spectra: {error}") from error


def write_finished(folder: Path, spec: RunSpec, state: TrainingState, seconds: float) -> None:
    """Write the final weights, the history, and `run.json`, which is removed first and written last."""
    (folder / RECORD).unlink(missing_ok=True)
    (folder / PROGRESS).unlink(missing_ok=True)  # that of fewer epochs
    write_weights(folder / FINAL, state.weights)
    write_atomically(folder / HISTORY, history_bytes(state))
    write_record(folder, spec, state.epoch, state.ended, seconds)


def write_record(folder: Path, spec: RunSpec, epoch: int, ended: Outcome | None, seconds: float | None) -> None:
    """Write run.json, last of all: it vouches for every other file by its checksum."""
    tables = [name + packed for name in (HISTORY, PROGRESS) for packed in ("", PACKED)]
    names = [FINAL, *tables, SPECTRA, *(str(snapshot_path(Path(), e)) for e in snapshot_epochs(folder))]
    record = {
        "spec": spec.to_json(),
        "epoch": epoch,
        "ended": None if ended is None else ended.to_json(),
        "seconds": None if seconds is None else round(seconds, 1),
        "versions": {"python": platform.python_version(), "torch": version("torch").partition("+")[0]},
        "machine": platform.machine(),
        "sha256": {name: sha256(folder / name) for name in names if (folder / name).is_file()},
    }
    write_atomically(folder / RECORD, (json.dumps(record, indent=1) + "\n").encode())


def read_record(folder: Path) -> dict[str, Any]:
    """The content of run.json.

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
        Outcome.from_json(record.get("ended"))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from error
    return record


def recorded_outcome(record: dict[str, Any]) -> Outcome:
    """How a finished run ended; records that do not say so are those of runs that had all their epochs."""
    return Outcome.from_json(record.get("ended")) or Outcome(OutcomeKind.EPOCHS_OVER, int(record["epoch"]))


def finished_outcome(folder: Path, spec: RunSpec) -> Outcome | None:
    """How the finished run in a folder ended; None where there is no finished run.

    Raises:
        ValueError: it was trained from another spec, or its record is damaged.
    """
    if not (folder / RECORD).is_file():
        return None
    record = read_record(folder)
    if RunSpec.from_json(record["spec"], spec.task) != spec:
        raise ValueError(f"{folder} holds {OTHER_SETTINGS}")
    return recorded_outcome(record)


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
