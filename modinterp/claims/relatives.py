"""Families of networks: the relation of each network to the first, from their specs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from modinterp.training import RunSpec
from modinterp.training.relation import Relation, relation, replicate


@dataclass(frozen=True)
class Network:
    """A network that a claim was measured on.

    Attributes:
        name: of its run.
        relation: how it is related to the first network; None where they follow no common recipe.
        seed: a key that numerical replicates share; its name where its training is not known.
        recipe: a key shared by networks of one recipe; None where the training is not known.
    """

    name: str
    relation: Relation | None
    seed: Hashable = None
    recipe: Hashable = None

    def __post_init__(self) -> None:
        if self.seed is None:
            object.__setattr__(self, "seed", self.name)


def related(specs: Mapping[str, RunSpec | None]) -> tuple[Network, ...]:
    """The networks of these names, each with how it is related to the first; of unknown training, as another seed."""
    first = next(iter(specs.values()), None)
    networks = []
    for place, (name, spec) in enumerate(specs.items()):
        how = relation(first, spec) if first is not None and spec is not None else Relation.SEED
        own = (None, None) if spec is None else (replicate(spec), spec.shared_recipe)
        networks.append(Network(name, Relation.SAME if place == 0 else how, *own))
    return tuple(networks)


def fewest_seeds(networks: Iterable[Network]) -> int:
    """The number of independent seeds; of networks of several recipes, that of the recipe with the fewest.

    Numerical replicates of one seed are one. No network has no seed.
    """
    by_recipe: dict[Hashable, set[Hashable]] = defaultdict(set)
    for network in networks:
        by_recipe[network.recipe].add(network.seed)
    return min(map(len, by_recipe.values()), default=0)


def is_related(spec: RunSpec, other: RunSpec | None) -> bool:
    """True if another training has the same recipe as this one."""
    return other is not None and relation(spec, other) is not None


def is_same(spec: RunSpec, other: RunSpec | None) -> bool:
    """True if another training is the same as this one, up to its number of epochs."""
    return other is not None and relation(spec, other) is Relation.SAME
