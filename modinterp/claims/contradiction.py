"""Where sources contradict one another, themselves or arithmetic, and the measurement that settles it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from modinterp.claims.result import Result


@dataclass(frozen=True)
class Contradiction:
    """A conflict between statements.

    Attributes:
        id: such as `X-C4`.
        conflict: what the sources say, each named.
        settled_by: ids of the claims whose numbers settle the contradiction, without the source's name, and the names
            of these numbers; without names, all numbers that the claim expects.
        follows: what follows from the numbers.
    """

    id: str
    conflict: str
    settled_by: Mapping[str, tuple[str, ...]]
    follows: str

    def measured(self, results: Mapping[str, Result]) -> str:
        """The numbers that settle it, in words; empty if a claim was not measured.

        Args:
            results: by the claim's id without the source's name.
        """
        parts = []
        for key, names in self.settled_by.items():
            if key not in results or not results[key].measured:
                return ""
            parts.append(f"{key}: {results[key].measured_text(only=names or tuple(results[key].claim.expected))}")
        return ". ".join(parts)
