"""Exit codes, and a user's error as one line."""

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
    """The process was asked to end, by SIGTERM; what Ctrl-C saves is saved."""


class WorkLost(RuntimeError):
    """A process that did a part of the work has ended without an answer."""


def one_line_errors(interrupted: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A decorator of commands: a user's error becomes one line on stderr and exit code 2.

    Ctrl-C becomes 130, SIGTERM 143, and a reader of the output that has gone 141, without a word. A killed worker and
    a mistake of ours become 3, the latter with its traceback. Letters that the terminal does not know are printed as
    escapes.

    Args:
        interrupted: what to say after Ctrl-C or SIGTERM.
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
    """Print an error on stderr, as one line that holds nothing but letters."""
    of_a_file = isinstance(error, OSError) and error.filename is not None
    text = f"{error.filename}: {error.strerror}" if of_a_file else str(error)
    print(f"error: {printable(text)}", file=sys.stderr)


def _tell_mistake() -> int:
    """Print the traceback of the error at hand, and return the exit code for it."""
    traceback.print_exc()
    print("this is an error of modinterp; please report it with the lines above", file=sys.stderr)
    return CRASHED


def printable(text: str) -> str:
    """A text without control characters, which a terminal would obey, and on one line.

    >>> printable("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    line = (text.splitlines() or [""])[0]
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


@contextmanager
def _terminable() -> Iterator[None]:
    """While it is open, SIGTERM ends the process as Ctrl-C does."""
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
    """Leave torch, where a program that calls the command has loaded it, on as many threads as it found it on."""
    torch = sys.modules.get("torch")
    before = None if torch is None else torch.get_num_threads()
    try:
        yield
    finally:
        if torch is not None and before is not None:
            torch.set_num_threads(before)


def _leave_the_pipe() -> None:
    """Let what is still to be printed go nowhere, so that Python does not fail on it at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # no file stands behind it
        return
