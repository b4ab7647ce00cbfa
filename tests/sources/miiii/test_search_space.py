"""The space that MIIII searched: as it is printed, what a choice stands for, and the search that is shipped."""

from __future__ import annotations

from math import prod

from modinterp.runs import store
from modinterp.runs.search import Question, searches
from modinterp.sources import spec as named
from modinterp.sources.miiii.search import SPACE

CHOICE = {"dropout": 1 / 10, "grokfast": 1 / 2, "weight_decay": 1 / 2, "d_model": 256, "lr": 3e-4, "n_heads": 4}


def test_space_is_the_printed_one() -> None:
    assert SPACE.choices == {
        "dropout": (0, 0.5, 0.2, 0.1),
        "grokfast": (0, 0.5, 2),
        "weight_decay": (0, 0.1, 0.5, 1),
        "d_model": (128, 256),
        "lr": (3e-4, 1e-4),
        "n_heads": (4, 8),
    }
    assert prod(map(len, SPACE.choices.values())) == 384


def test_a_choice_stands_for_the_sources_own_training() -> None:
    own = named("miiii/p23-0")
    spec = SPACE.spec(CHOICE, Question(p=23, epochs=4096, seed=3))
    assert (spec.task, spec.model, spec.seed) == (own.task, own.model, 3)
    assert (spec.recipe.residual_dropout, spec.recipe.grokfast, spec.recipe.lr) == (0.1, 0.5, 3e-4)
    assert (spec.recipe.weight_decay, spec.recipe.epochs) == (0.5, 4096)
    assert spec.recipe.grokfast_alpha == own.recipe.grokfast_alpha
    assert (spec.recipe.log_every, spec.recipe.snapshot_every, spec.recipe.spectra_every) == (25, 256, 0)
    small = SPACE.spec(CHOICE | {"d_model": 128, "n_heads": 8}, Question(p=5, epochs=32)).model
    assert (small.d_model, small.n_heads, small.d_head, small.d_mlp, small.init) == (128, 8, 16, 512, "he")


def test_what_is_shipped_is_of_the_space() -> None:
    (shipped,) = searches(SPACE)
    assert (shipped.question.p, shipped.trials["trial"].tolist()) == (23, list(range(24)))
    for _, row in shipped.trials.iterrows():
        SPACE.spec({name: row[name] for name in SPACE.choices}, shipped.question)
    assert set(shipped.importances) == set(SPACE.choices)
    folder = store.checkpoints() / "miiii" / "search-p23"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 100_000
