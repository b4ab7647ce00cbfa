"""Read and write runs on disk, in `checkpoints/` and in other folders with the same layout::

    SOURCE/RUN/run.json              spec, versions, how it ended, sha256 of every other file
               final.safetensors     weights after the last epoch, as trained; absent where the tables alone are shipped
               snapshots/epoch-000100.safetensors ...
               history.csv           losses in nats, accuracies, sum of squared weights, by epoch
               progress.csv          progress measures by epoch, where they have been taken
               spectra.safetensors   spectra of some activations by epoch, where the recipe asks for them
               *.csv.gz              in place of a table, where it is shipped
               measured.json.gz      what was measured when it was published, where weights are not shipped
               state.safetensors     to go on training from, and before.safetensors; see `modinterp.runs.states`

Store runs on disk. Every file is first written under a temporary name and then renamed, so no file is ever incomplete.
Weights are read as data, and code in a file is never executed; see `modinterp.runs.weights`.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import platform
import re
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from safetensors import SafetensorError
from safetensors.torch import save
from torch import Tensor

from modinterp.activations import Spectra
from modinterp.arguments import COUNT, check
from modinterp.files import PACKED as PACKED
from modinterp.files import read_unpacked, sha256, write_atomically
from modinterp.runs.hub import Root, root
from modinterp.runs.layout import FILES, MOST_OF_FILE, MOST_OF_HEADER, MOST_OF_RECORD, MOST_OF_TABLE
from modinterp.runs.layout import FINAL as FINAL
from modinterp.runs.layout import HISTORY as HISTORY
from modinterp.runs.layout import MEASURED as MEASURED
from modinterp.runs.layout import PROGRESS as PROGRESS
from modinterp.runs.layout import RECORD as RECORD
from modinterp.runs.layout import SPECTRA as SPECTRA
from modinterp.runs.layout import check_there as check_there
from modinterp.runs.weights import READ as READ
from modinterp.runs.weights import first_line, read_safetensors
from modinterp.runs.weights import read_weights as read_weights
from modinterp.training import Outcome, OutcomeKind, RunSpec, TrainingState

Guard = Callable[[], object] | None  # called before a file is put into its place; where it raises, the old one stays

MOST_LINES = 2 * 10**5
# newer versions of pandas read every number to its last bit, and warn where that is asked for
_EXACT: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)
_SNAPSHOT = re.compile(r"epoch-([0-9]{6,15})\.safetensors")
LONGEST_NAME = 200
OTHER_SETTINGS = "a training with other settings; move it away or choose another --out"
HOW_TO_NAME = (
    "set MODINTERP_CHECKPOINTS to a folder of published runs, or to a repository of the Hub such as "
    "hf://OWNER/REPO; a checkout of the project has published runs in checkpoints/"
)


class NoCheckpoints(FileNotFoundError):
    """No default folder of published runs exists, because the package is not installed from a source checkout."""


def checkpoints() -> Path:
    """Return the folder of published runs: `MODINTERP_CHECKPOINTS`, or else `checkpoints/` in the source checkout.

    Raises:
        NoCheckpoints: `MODINTERP_CHECKPOINTS` is not set and there is no source checkout, or the variable is the
            address of a repository.
    """
    where = published()
    if isinstance(where, str):
        raise NoCheckpoints(f"MODINTERP_CHECKPOINTS is {where}; for this command, set the variable to a folder")
    return where


def published() -> Root:
    """Return the location of published runs: the folder that `checkpoints` returns, or the address of a Hub repository.

    Raises:
        NoCheckpoints: `MODINTERP_CHECKPOINTS` is not set, and the package does not lie in a source checkout.
    """
    if setting := os.environ.get("MODINTERP_CHECKPOINTS"):
        return root(setting)
    checkout = Path(__file__).parents[2]
    if not (checkout / "pyproject.toml").is_file():
        raise NoCheckpoints(f"published runs do not come with the package: {HOW_TO_NAME}")
    return checkout / "checkpoints"


def checked_name(name: str) -> str:
    """Check the name of a run: one or more words with slashes between them, such as `SOURCE/RUN`.

    Raises:
        ValueError: the name is empty, leads out of its folder, or holds unprintable characters.
    """
    parts = name.split("/") if isinstance(name, str) else []
    are_words = all(part.strip(" .") and part[0] != "." and part.isprintable() for part in parts)
    if not parts or not are_words or len(os.fsencode(name)) > LONGEST_NAME or set(name) & set("\\:"):
        raise ValueError(f"{name!a:.300} is not the name of a run; names look like SOURCE/RUN")
    return name


def write_weights(
    path: Path, weights: dict[str, Tensor], metadata: dict[str, str] | None = None, before: Guard = None
) -> str:
    """Write weights as safetensors, atomically, and return the checksum of the file."""
    return write_atomically(path, save({name: w.contiguous() for name, w in weights.items()}, metadata), before)


def size(folder: Path) -> int:
    """Return the total size of all files in a folder [bytes]."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def run_names(root: Path) -> list[str]:
    """Return the sorted names of the finished runs in a folder; folders without a valid name are skipped."""
    names = (path.parent.relative_to(root).as_posix() for path in root.rglob(RECORD) if path.parent != root)
    return sorted(name for name in names if is_name(name))


def is_name(name: str) -> bool:
    """Return True if `checked_name` accepts a name."""
    try:
        return bool(checked_name(name))
    except ValueError:
        return False


def snapshot_path(folder: Path, epoch: int) -> Path:
    """Return the path of the snapshot of an epoch."""
    return folder / "snapshots" / f"epoch-{epoch:06d}.safetensors"


def snapshot_epochs(folder: Path) -> list[int]:
    """Return the sorted epochs of the snapshots in a folder; files with other names are ignored."""
    names = (_SNAPSHOT.fullmatch(path.name) for path in (folder / "snapshots").glob("epoch-*.safetensors"))
    return sorted(int(name[1]) for name in names if name)


def table_from_csv(content: bytes) -> pd.DataFrame:
    """Read a table from CSV text, with every number restored to the last bit.

    Raises:
        ValueError: the content is not a table, or larger than any table that modinterp writes.
    """
    if content.count(b"\n") > MOST_LINES or len(content.partition(b"\n")[0]) > MOST_OF_HEADER:
        raise ValueError("the table has more rows or columns than modinterp reads")
    return pd.read_csv(io.BytesIO(content), **_EXACT)


def history_bytes(state: TrainingState) -> bytes:
    """Return the history of a training as CSV bytes."""
    return table_bytes(pd.DataFrame(list(state.history)))


def table_bytes(table: pd.DataFrame, digits: int | None = None) -> bytes:
    """Return a table as CSV bytes, with exact numbers, or with a given number of significant digits."""
    return table.to_csv(index=False, float_format=f"%.{digits}g" if digits else None).encode()


def write_packed(path: Path, content: bytes) -> str:
    """Write compressed content to `path.gz` instead of `path`; the same content always gives the same bytes."""
    return write_atomically(path.with_name(path.name + PACKED), gzip.compress(content, mtime=0))


def read_table(path: Path) -> pd.DataFrame:
    """Read a table that `table_bytes` wrote, compressed or not, with every number restored to the last bit.

    Raises:
        ValueError: the file is damaged, or larger than any table that modinterp writes.
    """
    try:
        return table_from_csv(read_unpacked(path, MOST_OF_TABLE))
    except ValueError as error:
        raise ValueError(f"{path} does not hold a complete table: {first_line(error)}") from error


def read_numbers(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    """Read a table of numbers that has the given columns.

    Raises:
        ValueError: the file is damaged, lacks a column, or holds a value that is not a number.
    """
    table = read_table(path)
    if missing := [name for name in columns if name not in table]:
        raise ValueError(f"{path} has no column {', '.join(missing)}")
    if not all(pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes):
        raise ValueError(f"{path} contains values that are not numbers")
    return table


def write_snapshot(folder: Path, state: TrainingState, before: Guard = None) -> str:
    """Write the weights of an epoch as a snapshot, and return the checksum of the file."""
    return write_weights(snapshot_path(folder, state.epoch), state.weights, before=before)


def write_spectra(folder: Path, spectra: Spectra, before: Guard = None) -> str:
    """Write the log of activation spectra, and return the checksum of the file."""
    return write_weights(folder / SPECTRA, *spectra.packed(), before)


def read_spectra(path: Path) -> Spectra:
    """Read the activation spectra that `write_spectra` wrote.

    Raises:
        ValueError: the file is damaged.
    """
    try:
        return Spectra.unpacked(*read_safetensors(path))
    except (SafetensorError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} does not hold complete spectra: {first_line(error)}") from error


def write_finished(
    folder: Path, spec: RunSpec, state: TrainingState, seconds: float, others: Mapping[str, str], before: Guard = None
) -> None:
    """Write the final weights, the history, and `run.json`; remove an old `run.json` first and write the new one last.

    Args:
        others: map from the name of each other file of the run to the checksum of its content.
    """
    if before is not None:
        before()
    (folder / RECORD).unlink(missing_ok=True)
    if PROGRESS not in others:
        (folder / PROGRESS).unlink(missing_ok=True)  # that of fewer epochs
    own = {
        FINAL: write_weights(folder / FINAL, state.weights, before=before),
        HISTORY: write_atomically(folder / HISTORY, history_bytes(state), before),
    }
    write_record(folder, spec, state.epoch, state.ended, seconds, own | dict(others), before)


def write_record(
    folder: Path,
    spec: RunSpec,
    epoch: int,
    ended: Outcome | None,
    seconds: float | None,
    written: Mapping[str, str],
    before: Guard = None,
) -> None:
    """Write `run.json`, which lists the checksum of every other file and is therefore written last.

    Args:
        written: map from the name of each file to the checksum of its content, computed when the file was written.
    """
    record = {
        "spec": spec.to_json(),
        "epoch": epoch,
        "ended": None if ended is None else ended.to_json(),
        "seconds": None if seconds is None else round(seconds, 1),
        "versions": {
            "python": platform.python_version(),
            "torch": version("torch").partition("+")[0],
            "modinterp": version("modinterp"),
        },
        "machine": platform.machine(),
        "sha256": {name: written[name] for name in sorted(written, key=_in_order)},
    }
    write_atomically(folder / RECORD, (json.dumps(record, indent=1) + "\n").encode(), before)


def _in_order(name: str) -> tuple[int, str]:
    """Return the sort key of a file in `run.json`: weights, tables, recorded measurements, spectra, snapshots."""
    order = (FINAL, HISTORY, HISTORY + PACKED, PROGRESS, PROGRESS + PACKED, MEASURED + PACKED, SPECTRA)
    return (order.index(name) if name in order else len(order)), name


def read_record(folder: Path) -> dict[str, Any]:
    """Read `run.json` and return its content.

    Raises:
        FileNotFoundError: the folder holds no finished training.
        ValueError: `run.json` was not written by `write_record`.
    """
    path = folder / RECORD
    if not path.is_file():
        raise FileNotFoundError(f"no trained run in {folder}")
    try:
        if path.stat().st_size > MOST_OF_RECORD:
            raise ValueError(f"it has more than {MOST_OF_RECORD:,} bytes")
        record = json.loads(path.read_bytes())
        if not isinstance(record["spec"], dict) or not isinstance(record["sha256"], dict):
            raise ValueError("spec and sha256 should be objects")
        if strange := [name for name in record["sha256"] if not FILES.fullmatch(name)]:
            raise ValueError(f"the record names {strange[0]!a:.100}, which is not a file of a run")
        check("epoch", record["epoch"], int, COUNT)
        check("seconds", record.get("seconds"), float | None, COUNT)
        Outcome.from_json(record.get("ended"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {first_line(error)}") from error
    return record


def recorded_outcome(record: dict[str, Any]) -> Outcome:
    """Return how a finished run ended, from its `run.json`.

    Old records without an outcome belong to runs that were trained for all their epochs.
    """
    return Outcome.from_json(record.get("ended")) or Outcome(OutcomeKind.EPOCHS_OVER, int(record["epoch"]))


def verify(folder: Path, record: dict[str, Any], name: str) -> Path:
    """Return the path of a file of a run, after comparing the file's checksum with `run.json`.

    Raises:
        ValueError: the file is missing, or its checksum differs from run.json.
    """
    path = check_there(folder, name)
    if path.stat().st_size > MOST_OF_FILE:
        raise ValueError(f"{path} has {path.stat().st_size:,} bytes, more than is read ({MOST_OF_FILE:,})")
    if sha256(path) != record["sha256"].get(name):
        raise ValueError(f"{path} is not the file that was written: its sha256 differs from run.json")
    return path
