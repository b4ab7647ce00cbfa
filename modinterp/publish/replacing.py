"""Replace a folder as a whole: if the process is killed, either the complete old folder or the complete new folder
exists.

The new folder is written and synced under the name `.NAME.publishing`, beside the folder `NAME` that it replaces. Linux
then exchanges the old folder and the new folder in one step. Systems other than Linux need two renames; `recover`
undoes the first rename after a kill between the two.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from modinterp.runs.lease import Lease, RunIsHeld, leased, renewed

_PREFIX, _SUFFIX, _OLD = ".", ".publishing", "old"
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
_TRIES = 20  # another process may remove the empty folder just before the lease is taken


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield an empty folder to write into; if no error occurs, the folder then replaces `target`.

    If an error is raised inside the `with` statement, `target` stays unchanged.

    Raises:
        ValueError: another process is replacing the same folder.
    """
    with _leased(target) as lease:
        new = lease.folder / lease.token  # a process that wakes after its lease was lost writes into no other's folder
        new.mkdir()
        yield new
        _sync(new)
        lease.check()
        _exchange(new, target, lease.folder / _OLD)
        _sync_folder(target.parent)


def recover(root: Path) -> None:
    """Remove temporary files of killed processes below a folder, and restore folders that the processes had moved
    away.
    """
    for staging in sorted(root.rglob(f"{_PREFIX}*{_SUFFIX}")):
        name = staging.name.removeprefix(_PREFIX).removesuffix(_SUFFIX)
        with suppress(ValueError), _leased(staging.with_name(name)):
            pass


@contextmanager
def _leased(target: Path) -> Iterator[Lease]:
    """Take a lease on replacing a folder, and clean up after earlier processes before and after the block."""
    staging = target.with_name(f"{_PREFIX}{target.name}{_SUFFIX}")
    with ExitStack() as held:
        try:
            lease = _lease(held, staging)
        except RunIsHeld as error:
            raise ValueError(f"{target} is being published by another process; try again when it has ended") from error
        held.callback(_removed, lease)
        held.enter_context(renewed([lease]))
        _put_right(staging, target)
        try:
            yield lease
        finally:
            if not _is_lost(lease):
                _put_right(staging, target)


def _lease(held: ExitStack, staging: Path) -> Lease:
    for _ in range(_TRIES):
        staging.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            return held.enter_context(leased(staging))
    raise RunIsHeld(f"other processes removed {staging}")


def _is_lost(lease: Lease) -> bool:
    try:
        lease.check()
    except RunIsHeld:
        return True
    return False


def _removed(lease: Lease) -> None:
    """Remove the folder of a finished lease, unless another process has begun to use it."""
    if not _is_lost(lease):
        lease.path.unlink(missing_ok=True)
        with suppress(OSError):
            lease.folder.rmdir()


def _put_right(staging: Path, target: Path) -> None:
    """Restore the old folder if it was moved away and not replaced, and remove everything else except the lease."""
    old = staging / _OLD
    if old.is_dir() and not target.exists():
        old.rename(target)
    for path in staging.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def _exchange(new: Path, target: Path, old: Path) -> None:
    """Move a new folder to the place of an old folder, and move the old folder away."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        new.rename(target)
    elif not _exchanged_at_once(new, target):
        target.rename(old)
        new.rename(target)


def _exchanged_at_once(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; return False, without any change, if the system or disk cannot do this."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    return rename is not None and rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0


def _sync(folder: Path) -> None:
    """Flush all files below a folder, and their names, to the disk."""
    for each in (*folder.rglob("*"), folder):
        if each.is_dir():
            _sync_folder(each)
        else:
            with open(each, "rb+") as file:
                os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":  # a folder cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
