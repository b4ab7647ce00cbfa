"""The lease on a run's folder: one process at a time writes there, on one machine or on several that share a disk.

A lease is a file `.lease-N`, made with a number that no other process can make again. The lease names its holder, and
is renewed while that process lives. The next number may take over a lease that was given back, or whose process is dead
or silent for a minute. Before it moves a file into place, the holder looks for a later lease. A process that seemed
dead and wakes up therefore never overwrites its successor's files. The successor removes files that were not moved yet.
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
    """Another process holds the folder; later it may be free."""


class LeaseLost(RunIsHeld):
    """Another process holds the folder, since this process was silent for too long."""


@dataclass(frozen=True)
class Lease:
    """A lease that this process took.

    Attributes:
        number: one more than that of the preceding lease.
        token: distinguishes this lease from one with the same number in a recreated folder.
    """

    folder: Path
    number: int
    token: str

    @property
    def path(self) -> Path:
        """The file of the lease."""
        return self.folder / f"{_PREFIX}{self.number}"

    def check(self) -> None:
        """Raise LeaseLost where another process has taken the lease over."""
        if max(_numbers(self.folder), default=0) != self.number or _content(self.path).get("token") != self.token:
            raise LeaseLost(f"{self.folder} is being trained in by another process, which took over from this one")

    def renew(self) -> None:
        """Give a sign of life."""
        try:
            os.utime(self.path)
        except OSError:  # it is lost, which `check` tells, or the disk does not answer now
            return

    def give_back(self) -> None:
        """Let the next process begin at once; the file stays, so that its number is not given again."""
        try:
            self.check()
            write_atomically(self.path, _said(self.token, returned=True).encode())
        except (LeaseLost, OSError):  # the next process waits until it is silent
            return


@contextmanager
def leased(folder: Path) -> Iterator[Lease]:
    """A lease on a folder, given back at the end.

    Raises:
        RunIsHeld: another process holds one, and gives signs of life.
    """
    lease = _taken(folder)
    try:
        yield lease
    finally:
        lease.give_back()


def is_held(folder: Path) -> bool:
    """True if a process holds a lease on a folder and is alive; the check takes no lease."""
    try:
        _check_free(folder)
    except RunIsHeld:
        return True
    return False


@contextmanager
def renewed(leases: Sequence[Lease]) -> Iterator[None]:
    """While it is open, a thread renews the leases."""
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
    """Make a file that is not there yet, with all its text at once: one without text would belong to nobody.

    Raises:
        FileExistsError: the file is there.
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
    """The number of the last lease on a folder, 0 where there is none; raises RunIsHeld where its holder lives."""
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
    """Seconds since a file was renewed, by the clock of the disk that it is on.

    A file from the future was renewed before the clock was set back; its age counts from now on.
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
    """Numbers of the leases in a folder."""
    numbers = (path.name.removeprefix(_PREFIX) for path in folder.glob(f"{_PREFIX}*"))
    return [int(number) for number in numbers if number.isdecimal() and len(number) < 18]


def _content(path: Path) -> dict[str, Any]:
    """What a lease says; nothing where it is gone, or being written."""
    try:
        content = json.loads(path.read_bytes()) if path.is_file() and path.stat().st_size < MOST_OF_LEASE else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _said(token: str, returned: bool = False) -> str:
    return json.dumps({"token": token, "pid": os.getpid(), "where": _here(), "returned": returned})


def _here() -> str:
    """The machine, since when it runs, and the space that its process numbers belong to."""
    boot, space = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    try:
        return f"{socket.gethostname()} {boot.read_text(encoding='utf-8').strip()} {os.readlink(space)}"
    except OSError:  # no Linux
        return socket.gethostname()


def _is_alive(pid: int) -> bool:
    """Whether a process of this machine is there; one that is dead and not yet buried is not."""
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
