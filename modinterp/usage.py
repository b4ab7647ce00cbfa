"""What the commands know before anything heavy is imported."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

SOURCES = ("nanda", "clock", "mlp", "circuits", "miiii")
BAD_USAGE, INTERRUPTED = 2, 130


def one_line_errors(interrupted: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Turn a user's error into one line on stderr and exit code 2, and Ctrl-C into 130.

    Args:
        interrupted: what to say after Ctrl-C.
    """

    def guard(command: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(command)
        def guarded(*args: object) -> int:
            try:
                return command(*args)
            except (ValueError, OSError) as error:
                print(f"error: {error}", file=sys.stderr)
                return BAD_USAGE
            except KeyboardInterrupt:
                print(interrupted, file=sys.stderr)
                return INTERRUPTED

        return guarded

    return guard
