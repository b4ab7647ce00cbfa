"""A source reproduced by its command, with what it measured kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from modinterp.commands.reproduce import main
from modinterp.reproduce import reproduction as module
from modinterp.reproduce.reproduction import Reproduction


@dataclass(frozen=True)
class Reproduced:
    """What `python -m modinterp.reproduce SOURCE` measured and wrote.

    Attributes:
        folder: with its page and tables.
        code: its exit code.
    """

    reproduction: Reproduction
    folder: Path
    code: int


def reproduce(name: str, folder: Path) -> Reproduced:
    """Run the command for one source, into a folder."""
    kept, measure = [], module.reproduction

    def keeping(*args: object, **kwargs: object) -> Reproduction:
        kept.append(measure(*args, **kwargs))  # type: ignore[arg-type]
        return kept[0]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "reproduction", keeping)
        code = main([name, "--out", str(folder), "--workers", "1"])  # two tests run at a time
    return Reproduced(kept[0], folder, code)
