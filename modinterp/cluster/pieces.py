"""Pieces of work, and what becomes of them when processes of this machine carry them out."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import forkserver
from typing import Any

Report = Callable[[Mapping[str, Mapping[str, str]]], object]


@dataclass(frozen=True)
class Piece:
    """Work for one task.

    Attributes:
        function: carries it out; a function of a module that the machines of the cluster can import. It is given the
            arguments, and a `Report` by name, which it may call with the rows of the live table that are its own.
        rows: names of these rows.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What became of a piece.

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
    """So many processes of this machine, which take up pieces of work as soon as they are handed over.

    What is handed over first is begun first, so that one list of pieces can be waited for while they work on the next.
    A ValueError or OSError of a piece is its failure, and the others go on; any other error is raised.

    Args:
        modules: what the pieces need, which is imported beside the caller at once and once for all.
    """
    forkserver.set_forkserver_preload(list(modules))
    forkserver.ensure_running()  # a server that has imported, and computed nothing, is safe to fork, and quick
    # what it has imported is frozen in each: nobody need look for garbage there
    pool = ProcessPoolExecutor(number, multiprocessing.get_context("forkserver"), initializer=gc.freeze)

    def carried_out(pieces: list[Piece]) -> Iterator[Answer]:
        return _answers({pool.submit(piece.function, *piece.arguments, report=_untold): piece for piece in pieces})

    try:
        yield carried_out
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


def _untold(_: Mapping[str, Mapping[str, str]]) -> None:
    """A report that nobody reads."""
