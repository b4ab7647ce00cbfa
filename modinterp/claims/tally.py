"""Verdicts counted: what is one measurement once, and what is also true of an untrained network apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from modinterp.claims.finding import Control, Verdict

COLUMNS = {
    "holds": "hold",
    "also untrained": "hold, also untrained",
    "mixed": "in some networks",
    "refuted": "refuted",
    "open": "open",
}


@dataclass(frozen=True)
class Tally:
    """How many measurements, and how many statements, came out how.

    Attributes:
        measurements, statements: a key of `COLUMNS` to a number. `holds` is without what an untrained network, or one
            that has only memorised, shows as well; this is `also untrained`.
    """

    measurements: dict[str, int]
    statements: dict[str, int]

    @classmethod
    def of(cls, verdicts: Iterable[tuple[Hashable, Verdict, Control]]) -> Tally:
        """From what each claim measures, its verdict, and whether its numbers tell a trained network from others."""
        columns = [
            (key, "also untrained" if verdict == "holds" and control.startswith("also") else verdict)
            for key, verdict, control in verdicts
        ]
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
