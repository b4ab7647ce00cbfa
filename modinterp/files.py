"""Files written whole or not at all and read up to a limit, safe names, and folders that can be written."""

from __future__ import annotations

import gzip
import hashlib
import os
import secrets
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from modinterp.terminal.suggestions import suggestion

PARTS = ".*.part"  # of files that are being written, or were when a process was killed
PACKED = ".gz"  # at the end of a file that is packed with gzip
MOST_LETTERS = 100
MOST_NAMED = 3  # files of a folder that an error names
MOST_LEVELS = 200  # of a path; each level that is made costs a call within a call


def write_atomically(path: Path, content: bytes, before: Callable[[], object] | None = None) -> str:
    """Write a file so that it holds either all of its old content or all of the new.

    Args:
        before: called when the new content is on the disk and not yet in its place; where it raises, the old stays.
    Returns:
        checksum of what was written, in hexadecimal, as `sha256` gives it of the file.
    Raises:
        OSError: the folder cannot be written, or the disk is full; the old file is as it was. The error names the file.
    """
    write_together({path: content}, before)
    return hashlib.sha256(content).hexdigest()


def write_together(files: Mapping[Path, bytes], before: Callable[[], object] | None = None) -> None:
    """Write files that belong together: none is put into its place before all are on the disk.

    Use it where files describe the same numbers, such as a page and its table. A full disk keeps all of the old ones.

    Args:
        files: the content of each path; the last path is put into place last.
        before: called when all are on the disk and none is in its place; where it raises, the old ones stay.
    Raises:
        OSError: a folder cannot be written, or the disk is full. The error names the file.
    """
    mark = secrets.token_hex(8)
    parts = {path: path.with_name(f".{mark}-{number}.part") for number, path in enumerate(files)}
    path = next(iter(files))
    try:
        for path, part in parts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(part, "wb") as file:
                file.write(files[path])
                file.flush()
                os.fsync(file.fileno())
        if before is not None:
            before()
        for path, part in parts.items():
            os.replace(part, path)
    except OSError as error:
        if error.errno is None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from error
    finally:
        for part in parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)


def sha256(path: Path) -> str:
    """Checksum of a file's content, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_unpacked(path: Path, most: int) -> bytes:
    """The content of a file, unpacked where its name ends in `PACKED`.

    Args:
        most: bytes that are read; a file that holds more is refused.
    Raises:
        ValueError: it is damaged, or larger.
    """
    try:
        with gzip.open(path) if path.suffix == PACKED else open(path, "rb") as file:
            content = file.read(most + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(str(error)) from error
    if len(content) > most:
        raise ValueError(f"the file has more than {most:,} bytes")
    return content


def folder_name(path: Path) -> str:
    """Name of the report folder of a file: the file's name, made safe, and six digits of its place.

    Two files never share a name, and no name leads out of the folder that it stands in.

    >>> folder_name(Path("a/model.pt")) == folder_name(Path("b/model.pt")), folder_name(Path("...pt"))[:5]
    (False, 'file-')
    """
    letters = "".join(c if c.isalnum() or c in "-_.+=" else "_" for c in path.stem).strip("._-")[:MOST_LETTERS]
    place = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:6]
    return f"{letters or 'file'}-{place}"


def writable_folder(folder: Path, option: str = "--out") -> Path:
    """The folder itself, after a check that it can be written, or could be made; nothing is made.

    Args:
        option: the option of a command that named the folder, for the error.
    Raises:
        ValueError: it is a file, or cannot be made or written.
    """
    if len(folder.absolute().parts) > MOST_LEVELS:
        raise ValueError(
            f"{option} names {len(folder.parts):,} nested folders, more than {MOST_LEVELS}; name a shorter path"
        )
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not there.is_dir():
        raise ValueError(f"{option} {folder} is not a folder; name a folder" if there == folder else
                         f"{option} {folder} cannot be made: {there} is not a folder; name another folder")  # fmt: skip
    if not os.access(there, os.W_OK):
        raise ValueError(f"{option} {folder} cannot be {'written' if there == folder else 'made'}")
    return folder


def own_page(folder: Path, beside: str) -> Path:
    """The folder itself, after a check that it holds no page of another program.

    Args:
        beside: the file that is written beside every page of ours.
    Raises:
        ValueError: it has an `index.html`, and not that file.
    """
    if (folder / "index.html").exists() and not (folder / beside).exists():
        raise ValueError(f"{folder} holds an index.html that modinterp did not write; choose another folder by --out")
    return folder


def no_file(path: Path) -> FileNotFoundError:
    """The error about a file that is not there. The error names a file with a similar name, or the content of the
    folder.
    """
    folder, kind = path.parent, path.suffix
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if not entry.name.startswith("."))
    except OSError:
        return FileNotFoundError(f"there is no file {path}, and no folder {folder} to look in; check the path")
    alike = [name for name in names if name.endswith(kind)]
    held = f"{folder} holds {', '.join(alike[:MOST_NAMED])}{', ...' * (len(alike) > MOST_NAMED)}"
    held = held if kind and alike else f"{folder} holds no {kind or 'such'} file; check the path"
    return FileNotFoundError(f"there is no file {path}{suggestion(path.name, names, 0.8) or f'; {held}'}")
