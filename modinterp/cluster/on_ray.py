"""Carry out pieces of work on a Ray cluster, each as one task that another machine can start again.

The driver keeps no state: the pieces of work write their results to disk, so the command can be run again. Ray starts a
    piece again when its machine is lost. A piece whose run another process holds is tried again later.

Ray is imported when a cluster is used; `pip install 'modinterp[cluster]'` installs Ray.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from modinterp.cluster.options import Share, device_and_share
from modinterp.cluster.pieces import Answer, Piece
from modinterp.cluster.table import STATE, LiveTable

RETRIES = 20  # of a piece whose machine, or process, was lost
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_UNTIL_TRIED_AGAIN, SECONDS_TO_STOP = 30.0, 20.0


class Board:
    """The rows that tasks report for the live table, kept by one process on the driver's machine."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, str]] = {}

    def put(self, rows: Mapping[str, Mapping[str, str]]) -> None:
        """Add rows to the board, or replace rows of the same names."""
        self.rows.update({name: dict(row) for name, row in rows.items()})

    def all(self) -> dict[str, dict[str, str]]:
        """Return every row that a task reported."""
        return self.rows


def ray_module() -> Any:
    """Return the module of the library Ray.

    Raises:
        ValueError: Ray is not installed.
    """
    try:
        import ray  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ValueError("a cluster needs Ray: pip install 'modinterp[cluster]'") from error
    return ray


@contextmanager
def connected(address: str | None = None) -> Iterator[Any]:
    """Connect to Ray at an address, or start Ray on this machine, inside a `with` statement; disconnect at the end.

    An existing connection to Ray is used, and stays connected at the end.

    Raises:
        ValueError: Ray is not installed, or no Ray cluster runs at the address.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = ray_module()
    if ray.is_initialized():
        yield ray
        return
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR", include_dashboard=None if address else False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ValueError(f"no Ray cluster at {address or os.environ.get('RAY_ADDRESS')}: {error}") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def has_gpus(ray: Any) -> bool:
    """Return True if any machine of a Ray cluster has a GPU."""
    return ray.cluster_resources().get("GPU", 0) > 0


@contextmanager
def asked_for(options: argparse.Namespace) -> Iterator[tuple[Any, str, Share]]:
    """Connect to Ray as the command-line options say; yield Ray, the device, and the share of a machine that each task
    uses.

    Args:
        options: the command's options: `device`, and those of `modinterp.cluster.options.add_cluster_arguments`.
    Raises:
        ValueError: Ray is not installed, no cluster runs at the address, or the share of a machine is impossible.
    """
    with connected(options.address) as ray:
        yield ray, *device_and_share(options, has_gpus(ray))


def places(ray: Any, share: Share) -> int:
    """Return the number of tasks that a Ray cluster can run at the same time, at least one."""
    there = ray.cluster_resources()
    room = [there.get(kind, 0) // n for kind, n in (("CPU", share.cpus), ("GPU", share.gpus)) if n]
    return max(1, int(min(room, default=1)))


def carried_out(
    ray: Any,
    pieces: list[Piece],
    share: Share,
    later: type[Exception],
    title: str,
    seconds_until_tried_again: float = SECONDS_UNTIL_TRIED_AGAIN,
) -> Iterator[Answer]:
    """Yield the outcome of each piece of work when it ends, and show a live table.

    A ValueError or OSError in a piece of work counts as its failure, and other pieces continue; any other error is
    raised.

    Args:
        ray: the connection to Ray, as `connected` returns it.
        later: type of the error of a piece that another process has locked; such a piece is tried again.
        title: word for the rows of the live table, such as `run`.
    """
    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(
        ray.get_runtime_context().get_node_id(),
        soft=False,  # a soft one may be placed on a machine that is lost
    )
    board = ray.remote(num_cpus=0, scheduling_strategy=here)(Board).remote()
    ray.get(board.all.remote())  # one that has not begun yet could be lost with the machine that it was asked of
    task = ray.remote(num_cpus=share.cpus, num_gpus=share.gpus, max_retries=RETRIES)(_attempt)
    under_way = {task.remote(piece, later, board): piece for piece in pieces}
    waiting = {row: {STATE: "waiting"} for piece in pieces for row in piece.rows}
    ended: dict[str, dict[str, str]] = {}  # how far the rows are of which the driver knows that
    held: list[tuple[float, Piece]] = []
    with LiveTable(title) as table:
        try:
            while under_way or held:
                yield from _answers(ray, under_way, held, ended, seconds_until_tried_again)
                for due, piece in list(held):
                    if time.monotonic() >= due:
                        held.remove((due, piece))
                        ended = {row: state for row, state in ended.items() if row not in piece.rows}
                        under_way[task.remote(piece, later, board)] = piece
                reported = waiting | ray.get(board.all.remote())
                table.show({row: told | ended.get(row, {}) for row, told in reported.items()})
        finally:  # after Ctrl-C the tasks write what they have reached
            for reference in under_way:
                ray.cancel(reference, force=False)
            if under_way:
                ray.wait(list(under_way), num_returns=len(under_way), timeout=SECONDS_TO_STOP)
            ray.kill(board)


def _answers(
    ray: Any, under_way: dict[Any, Piece], held: list[tuple[float, Piece]], ended: dict[str, dict[str, str]],
    seconds_until_tried_again: float,
) -> Iterator[Answer]:  # fmt: skip
    """Answers of the tasks that ended since the last look; what is held elsewhere is put aside."""
    if not under_way:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        return
    over, _ = ray.wait(list(under_way), num_returns=len(under_way), timeout=SECONDS_BETWEEN_LOOKS)
    for reference in over:
        piece = under_way.pop(reference)
        try:
            kind, value = ray.get(reference)
        except ray.exceptions.RayTaskError:  # an error of ours
            raise
        except ray.exceptions.RayError as error:
            kind, value = "failed", f"the task was lost more than {RETRIES} times: {str(error).splitlines()[0]}"
        ended |= {row: {STATE: "held elsewhere" if kind == "later" else kind} for row in piece.rows}
        if kind == "later":
            held.append((time.monotonic() + seconds_until_tried_again, piece))
        elif kind == "failed":
            yield Answer(piece, failure=value)
        else:
            yield Answer(piece, value)


def _attempt(piece: Piece, later: type[Exception], board: Any) -> tuple[str, Any]:
    """One try of a piece, in the process of a task: how it ended, and its value or what went wrong."""

    def report(rows: Mapping[str, Mapping[str, str]]) -> None:
        board.put.remote({row: {STATE: "running"} | dict(told) for row, told in rows.items()})

    board.put.remote({row: {STATE: "running"} for row in piece.rows})
    try:
        return "done", piece.function(*piece.arguments, report=report)
    except later as error:
        return "later", str(error)
    except (ValueError, OSError) as error:
        return "failed", str(error)
