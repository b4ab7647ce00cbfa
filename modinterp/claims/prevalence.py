"""Count the independent seeds of a recipe in which a claim holds, and estimate the share of all possible seeds."""

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
    """The number of independent seeds of one recipe in which a claim holds.

    Networks of one seed that differ only by rounding are numerical replicates and count as one seed. A claim holds in a
    seed if it holds in most of its numerical replicates. Numbers of networks, including numerical replicates, are
    reported separately from numbers of seeds.

    Attributes:
        seeds: number of independent seeds, and number of seeds in which the claim holds.
        replicates: number of networks, and of networks in which the claim holds, among seeds with several numerical
            replicates.
        decided_by: if the claim holds only in some networks, what distinguishes them: `seed`, `draw order`, or
            `rounding` if only numerical replicates differ. The field `decided_by` is empty if all networks agree.
    """

    seeds: Share
    replicates: Share
    decided_by: str = ""

    @classmethod
    def of(cls, passes: Sequence[bool], networks: Sequence[Network]) -> Prevalence:
        """Count seeds and replicates, given for each network whether the claim holds.

        Raises:
            ValueError: the numbers of truth values and networks differ.
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
        """Return plain data for JSON: the counts of seeds, the confidence interval, `replicates`, and `decided_by`."""
        replicates = {"held": self.replicates.held, "of": self.replicates.of}
        return self.seeds.to_json() | {"replicates": replicates, "decided_by": self.decided_by or None}

    def text(self, interval: bool = False) -> str:
        """Return the prevalence in words, such as "3 of 3 seeds, preliminary".

        With the interval, the text is, for example, "20 of 20 seeds (at least 86% of seeds, 95%)".
        """
        beside = f" ({self.seeds.interval_text} of seeds, 95%)" * interval
        return f"{self.seeds} seed{'s' * (self.seeds.of != 1)}{beside}" + ", preliminary" * self.is_preliminary

    def __str__(self) -> str:
        return self.text()
