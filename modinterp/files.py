"""Write files completely or not at all, read files up to a size limit, and check file names and folders."""

from __future__ import annotations

import gzip
import hashlib
import os
import secrets
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path, PurePath

from modinterp.terminal.suggestions import suggestion

PARTS = ".*.part"  # of files that are being written, or were when a process was killed
PACKED = ".gz"  # at the end of a file that is packed with gzip
MOST_LETTERS = 100
MOST_NAMED = 3  # files of a folder that an error names
MOST_LEVELS = 200  # of a path; each level that is made costs a call within a call


def write_atomically(path: Path, content: bytes, before: Callable[[], object] | None = None) -> str:
    """Write a file so that it contains either all of its old content or all of the new content.

    Args:
        before: function called when the new content is on disk and not yet in place; if the function raises, the old
            file stays.
    Returns:
        checksum of the written content, in hexadecimal, equal to the result of `sha256` for the file.
    Raises:
        OSError: the folder cannot be written, or the disk is full; the old file stays unchanged. The message of the
            error names the file that could not be written.
    """
    write_together({path: content}, before)
    return hashlib.sha256(content).hexdigest()


def write_together(files: Mapping[Path, bytes], before: Callable[[], object] | None = None) -> None:
    """Write files that belong together: no file is put into place before all files are on disk.

    Use `write_together` for files that describe the same numbers, such as a page and its table. If the disk is full,
    all old files stay unchanged.

    Args:
        files: map from each path to its content; the last path is put into place last.
        before: function called when all files are on disk and none is in place; if the function raises, the old files
            stay.
    Raises:
        OSError: a folder cannot be written, or the disk is full. The message of the error names the file that could not
            be written.
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
    """Return the SHA-256 checksum of a file's content, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_unpacked(path: Path, most: int) -> bytes:
    """Return the content of a file, decompressed if the file's name ends in `PACKED`.

    Args:
        most: largest number of bytes to read; a larger file is refused.
    Raises:
        ValueError: the file is damaged, or larger than `most`.
    """
    try:
        with gzip.open(path) if path.suffix == PACKED else open(path, "rb") as file:
            content = file.read(most + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(str(error)) from error
    if len(content) > most:
        raise ValueError(f"the file has more than {most:,} bytes")
    return content


def short_names(names: list[str]) -> list[str]:
    """Shorten file names to as many folders as distinguish one file from another; names of runs stay unchanged."""
    parts = [PurePath(name).parts if PurePath(name).suffix else (name,) for name in names]
    for count in range(1, max(map(len, parts), default=1) + 1):
        short = ["/".join(each[-count:]) for each in parts]
        if len(set(short)) == len(set(names)):
            break
    return short


def folder_name(path: Path) -> str:
    """Return the name of the report folder for a file: the file's name without unsafe characters, and six digits from
    its path.

    Two files never get the same folder name, and no name leads out of the parent folder.

    >>> folder_name(Path("a/model.pt")) == folder_name(Path("b/model.pt")), folder_name(Path("...pt"))[:5]
    (False, 'file-')
    """
    letters = "".join(c if c.isalnum() or c in "-_.+=" else "_" for c in path.stem).strip("._-")[:MOST_LETTERS]
    place = hashlib.sha256(os.fsencode(path.absolute())).hexdigest()[:6]
    return f"{letters or 'file'}-{place}"


def writable_folder(folder: Path, option: str = "--out") -> Path:
    """Return the folder after a check that it can be written or created; the check creates nothing.

    Args:
        option: command-line option that named the folder, for the error message.
    Raises:
        ValueError: the folder is a file, or cannot be created or written.
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
    """Return the folder after a check that it contains no page of another program.

    Args:
        beside: name of the file that modinterp writes beside each of its pages.
    Raises:
        ValueError: the folder contains an `index.html`, but not the file `beside`.
    """
    if (folder / "index.html").exists() and not (folder / beside).exists():
        raise ValueError(f"{folder} holds an index.html that modinterp did not write; choose another folder by --out")
    return folder


def no_file(path: Path) -> FileNotFoundError:
    """Return the error for a file that does not exist. The message of the error names a file with a similar name, or
    the content of the folder.
    """
    folder, kind = path.parent, path.suffix
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if not entry.name.startswith("."))
    except OSError:
        return FileNotFoundError(f"there is no file {path}, and no folder {folder} to look in; check the path")
    alike = [name for name in names if name.endswith(kind)]
    place = "this folder" if folder == Path() else str(folder)
    held = f"{place} holds {', '.join(alike[:MOST_NAMED])}{', ...' * (len(alike) > MOST_NAMED)}"
    held = held if kind and alike else f"{place} holds no {kind or 'such'} file; check the path"
    return FileNotFoundError(f"there is no file {path}{suggestion(path.name, names, 0.8) or f'; {held}'}")
