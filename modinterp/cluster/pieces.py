"""Pieces of work, and what becomes of them when processes of this machine carry them out."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
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


def in_processes(pieces: Sequence[Piece], processes: int) -> Iterator[Answer]:
    """What became of each piece, as they end, where that many processes of this machine share them.

    A ValueError or OSError of a piece is its failure, and the others go on; any other error is raised.
    """
    # a server that has imported what the pieces need, and computed nothing, is safe to fork and quick
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(sorted({piece.function.__module__ for piece in pieces}))
    with ProcessPoolExecutor(min(processes, len(pieces)), context) as pool:
        under_way = {pool.submit(piece.function, *piece.arguments, report=_untold): piece for piece in pieces}
        for done in as_completed(under_way):
            try:
                yield Answer(under_way[done], done.result())
            except (ValueError, OSError) as error:
                yield Answer(under_way[done], failure=str(error))


def _untold(_: Mapping[str, Mapping[str, str]]) -> None:
    """A report that nobody reads."""
