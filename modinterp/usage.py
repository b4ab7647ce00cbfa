"""What the commands know before anything heavy is imported: the sources, and how a command speaks."""

from __future__ import annotations

import argparse
import difflib
import functools
import io
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm

SOURCES = ("nanda", "clock", "mlp", "circuits", "miiii")
BAD_USAGE, INTERRUPTED = 2, 130
SELDOM = 60.0  # seconds between two lines of progress in a log


class Parser(argparse.ArgumentParser):
    """A parser whose help is shown as it was written, and whose error is one line."""

    def __init__(self, *args: str, **options: Any):
        super().__init__(*args, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        """One line and the exit code of bad usage."""
        self.exit(BAD_USAGE, f"error: {message}; `{self.prog} --help` says more\n")


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
                named = isinstance(error, OSError) and error.filename is not None
                print(f"error: {f'{error.filename}: {error.strerror}' if named else error}", file=sys.stderr)
                return BAD_USAGE
            except KeyboardInterrupt:
                print(interrupted, file=sys.stderr)
                return INTERRUPTED

        return guarded

    return guard


def perhaps(wanted: str, names: Iterable[str]) -> str:
    """What may have been meant by a name that is not known, to follow an error; empty where nothing is like it."""
    known = list(names)
    if any(name.startswith(f"{wanted}/") for name in known):
        return f"; `python -m modinterp.runs list '{wanted}/*'` shows those of {wanted}"
    alike = difflib.get_close_matches(wanted, known, n=1)
    return f"; did you mean {alike[0]!r}?" if alike else ""


def writable(folder: Path, option: str = "--out") -> Path:
    """A folder that can be written, or could be made; nothing is.

    Raises:
        ValueError: it is a file, or cannot be made or written.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not there.is_dir():
        raise ValueError(f"{option} {folder} is not a folder" if there == folder else
                         f"{option} {folder} cannot be made: {there} is not a folder")  # fmt: skip
    if not os.access(there, os.W_OK):
        raise ValueError(f"{option} {folder} cannot be {'written' if there == folder else 'made'}")
    return folder


class _Log(io.TextIOBase):
    """Stderr where it is a file: each state of a progress bar becomes a line."""

    def write(self, text: str) -> int:
        if line := text.strip():
            print(line, file=sys.stderr, flush=True)
        return len(text)


def progress(total: int, what: str, unit: str, first: int = 0, **options: Any) -> tqdm:
    """A progress bar: in a terminal and in a notebook it moves, in a log it is a line a minute.

    Args:
        first: how many are done already.
        options: more of tqdm's, such as `leave` or `iterable`.
    """
    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        from tqdm.auto import tqdm

        return tqdm(total=total, desc=what, unit=unit, initial=first, dynamic_ncols=True, **options)
    from tqdm import tqdm

    line = "{desc}: {n_fmt} of {total_fmt} {unit}s after {elapsed}, {remaining} to go, {rate_fmt}{postfix}"
    often = {"mininterval": SELDOM, "maxinterval": SELDOM, "delay": SELDOM}
    return tqdm(total=total, desc=what, unit=unit, initial=first, file=_Log(), bar_format=line, ncols=200,
                **often, **options)  # fmt: skip
