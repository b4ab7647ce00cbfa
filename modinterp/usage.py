"""What the commands know before anything heavy is imported."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

SOURCES = ("nanda",)
BAD_USAGE, INTERRUPTED = 2, 130


def one_line_errors(command: Callable[..., int]) -> Callable[..., int]:
    """Turn a user's error into one line on stderr and exit code 2, and Ctrl-C into 130."""

    @functools.wraps(command)
    def guarded(*args: object) -> int:
        try:
            return command(*args)
        except (ValueError, OSError, FloatingPointError) as error:
            print(f"error: {error}", file=sys.stderr)
            return BAD_USAGE
        except KeyboardInterrupt:
            print("stopped; the same command goes on from the last state that was written", file=sys.stderr)
            return INTERRUPTED

    return guarded
