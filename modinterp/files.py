"""Files written whole or not at all, and folders that can be written."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
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


def sha256(path: Path) -> str:
    """Checksum of a file's content, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def writable_folder(folder: Path, option: str = "--out") -> Path:
    """The folder itself, after a check that it can be written, or could be made; nothing is made.

    Args:
        option: the option of a command that named the folder, for the error.
    Raises:
        ValueError: it is a file, or cannot be made or written.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not there.is_dir():
        raise ValueError(f"{option} {folder} is not a folder" if there == folder else
                         f"{option} {folder} cannot be made: {there} is not a folder")  # fmt: skip
    if not os.access(there, os.W_OK):
        raise ValueError(f"{option} {folder} cannot be {'written' if there == folder else 'made'}")
    return folder
