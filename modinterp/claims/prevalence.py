"""In how many independent seeds of a recipe a claim holds, and what that says of the share of all such seeds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from modinterp.analyses.statistics.share_interval import Share
from modinterp.claims.relatives import Network
from modinterp.training.relation import Relation

ENOUGH = 8  # independent seeds; a verdict on fewer is preliminary


@dataclass(frozen=True)
class Prevalence:
    """In how many independent seeds of one recipe a claim holds.

    Networks of one seed that differ only by rounding are numerical replicates and count as one seed; a claim holds in a
    seed if it holds in most replicates. In how many of them it holds is reported beside it.

    Attributes:
        seeds: the independent seeds.
        replicates: the networks of those seeds that have several.
        decided_by: what makes the difference where the claim holds in some networks alone: `seed`, `draw order`, or
            `rounding` where only numerical replicates differ; empty where all networks agree.
    """

    seeds: Share
    replicates: Share
    decided_by: str = ""

    @classmethod
    def of(cls, passes: Sequence[bool], networks: Sequence[Network]) -> Prevalence:
        """From whether the claim holds in each network.

        Raises:
            ValueError: not as many truth values as networks.
        """
        votes: dict[Hashable, list[bool]] = defaultdict(list)
        drawn: dict[Hashable, bool] = {}
        for holds, network in zip(passes, networks, strict=True):
            votes[network.seed].append(holds)
            drawn.setdefault(network.seed, network.relation is Relation.DRAW)
        held = {seed: 2 * sum(found) > len(found) for seed, found in votes.items()}
        seeds = Share(sum(held.values()), len(held))
        several = [holds for found in votes.values() if len(found) > 1 for holds in found]
        by_order = [{held[seed] for seed in held if drawn[seed] is order} for order in (False, True)]
        if 0 < seeds.held < seeds.of:
            decides = (Relation.SEED if any(len(found) == 2 for found in by_order) else Relation.DRAW).value
        else:
            decides = Relation.ROUNDING.value if any(len(set(found)) == 2 for found in votes.values()) else ""
        return cls(seeds, Share(sum(several), len(several)), decides)

    @property
    def is_preliminary(self) -> bool:
        """True if fewer than eight independent seeds were measured."""
        return self.seeds.of < ENOUGH

    def to_json(self) -> dict[str, Any]:
        """Plain data: the counts of seeds and the interval, `replicates`, and `decided_by`."""
        replicates = {"held": self.replicates.held, "of": self.replicates.of}
        return self.seeds.to_json() | {"replicates": replicates, "decided_by": self.decided_by or None}

    def text(self, interval: bool = False) -> str:
        """Prevalence in words, such as "3 of 3 seeds, preliminary", or "20 of 20 seeds (at least 86% of seeds, 95%)"
        with the interval.
        """
        beside = f" ({self.seeds.interval_text} of seeds, 95%)" * interval
        return f"{self.seeds} seed{'s' * (self.seeds.of != 1)}{beside}" + ", preliminary" * self.is_preliminary

    def __str__(self) -> str:
        return self.text()
