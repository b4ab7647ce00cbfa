"""Show progress bars: animated in a terminal or notebook, and one line per minute in a log."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm

SECONDS_BETWEEN_LOG_LINES = 60.0


class _Log(io.TextIOBase):
    """Writes each state of a progress bar as a line, if stderr is a file."""

    def write(self, text: str) -> int:
        if line := text.strip():
            print(line, file=sys.stderr, flush=True)
        return len(text)


def progress_bar(total: int, what: str, unit: str, first: int = 0, **options: Any) -> tqdm:
    """Return a progress bar that suits the kind of its output: terminal, notebook or log.

    Args:
        total: number of units of work.
        what: text before the bar that names the work.
        unit: name of one unit of work, such as `epoch`.
        first: number of units of work that are already done.
        options: further options of tqdm, such as `leave` or `delay`; a log has its own intervals.
    """
    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        from tqdm.auto import tqdm

        return tqdm(total=total, desc=what, unit=unit, initial=first, dynamic_ncols=True, **options)
    from tqdm import tqdm

    line = "{desc}: {n_fmt} of {total_fmt} {unit}s after {elapsed}, {remaining} to go, {rate_fmt}{postfix}"
    seconds = SECONDS_BETWEEN_LOG_LINES
    options |= {"mininterval": seconds, "maxinterval": seconds, "delay": seconds}
    return tqdm(total=total, desc=what, unit=unit, initial=first, file=_Log(), bar_format=line, ncols=200, **options)
