"""Find damage in the files of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Damage:
    """A damaged or missing file of a run.

    Attributes:
        file: name of the damaged file in the folder of the run.
        what: a sentence that describes how the file is damaged.
    """

    file: str
    what: str


class DamagedRun(ValueError):
    """A run cannot continue, because no undamaged state is left; `repair=True` trains the run again."""

    def __init__(self, damages: Sequence[Damage]):
        more = f" (and {len(damages) - 1} more)" if len(damages) > 1 else ""
        super().__init__(f"{damages[0].what}{more}; `train --repair` trains the run again, with the same results")
        self.damages = tuple(damages)
