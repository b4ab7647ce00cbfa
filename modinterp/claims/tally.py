"""Count verdicts by the evidence behind them; each measurement counts once."""

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
    "mixed": "hold in some seeds only",
    "refuted": "refuted",
    "open": "open",
}


@dataclass(frozen=True)
class Tally:
    """Counts of measurements and of statements, by verdict and evidence.

    Attributes:
        measurements, statements: maps from a key of `COLUMNS` to a count. Columns of the tally split claims that hold
            by their evidence. Claims of `mathematics` and set-up need no trained network. Claims of `many seeds` were
            measured on eight independent seeds or more. A `redefined` claim had a worse verdict before its measure or
            tolerance was changed with the number known. A claim counts as `no control` if it also holds on a control
            network. A claim counts as `by selection`, for any verdict, if its numbers chose the source's main network.
    """

    measurements: dict[Column, int]
    statements: dict[Column, int]

    @classmethod
    def of(cls, counted: Iterable[tuple[Hashable, Column]]) -> Tally:
        """Count claims, given for each claim its measurement and the column in which it counts."""
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
        """Return the tally in words, such as "3 claims, 2 measurements: 1 hold, 1 refuted (2 statements)"."""
        parts = []
        for column, words in COLUMNS.items():
            n, statements = self.measurements[column], self.statements[column]
            if n:
                parts.append(f"{n} {words}" + f" ({statements} statements)" * (statements != n))
        claims, n = sum(self.statements.values()), sum(self.measurements.values())
        return f"{claims} claim{'s' * (claims != 1)}, {n} measurement{'s' * (n != 1)}: {', '.join(parts)}"


def column(verdict: Verdict, control: Control, claim: ClaimData, seeds: int) -> Column:
    """Return the column of the tally in which a claim counts.

    Args:
        seeds: number of independent seeds on which the claim was measured.
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
