"""Define the argument parser of all commands."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NoReturn

from modinterp.terminal.errors import BAD_USAGE
from modinterp.terminal.suggestions import suggestion


def folder(text: str) -> Path:
    """Parse a local folder, as the `type` of an option.

    Raises:
        argparse.ArgumentTypeError: the text is an address such as `hf://OWNER/REPO`, not a folder.
    """
    if "://" in text:
        raise argparse.ArgumentTypeError(f"{text} is an address on the Hub; name a folder on this machine")
    return Path(text)


class Parser(argparse.ArgumentParser):
    """A parser that prints its help as written, and reports a wrong argument in one line."""

    def __init__(self, *args: str, **options: Any):
        super().__init__(*args, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = action.choices
        if choices is None or value in choices:
            return
        names = [str(name) for name in choices]
        raise argparse.ArgumentError(
            action, f"invalid choice: {value!r}{suggestion(str(value), names)}; choose from {', '.join(names)}"
        )

    def error(self, message: str) -> NoReturn:
        """Print one line about the error, and exit with the code for wrong usage."""
        self.exit(BAD_USAGE, f"error: {message}; `{self.prog} --help` says more\n")
