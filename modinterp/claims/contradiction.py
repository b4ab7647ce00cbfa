"""Define contradictions between sources, within a source or with arithmetic, and the measurements that settle them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from modinterp.claims.result import Result


@dataclass(frozen=True)
class Contradiction:
    """A contradiction between statements of sources, and the claims that settle it.

    Attributes:
        id: id of the contradiction, such as `X-C4`.
        conflict: the statements that contradict each other, each with the name of its source.
        settled_by: map from the id of a claim, without the source's name, to the names of its numbers that settle the
            contradiction. If no names of numbers are given, all expected numbers of the claim are used.
        follows: the conclusion from the numbers that settle the contradiction.
    """

    id: str
    conflict: str
    settled_by: Mapping[str, tuple[str, ...]]
    follows: str

    def measured(self, results: Mapping[str, Result]) -> str:
        """Return text with the numbers that settle the contradiction; empty if a claim was not measured.

        Args:
            results: results of claims, by the claim's id without the source's name.
        """
        parts = []
        for key, names in self.settled_by.items():
            if key not in results or not results[key].measured:
                return ""
            parts.append(f"{key}: {results[key].measured_text(only=names or tuple(results[key].claim.expected))}")
        return ". ".join(parts)
