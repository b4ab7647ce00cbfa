"""Verdicts counted by the evidence behind them, each measurement once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

from modinterp.claims.claim import ClaimData
from modinterp.claims.finding import Control, Verdict
from modinterp.claims.prevalence import ENOUGH

Column = Literal[
    "mathematics", "many seeds", "few seeds", "redefined", "no control", "by selection", "mixed", "refuted", "open"
]
COLUMNS: dict[Column, str] = {
    "mathematics": "hold: mathematics and set-up",
    "many seeds": f"hold in {ENOUGH} or more seeds",
    "few seeds": f"hold in fewer than {ENOUGH} seeds",
    "redefined": "hold or are mixed, redefined after measurement",
    "no control": "hold, also of controls",
    "by selection": "by selection",
    "mixed": "in some seeds",
    "refuted": "refuted",
    "open": "open",
}


@dataclass(frozen=True)
class Tally:
    """Counts of measurements, and of statements, by verdict.

    Attributes:
        measurements, statements: a key of `COLUMNS` to a number. Claims that hold are split by their evidence:
            `mathematics` and set-up need no trained network; `many seeds` is eight independent seeds or more.
            `redefined` did worse before its measure or tolerance was changed with the number known. `no control` is
            true of a control network as well. A claim counts as `by selection`, whatever its verdict, if its numbers
            chose the source's main network.
    """

    measurements: dict[Column, int]
    statements: dict[Column, int]

    @classmethod
    def of(cls, counted: Iterable[tuple[Hashable, Column]]) -> Tally:
        """From what each claim measures and the column in which it counts."""
        pairs = list(counted)
        once = [column for _, column in set(pairs)]
        told = [column for _, column in pairs]
        return cls({c: once.count(c) for c in COLUMNS}, {c: told.count(c) for c in COLUMNS})

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            *({c: a[c] + b[c] for c in COLUMNS} for a, b in ((self.measurements, other.measurements),
                                                            (self.statements, other.statements)))
        )  # fmt: skip

    def __str__(self) -> str:
        """The tally in words, such as "3 claims, 2 measurements: 1 hold, 1 refuted (2 statements)"."""
        parts = []
        for column, words in COLUMNS.items():
            n, statements = self.measurements[column], self.statements[column]
            if n:
                parts.append(f"{n} {words}" + f" ({statements} statements)" * (statements != n))
        claims, n = sum(self.statements.values()), sum(self.measurements.values())
        return f"{claims} claim{'s' * (claims != 1)}, {n} measurement{'s' * (n != 1)}: {', '.join(parts)}"


def column(verdict: Verdict, control: Control, claim: ClaimData, seeds: int) -> Column:
    """The column in which a claim counts.

    Args:
        seeds: on how many independent seeds it was measured.
    """
    if claim.is_by_selection:
        return "by selection"
    if claim.redefined and verdict in ("holds", "mixed"):
        return "redefined"
    if verdict == "holds":
        if not claim.is_about_networks:
            return "mathematics"
        return "no control" if control.startswith("also") else "many seeds" if seeds >= ENOUGH else "few seeds"
    return verdict
