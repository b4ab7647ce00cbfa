"""Verdicts counted: one measurement once; what an untrained network shows too, and what was selected for, apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from modinterp.claims.finding import Control, Verdict

COLUMNS = {
    "holds": "hold",
    "also untrained": "hold, also untrained",
    "by selection": "by selection",
    "mixed": "in some networks",
    "refuted": "refuted",
    "open": "open",
}


@dataclass(frozen=True)
class Tally:
    """How many measurements, and how many statements, came out how.

    Attributes:
        measurements, statements: a key of `COLUMNS` to a number. `holds` is without what an untrained network, or one
            that has only memorised, shows as well; this is `also untrained`. What is `by selection` was said of numbers
            by which the source's network was chosen here, whatever the verdict.
    """

    measurements: dict[str, int]
    statements: dict[str, int]

    @classmethod
    def of(cls, verdicts: Iterable[tuple[Hashable, Verdict, Control, bool]]) -> Tally:
        """From what each claim measures, its verdict, whether its numbers tell a trained network, and by selection."""
        columns = [(key, column(verdict, control, selected)) for key, verdict, control, selected in verdicts]
        once = [column for _, column in set(columns)]
        told = [column for _, column in columns]
        return cls({c: once.count(c) for c in COLUMNS}, {c: told.count(c) for c in COLUMNS})

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            *({c: a[c] + b[c] for c in COLUMNS} for a, b in ((self.measurements, other.measurements),
                                                            (self.statements, other.statements)))
        )  # fmt: skip

    def __str__(self) -> str:
        """Such as "3 claims, 2 measurements: 1 hold, 1 refuted (2 statements)"."""
        parts = []
        for column, words in COLUMNS.items():
            n, statements = self.measurements[column], self.statements[column]
            if n:
                parts.append(f"{n} {words}" + f" ({statements} statements)" * (statements != n))
        claims, n = sum(self.statements.values()), sum(self.measurements.values())
        return f"{claims} claim{'s' * (claims != 1)}, {n} measurement{'s' * (n != 1)}: {', '.join(parts)}"


def column(verdict: Verdict, control: Control, by_selection: bool) -> str:
    """The key of `COLUMNS` in which a claim counts."""
    if by_selection:
        return "by selection"
    return "also untrained" if verdict == "holds" and control.startswith("also") else verdict
