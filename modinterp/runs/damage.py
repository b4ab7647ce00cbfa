"""Find damage in the files of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Damage:
    """A file of a run that is not the one that was written.

    Attributes:
        file: its name in the folder of the run.
        what: a sentence that names the file and its damage.
    """

    file: str
    what: str


class DamagedRun(ValueError):
    """A run that cannot continue, unless the content of its damaged files is trained again."""

    def __init__(self, damages: Sequence[Damage]):
        more = f" (and {len(damages) - 1} more)" if len(damages) > 1 else ""
        super().__init__(f"{damages[0].what}{more}; `train --repair` trains it anew, with the same numbers")
        self.damages = tuple(damages)
