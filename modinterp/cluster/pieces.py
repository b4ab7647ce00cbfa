"""Pieces of work, and what becomes of them when processes of this machine carry them out."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from typing import Any

from modinterp.terminal.errors import WorkLost

MEMORY_OF_A_WORKER = 0.8  # GiB, the most that a process took for any run of the sources mlp and pizza
SECONDS_FOR_OWN_SIGNAL = 0.3  # SIGTERM to a group may reach its workers first; the caller's own then says what it was
_KILLED = (
    "a measuring process was killed, perhaps because memory ran out; `--workers 1` starts no further processes "
    f"(each takes up to about {MEMORY_OF_A_WORKER} GiB)"
)
Report = Callable[[Mapping[str, Mapping[str, str]]], object]


@dataclass(frozen=True)
class Piece:
    """Work for one task.

    Attributes:
        function: carries it out; a function of a module that the machines of the cluster can import. `function` gets
            the arguments, and a `Report` by name, which it may call with its own rows of the live table.
        rows: names of these rows.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """The outcome of a piece of work.

    Attributes:
        value: what its function returned; None where it failed.
        failure: why it failed; empty where it did not.
    """

    piece: Piece
    value: Any = None
    failure: str = ""


CarriedOut = Callable[[list[Piece]], Iterable[Answer]]


@contextmanager
def processes(number: int, *modules: str) -> Iterator[CarriedOut]:
    """Start a number of processes on this machine, which work on pieces as soon as they are submitted.

    Pieces start in the order of submission, so the processes can work on a second list while the caller waits for the
    first. A ValueError or OSError of a piece is its failure, and the others go on; any other error is raised. If the
    body of the `with` statement raises, the processes end at once. Ctrl-C reaches the caller alone.

    Args:
        modules: what the pieces need, which is imported beside the caller at once and once for all.
    Raises:
        WorkLost: a process was killed.
    """
    forkserver.set_forkserver_preload(list(modules))
    with _deaf_to_ctrl_c():
        forkserver.ensure_running()  # a server that has imported, and computed nothing, is safe to fork, and quick
    # what it has imported is frozen in each: nobody need look for garbage there
    pool = ProcessPoolExecutor(number, multiprocessing.get_context("forkserver"), initializer=gc.freeze)

    def carried_out(pieces: list[Piece]) -> Iterator[Answer]:
        with _told_as_lost():
            submit = pool.submit
            under_way = {submit(piece.function, *piece.arguments, report=_untold): piece for piece in pieces}
        return _answers(under_way)

    try:
        yield carried_out
    except BaseException:
        for process in list((pool._processes or {}).values()):  # pyright: ignore[reportAttributeAccessIssue]
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _answers(under_way: dict[Future, Piece]) -> Iterator[Answer]:
    """What became of each piece, as they end."""
    for done in as_completed(under_way):
        piece = under_way.pop(done)  # with it goes what it returned
        try:
            yield Answer(piece, done.result())
        except (ValueError, OSError) as error:
            yield Answer(piece, failure=str(error))
        except BrokenExecutor as error:
            time.sleep(SECONDS_FOR_OWN_SIGNAL)
            raise WorkLost(_KILLED) from error


@contextmanager
def _told_as_lost() -> Iterator[None]:
    """Where processes cannot be begun, since the server that forks them was killed, this is told as lost work."""
    try:
        yield
    except (BrokenExecutor, EOFError, OSError) as error:
        time.sleep(SECONDS_FOR_OWN_SIGNAL)
        raise WorkLost(_KILLED) from error


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """What is begun meanwhile never hears of Ctrl-C, nor do its children."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which would end the block, were it begun meanwhile
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _untold(_: Mapping[str, Mapping[str, str]]) -> None:
    """A report that nobody reads."""
