"""Which networks are of one family: how each is related to the first, from what they were trained from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from modinterp.training import RunSpec
from modinterp.training.relation import Relation, relation


class Network(NamedTuple):
    """A network that a claim was measured on, and how it is related to the first; None where by no common recipe."""

    name: str
    relation: Relation | None


def related(specs: Mapping[str, RunSpec | None]) -> tuple[Network, ...]:
    """The networks of these names, each with how it is related to the first; of unknown training, as another seed."""
    first = next(iter(specs.values()), None)
    networks = []
    for place, (name, spec) in enumerate(specs.items()):
        how = relation(first, spec) if first is not None and spec is not None else Relation.SEED
        networks.append(Network(name, Relation.SAME if place == 0 else how))
    return tuple(networks)


def is_related(spec: RunSpec, other: RunSpec | None, but_for: Relation | None = None) -> bool:
    """Whether another training follows one recipe with this one, but for those so related: the same, cut shorter."""
    return other is not None and relation(spec, other) not in (None, but_for)
