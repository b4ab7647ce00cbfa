"""Lock a run's folder with a lease, so that only one process at a time writes there, also on a shared disk.

A lease is a file `.lease-N` with a number N that no other process can create again. The lease file names the process
that holds the lease. The process that holds a lease renews it every ten seconds. Another process may create lease N+1
after the holder has returned its lease, has died, or has been silent for a minute. Before the holder of a lease moves a
file into place, it checks that no later lease exists. A process that seemed dead and wakes up therefore never
overwrites its successor's files. The next holder deletes temporary files that the earlier process had not moved into
place.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modinterp.files import PARTS, write_atomically

SILENT_AFTER = 60.0  # seconds without a sign of life, after which a lease may be taken over
RENEWED_EVERY = 10.0  # seconds
_PREFIX = ".lease-"
MOST_OF_LEASE = 10_000  # bytes that are read


class RunIsHeld(ValueError):
    """Another process holds the lease on a run's folder; a later attempt may succeed."""


class LeaseLost(RunIsHeld):
    """Another process has taken over the lease, because this process was silent for too long."""


@dataclass(frozen=True)
class Lease:
    """A lease on a run's folder, held by this process.

    Attributes:
        number: number of the lease, one more than the number of the preceding lease.
        token: random text that distinguishes this lease from one with the same number in a recreated folder.
    """

    folder: Path
    number: int
    token: str

    @property
    def path(self) -> Path:
        """Return the path of the lease's file."""
        return self.folder / f"{_PREFIX}{self.number}"

    def check(self) -> None:
        """Raise LeaseLost if another process has taken over the lease."""
        if max(_numbers(self.folder), default=0) != self.number or _content(self.path).get("token") != self.token:
            raise LeaseLost(f"{self.folder} is being trained in by another process, which took over from this one")

    def renew(self) -> None:
        """Renew the lease by updating the time of its file."""
        try:
            os.utime(self.path)
        except OSError:  # it is lost, which `check` tells, or the disk does not answer now
            return

    def give_back(self) -> None:
        """Return the lease, so that another process can take one at once.

        The lease's file stays, so that its number is not used again.
        """
        try:
            self.check()
            write_atomically(self.path, _said(self.token, returned=True).encode())
        except (LeaseLost, OSError):  # the next process waits until it is silent
            return


@contextmanager
def leased(folder: Path) -> Iterator[Lease]:
    """Take a lease on a folder, and return the lease at the end of the `with` statement.

    Raises:
        RunIsHeld: another living process holds a lease on the folder.
    """
    lease = _taken(folder)
    try:
        yield lease
    finally:
        lease.give_back()


def is_held(folder: Path) -> bool:
    """Return True if a living process holds a lease on a folder; the check takes no lease."""
    try:
        _check_free(folder)
    except RunIsHeld:
        return True
    return False


@contextmanager
def renewed(leases: Sequence[Lease]) -> Iterator[None]:
    """Renew leases in a background thread until the `with` statement ends."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(RENEWED_EVERY):
            for lease in leases:
                lease.renew()

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _taken(folder: Path) -> Lease:
    last = _check_free(folder)
    lease = Lease(folder, last + 1, secrets.token_hex(8))
    try:
        _create(lease.path, _said(lease.token))
        lease.check()
    except (FileExistsError, LeaseLost) as error:  # another process was faster
        raise RunIsHeld(f"{folder} is being trained in by another process") from error
    for number in _numbers(folder):
        if number < lease.number:
            (folder / f"{_PREFIX}{number}").unlink(missing_ok=True)
    for part in (*folder.glob(PARTS), *(folder / "snapshots").glob(PARTS)):
        part.unlink(missing_ok=True)
    return lease


def _create(path: Path, text: str) -> None:
    """Create a new file together with its text, since an empty lease file would name no holder.

    Raises:
        FileExistsError: the file exists already.
    """
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        _write_new(part, text)
        try:
            os.link(part, path)
        except FileExistsError:
            raise
        except OSError:  # a disk without links, or another process has removed the part as it took the lease
            _write_new(path, text)
    finally:
        part.unlink(missing_ok=True)


def _write_new(path: Path, text: str) -> None:
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _check_free(folder: Path) -> int:
    """Return the number of the last lease on a folder, or 0 without a lease; raise RunIsHeld if its holder is alive."""
    last = max(_numbers(folder), default=0)
    path = folder / f"{_PREFIX}{last}"
    holder = _content(path)
    if not last or holder.get("returned") is True:
        return last
    pid, where = holder.get("pid"), str(holder.get("where", "another machine"))
    if where == _here() and isinstance(pid, int) and not _is_alive(pid):
        return last
    if (seconds := _age(folder, path)) < SILENT_AFTER:
        by = f"process {pid}" if where == _here() else f"process {pid} on {where.partition(' ')[0]!a}"
        raise RunIsHeld(
            f"{folder} is being trained in by another process, {by}, last active {seconds:.0f} s ago; another "
            f"process may take over after {SILENT_AFTER:.0f} s without activity"
        )
    return last


def _age(folder: Path, path: Path) -> float:
    """Return the seconds since a file was last renewed, by the clock of the file's disk.

    If the file's time lies in the future, the clock was set back; the age then counts from now.
    """
    probe = folder / f".{secrets.token_hex(8)}.part"
    try:
        probe.touch()
        age = probe.stat().st_mtime - path.stat().st_mtime
        if age < -1:
            with suppress(PermissionError):
                os.utime(path)
        return max(0.0, age)
    except FileNotFoundError:
        return 0.0
    finally:
        probe.unlink(missing_ok=True)


def _numbers(folder: Path) -> list[int]:
    """Return the numbers of all lease files in a folder."""
    numbers = (path.name.removeprefix(_PREFIX) for path in folder.glob(f"{_PREFIX}*"))
    return [int(number) for number in numbers if number.isdecimal() and len(number) < 18]


def _content(path: Path) -> dict[str, Any]:
    """Return the content of a lease file; an empty dict if the file is missing or not completely written."""
    try:
        content = json.loads(path.read_bytes()) if path.is_file() and path.stat().st_size < MOST_OF_LEASE else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _said(token: str, returned: bool = False) -> str:
    return json.dumps({"token": token, "pid": os.getpid(), "where": _here(), "returned": returned})


def _here() -> str:
    """Return text that identifies the machine, its last boot, and its namespace of process numbers."""
    boot, space = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    try:
        return f"{socket.gethostname()} {boot.read_text(encoding='utf-8').strip()} {os.readlink(space)}"
    except OSError:  # no Linux
        return socket.gethostname()


def _is_alive(pid: int) -> bool:
    """Return True if a process runs on this machine; a zombie process counts as dead."""
    if sys.platform == "win32":  # where asking would end it
        return True
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:1]
        return state not in (["Z"], ["X"])
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
