"""Define pieces of work, and carry them out in several processes of this machine."""

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
    """One piece of work: a function with its arguments, for one task of a cluster or process.

    Attributes:
        function: function that does the work; it must belong to a module that the machines of the cluster can import.
            `function` gets the arguments, and the keyword argument `report`, with which it can report rows of the live
            table.
        rows: names of the rows that the piece of work reports.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """The outcome of a piece of work: the returned value, or the reason of its failure.

    Attributes:
        value: value that the function of the piece returned; None if the piece failed.
        failure: reason why the piece failed; empty if it succeeded.
    """

    piece: Piece
    value: Any = None
    failure: str = ""


CarriedOut = Callable[[list[Piece]], Iterable[Answer]]


@contextmanager
def processes(number: int, *modules: str) -> Iterator[CarriedOut]:
    """Start a number of processes on this machine, which work on pieces as soon as they are submitted.

    Pieces start in the order of submission, so the processes can work on a second list while the caller waits for the
    first. A ValueError or OSError in a piece of work counts as its failure, and other pieces continue; any other error
    is raised. If an error is raised inside the `with` statement, the processes end at once. Ctrl-C interrupts only the
    calling process.

    Args:
        modules: names of modules that the pieces need; they are imported once, before the pieces start.
    Raises:
        WorkLost: a process was killed while it carried out a piece of work.
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
