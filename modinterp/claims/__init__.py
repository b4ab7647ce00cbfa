"""What the sources say: one record a statement, defined once and used by the command, the notebooks and the tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from modinterp.claims import circuits as _circuits
from modinterp.claims import clock as _clock
from modinterp.claims import miiii as _miiii
from modinterp.claims import mlp as _mlp
from modinterp.claims import nanda as _nanda
from modinterp.claims.band import Band, at_least, at_most, between, equals, near
from modinterp.claims.claim import Claim, Finding, Result, Verdict
from modinterp.claims.contradiction import Contradiction
from modinterp.claims.evidence import Evidence, evidence


class Source(Mapping[str, Claim]):
    """The claims of one source in its order, by id with or without the source's name, and what to know of its runs.

    >>> nanda["fig5.left"] is nanda["nanda.fig5.left"]
    True
    """

    def __init__(self, name: str, claims: Mapping[str, Claim], contradictions: Sequence[Contradiction] = (),
                 note: str = ""):  # fmt: skip
        self.name, self._claims, self.contradictions, self.note = name, claims, tuple(contradictions), note

    def __getitem__(self, key: str) -> Claim:
        full = key if key.startswith(f"{self.name}.") else f"{self.name}.{key}"
        if full not in self._claims:
            raise KeyError(f"no claim {full}; `python -m modinterp.reproduce {self.name} --list` shows all")
        return self._claims[full]

    def __iter__(self) -> Iterator[str]:
        return iter(self._claims)

    def __len__(self) -> int:
        return len(self._claims)

    def matching(self, pattern: str) -> tuple[Claim, ...]:
        """Claims whose id, with or without the source's name, fits a pattern with `*`, `?` and `[...]`."""
        return tuple(
            claim
            for key, claim in self._claims.items()
            if fnmatchcase(key, pattern) or fnmatchcase(key.removeprefix(f"{self.name}."), pattern)
        )


nanda = Source("nanda", _nanda.CLAIMS, _nanda.CONTRADICTIONS)
clock = Source("clock", _clock.CLAIMS, _clock.CONTRADICTIONS)
mlp = Source("mlp", _mlp.CLAIMS, _mlp.CONTRADICTIONS)
circuits = Source("circuits", _circuits.CLAIMS, _circuits.CONTRADICTIONS, _circuits.NOTE)
miiii = Source("miiii", _miiii.CLAIMS, _miiii.CONTRADICTIONS)
SOURCES = {source.name: source for source in (nanda, clock, mlp, circuits, miiii)}

__all__ = [
    "Band",
    "Claim",
    "Contradiction",
    "Evidence",
    "Finding",
    "Result",
    "SOURCES",
    "Source",
    "Verdict",
    "at_least",
    "at_most",
    "between",
    "circuits",
    "clock",
    "equals",
    "evidence",
    "miiii",
    "mlp",
    "nanda",
    "near",
]
