"""Exit codes, and a user's error as one line."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

BAD_USAGE, INTERRUPTED = 2, 130


def one_line_errors(interrupted: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A decorator of commands: a user's error becomes one line on stderr and exit code 2, and Ctrl-C becomes 130.

    Args:
        interrupted: what to say after Ctrl-C.
    """

    def guard(command: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(command)
        def guarded(*args: object) -> int:
            try:
                return command(*args)
            except (ValueError, OSError) as error:
                of_a_file = isinstance(error, OSError) and error.filename is not None
                print(f"error: {f'{error.filename}: {error.strerror}' if of_a_file else error}", file=sys.stderr)
                return BAD_USAGE
            except KeyboardInterrupt:
                print(interrupted, file=sys.stderr)
                return INTERRUPTED

        return guarded

    return guard
