"""Define exit codes, and print a user's error as one line."""

from __future__ import annotations

import functools
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

BAD_USAGE, CRASHED, INTERRUPTED, BROKEN_PIPE, TERMINATED = 2, 3, 130, 141, 143


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM; it saves the same data as after Ctrl-C, and then ends."""


class WorkLost(RuntimeError):
    """A process that did a part of the work ended without a result."""


def one_line_errors(interrupted: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Decorate a command so that a user's error becomes one line on stderr and exit code 2.

    Ctrl-C gives exit code 130, SIGTERM gives 143, and a closed output pipe gives 141, without a message. A killed
    worker and a bug in modinterp give exit code 3; a bug also prints its traceback. Letters that the terminal does not
    know are printed as escapes.

    Args:
        interrupted: message after Ctrl-C or SIGTERM.
    """

    def guard(command: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(command)
        def guarded(*args: object) -> int:
            for stream in (sys.stdout, sys.stderr):
                if isinstance(stream, io.TextIOWrapper):
                    stream.reconfigure(errors="backslashreplace")
            try:
                with _terminable(), _same_threads():
                    code = command(*args)
                    sys.stdout.flush()
                return code
            except BrokenPipeError:
                _leave_the_pipe()
                return BROKEN_PIPE
            except (ValueError, OSError) as error:
                tell_error(error)
                return BAD_USAGE
            except WorkLost as error:
                tell_error(error)
                return CRASHED
            except RuntimeError as error:  # torch has no class of its own for too little memory, or a lacking device
                if type(error).__name__ != "OutOfMemoryError" and "memory" not in str(error):
                    return _tell_mistake()
                tell_error(error)
                return BAD_USAGE
            except MemoryError:
                tell_error(ValueError("there is too little memory for this command"))
                return BAD_USAGE
            except KeyboardInterrupt as error:
                print(interrupted, file=sys.stderr)
                return TERMINATED if isinstance(error, Terminated) else INTERRUPTED
            except Exception:
                return _tell_mistake()

        return guarded

    return guard


def tell_error(error: Exception) -> None:
    """Print an error on stderr, as one line of printable characters."""
    of_a_file = isinstance(error, OSError) and error.filename is not None
    text = f"{error.filename}: {error.strerror}" if of_a_file else str(error)
    print(f"error: {printable(text)}", file=sys.stderr)


def _tell_mistake() -> int:
    """Print the traceback of the error at hand, and return the exit code for it."""
    traceback.print_exc()
    print("this is an error of modinterp; please report it with the lines above", file=sys.stderr)
    return CRASHED


def printable(text: str) -> str:
    """Return a text on one line, without control characters, which a terminal would execute.

    >>> printable("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    line = (text.splitlines() or [""])[0]
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM end the process like Ctrl-C, until the block ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_: int, __: FrameType | None) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _same_threads() -> Iterator[None]:
    """Restore torch's number of threads after a command, if the calling program has loaded torch."""
    torch = sys.modules.get("torch")
    before = None if torch is None else torch.get_num_threads()
    try:
        yield
    finally:
        if torch is not None and before is not None:
            torch.set_num_threads(before)


def _leave_the_pipe() -> None:
    """Discard all output that is still to be printed, so that Python does not fail at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # no file stands behind it
        return
