"""Show many pieces of work in one live table: fixed in a terminal, and one line per minute in a log."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from modinterp.terminal import progress_bars

Rows = Mapping[str, Mapping[str, str]]  # name of a row, column, text
STATE = "state"
FIRST = ("failed", "held elsewhere", "running", "waiting", "done")  # states in the order of the rows


class LiveTable:
    """A table that is printed again whenever one of its rows changes.

    Args:
        title: word for the rows of the table, such as `run`.
    """

    def __init__(self, title: str):
        self.title = title
        self._live: Any = None
        self._said, self._last = time.monotonic(), ""

    def __enter__(self) -> LiveTable:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), auto_refresh=False, vertical_overflow="ellipsis")
            self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.__exit__(*error)

    def show(self, rows: Rows) -> None:
        """Print the rows: at once in a terminal, and once per minute in a log."""
        if self._live is not None:
            self._live.update(_table(self.title, rows), refresh=True)
        elif time.monotonic() - self._said >= progress_bars.SECONDS_BETWEEN_LOG_LINES:
            self._said, line = time.monotonic(), summary(self.title, rows)
            if line != self._last:
                print(line, file=sys.stderr, flush=True)
            self._last = line


def ordered(rows: Rows) -> list[tuple[str, Mapping[str, str]]]:
    """Return the rows sorted: failed pieces first, then running pieces."""
    place = {state: number for number, state in enumerate(FIRST)}
    return sorted(rows.items(), key=lambda item: place.get(item[1].get(STATE, ""), len(FIRST)))


def summary(title: str, rows: Rows) -> str:
    """Return one line that counts the rows in each state.

    >>> summary("run", {"a": {"state": "done"}, "b": {"state": "running", "epoch": "20 of 100"}})
    '2 runs: 1 running, 1 done; b: epoch 20 of 100'
    """
    counts = Counter(row.get(STATE, "") for row in rows.values())
    told = ", ".join(f"{counts[state]} {state}" for state in FIRST if counts[state])
    under_way = [(name, row) for name, row in rows.items() if row.get(STATE) == "running" and len(row) > 1]
    detail = "".join(
        f"; {n}: {', '.join(f'{k} {v}' for k, v in row.items() if k != STATE)}" for n, row in under_way[:1]
    )
    return f"{len(rows)} {title}s: {told}{detail}"


def _table(title: str, rows: Rows) -> Any:
    from rich.table import Table

    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    table = Table(caption=summary(title, rows).partition(";")[0], caption_justify="left")
    for column in (title, *columns):
        table.add_column(column, no_wrap=True)
    for name, row in ordered(rows):
        table.add_row(name, *(row.get(column, "") for column in columns))
    return table
