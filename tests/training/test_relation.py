"""Which trainings follow one recipe, and what tells their networks apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modinterp.models import TransformerConfig
from modinterp.sources import spec
from modinterp.tasks import addition
from modinterp.training import Nudge, Recipe, RunSpec
from modinterp.training.relation import Relation, relation

FIRST = RunSpec(addition(5), TransformerConfig.of(addition(5), d_model=8, n_heads=1, d_head=8, d_mlp=8), Recipe())


@pytest.mark.parametrize(("changed", "how"), [
    ({}, Relation.SAME),
    ({"recipe": Recipe(epochs=10, log_every=1, stop_at=1e-6)}, Relation.SAME),
    ({"nudge": Nudge("embed.W_E", 1)}, Relation.ROUNDING),
    ({"seed": 1}, Relation.SEED),
    ({"seed": 1, "nudge": Nudge("embed.W_E", 1)}, Relation.SEED),
    ({"model": replace(FIRST.model, init="left-facing", unlabelled_outputs=1)}, Relation.DRAW),
    ({"recipe": Recipe(weight_decay=0.5)}, None),
    ({"recipe": Recipe(fraction=0.5)}, None),
    ({"model": replace(FIRST.model, d_mlp=16)}, None),
    ({"recipe": Recipe(lr=2e-3)}, None),
])  # fmt: skip
def test_relations(changed: dict, how: Relation | None) -> None:
    assert relation(FIRST, replace(FIRST, **changed)) is how


def test_the_papers_network_and_its_relatives() -> None:
    main = spec("nanda/mainline-0")
    assert relation(main, spec("nanda/rounding-2")) is Relation.SAME  # the same training, cut shorter
    assert relation(main, spec("nanda/rounding-0")) is Relation.ROUNDING
    assert relation(main, spec("nanda/mainline-1")) is Relation.SEED
    assert relation(main, spec("nanda/other-draw-0")) is Relation.DRAW
    assert relation(main, spec("nanda/decay-3-0")) is None
