"""List the files in the folder of a run, and the limit of bytes read from each."""

from __future__ import annotations

import re
from pathlib import Path

FINAL, RECORD = "final.safetensors", "run.json"
HISTORY, PROGRESS, SPECTRA = "history.csv", "progress.csv", "spectra.safetensors"
MEASURED = "measured.json"
MOST_OF_TABLE, MOST_OF_HEADER, MOST_OF_RECORD = 2**26, 2**20, 2**24  # bytes that are read
MOST_OF_FILE = 2**30 + 2**24
FILES = re.compile(
    r"(final|spectra|snapshots/epoch-[0-9]{6,15})\.safetensors|(history|progress)\.csv(\.gz)?|measured\.json\.gz"
)  # that run.json may name
_WORKING = re.compile(r"^(state|before)\.safetensors$|(^|/)\.lease-[0-9]+$|(^|/)\.[^/]*\.part$")


def strange_files(folder: Path) -> list[str]:
    """Return the names of files in a run's folder that neither training nor publishing writes."""
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    return sorted(name for name in names if not (name == RECORD or FILES.fullmatch(name) or _WORKING.search(name)))


def check_there(folder: Path, name: str) -> Path:
    """Return the path of a file of a run, after checking that the file exists.

    Raises:
        ValueError: the file is missing.
    """
    path = folder / name
    if not path.is_file():
        raise ValueError(f"{path} is missing, though run.json names it")
    return path
