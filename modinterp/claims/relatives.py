"""Find the relation of each network to the first network of a claim, from their specs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from modinterp.training import RunSpec
from modinterp.training.relation import Relation, relation, replicate


@dataclass(frozen=True)
class Network:
    """A network on which a claim was measured.

    Attributes:
        name: name of the network's run.
        relation: relation to the first network of the claim; None if the two have different recipes.
        seed: a key that numerical replicates share; the network's name if its training is unknown.
        recipe: a key shared by networks of one recipe; None if the training is unknown.
    """

    name: str
    relation: Relation | None
    seed: Hashable = None
    recipe: Hashable = None

    def __post_init__(self) -> None:
        if self.seed is None:
            object.__setattr__(self, "seed", self.name)


def related(specs: Mapping[str, RunSpec | None]) -> tuple[Network, ...]:
    """Return the named networks with their relations to the first; a network of unknown training counts as another
    seed.
    """
    first = next(iter(specs.values()), None)
    networks = []
    for place, (name, spec) in enumerate(specs.items()):
        how = relation(first, spec) if first is not None and spec is not None else Relation.SEED
        own = (None, None) if spec is None else (replicate(spec), spec.shared_recipe)
        networks.append(Network(name, Relation.SAME if place == 0 else how, *own))
    return tuple(networks)


def fewest_seeds(networks: Iterable[Network]) -> int:
    """Return the number of independent seeds; for several recipes, the smallest number among the recipes.

    Numerical replicates of one seed count once. Without networks, the number of seeds is 0.
    """
    by_recipe: dict[Hashable, set[Hashable]] = defaultdict(set)
    for network in networks:
        by_recipe[network.recipe].add(network.seed)
    return min(map(len, by_recipe.values()), default=0)


def is_related(spec: RunSpec, other: RunSpec | None) -> bool:
    """Return True if two trainings have the same recipe."""
    return other is not None and relation(spec, other) is not None


def is_same(spec: RunSpec, other: RunSpec | None) -> bool:
    """Return True if two trainings are the same, except for the number of epochs."""
    return other is not None and relation(spec, other) is Relation.SAME
