"""Progress bars: in a terminal and in a notebook they move, in a log they are a line a minute."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tqdm import tqdm

SECONDS_BETWEEN_LOG_LINES = 60.0


class _Log(io.TextIOBase):
    """Stderr where it is a file: each state of a progress bar becomes a line."""

    def write(self, text: str) -> int:
        if line := text.strip():
            print(line, file=sys.stderr, flush=True)
        return len(text)


def progress_bar(total: int, what: str, unit: str, first: int = 0, **options: Any) -> tqdm:
    """A progress bar that suits where its output goes.

    Args:
        total: how many units there are.
        what: what is being done, before the bar.
        unit: the name of one unit, such as `epoch`.
        first: how many units are done already.
        options: more of tqdm's, such as `leave` or `delay`; a log has its own intervals.
    """
    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        from tqdm.auto import tqdm

        return tqdm(total=total, desc=what, unit=unit, initial=first, dynamic_ncols=True, **options)
    from tqdm import tqdm

    line = "{desc}: {n_fmt} of {total_fmt} {unit}s after {elapsed}, {remaining} to go, {rate_fmt}{postfix}"
    seconds = SECONDS_BETWEEN_LOG_LINES
    options |= {"mininterval": seconds, "maxinterval": seconds, "delay": seconds}
    return tqdm(total=total, desc=what, unit=unit, initial=first, file=_Log(), bar_format=line, ncols=200, **options)
