"""In how many networks of a recipe a claim holds, and what that says of the share of all such networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

from modinterp.training.relation import Relation


@dataclass(frozen=True)
class Share:
    """So many of so many, with the 95% interval for the share (Wilson's score interval, 1927).

    >>> str(Share(3, 4)), [round(x, 2) for x in Share(5, 5).interval]
    ('3 of 4', [0.57, 1.0])
    """

    held: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end; of no network, all shares are possible."""
        if not self.of:
            return 0.0, 1.0
        z, n, p = NormalDist().inv_cdf(0.975), self.of, self.held / self.of
        middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low, high = ((middle + sign * half) / (1 + z * z / n) for sign in (-1, 1))
        return (0.0 if self.held == 0 else low), (1.0 if self.held == n else high)

    def to_json(self) -> dict[str, Any]:
        """Plain data: `held`, `of`, and the ends of the interval, `low` and `high`."""
        low, high = self.interval
        return {"held": self.held, "of": self.of, "low": round(low, 4), "high": round(high, 4)}

    def __str__(self) -> str:
        return f"{self.held} of {self.of}"


@dataclass(frozen=True)
class Prevalence:
    """In how many networks trained by one recipe a claim holds.

    Networks of one seed that differ by rounding are not independent draws of the recipe; the intervals to quote are
    those of `by`, and that of all together takes each network as one.

    Attributes:
        together: all networks.
        by: those that differ from the source's own network in nothing or in rounding, in the seed, in the order in
            which the initial weights were drawn.
    """

    together: Share
    by: Mapping[Relation, Share]

    @classmethod
    def of(cls, passes: Sequence[bool], relations: Sequence[Relation]) -> Prevalence:
        """From whether the claim holds in each network and how the network is related to the first."""
        own = Relation.ROUNDING if Relation.ROUNDING in relations else Relation.SEED
        kinds = [own if relation is Relation.SAME else relation for relation in relations]
        by = {
            kind: Share(sum(p for p, k in zip(passes, kinds, strict=True) if k is kind), kinds.count(kind))
            for kind in Relation
            if kind in kinds
        }
        return cls(Share(sum(passes), len(passes)), by)

    @property
    def decided_by(self) -> str:
        """What makes the difference where it holds in some networks alone: `rounding`, `seed` or `draw order`.

        Rounding, where variants of one seed differ; else the seed, where networks of one order of draws do.
        """
        if self.together.held in (0, self.together.of):
            return ""
        mixed = [kind for kind, share in self.by.items() if 0 < share.held < share.of]
        if mixed:
            return (Relation.ROUNDING if Relation.ROUNDING in mixed else Relation.SEED).value
        first, *others = self.by.items()
        return next(kind for kind, share in others if bool(share.held) != bool(first[1].held)).value

    def to_json(self) -> dict[str, Any]:
        """Plain data: the counts of all networks, and `by` each relation."""
        return self.together.to_json() | {"by": {kind.value: share.to_json() for kind, share in self.by.items()}}

    def __str__(self) -> str:
        return str(self.together)
