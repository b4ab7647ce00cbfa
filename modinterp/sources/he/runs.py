"""Define the training runs of He, Wang, Chen and Yang 2026: one hidden layer on summed one-hot tokens, without biases.

Exact, as in the released code: networks, optimisers, learning rates, warm-up, numbers of steps, seed 42, and the order
in which weights are drawn. Our choice: the other seeds; the split of the grokking runs, which the code draws on a GPU;
and a loss in float64. In networks without weight decay, the float64 loss may change results. We also chose the phases
and frequencies of runs in which each neuron begins with one frequency.
"""

from __future__ import annotations

from modinterp.models import MLPConfig
from modinterp.runs.family import family
from modinterp.tasks import RandomLabels, addition
from modinterp.training import Recipe, RunSpec

P, NEURONS = 23, 512
SEEDS = (42, *range(4, 23))  # the authors' seed, and those that no tolerance was chosen by
_ALL = {"fraction": 1.0, "shuffle": "torch", "weight_decay": 0.0, "log_every": 200, "snapshot_every": 200}
_ADAMW, _SGD = {"lr": 5e-5, **_ALL}, {"optimiser": "sgd", **_ALL}
_GROK = _ALL | {"epochs": 50_000, "fraction": 0.75, "lr": 1e-4}
_TASK, _TASK_97 = addition(P, equals=False), addition(97, equals=False)


def _network(scale: float, act_fn: str = "relu", init: str = "left-facing") -> MLPConfig:
    return MLPConfig.of(_TASK, one_hot=True, d_mlp=NEURONS, act_fn=act_fn, init=init, init_scale=scale)


_WIDE = MLPConfig.of(_TASK_97, one_hot=True, d_mlp=1024, init="left-facing", init_scale=0.1)
_EMBEDDED = MLPConfig.of(_TASK, d_model=128, d_mlp=NEURONS, init="left-facing", init_scale=0.1)

RECIPES: dict[str, tuple[MLPConfig, Recipe, tuple[str, ...]]] = {
    "std": (_network(0.1), Recipe(epochs=10_000, **_ADAMW), ()),
    "embed": (_EMBEDDED, Recipe(epochs=5_000, **_ADAMW), ()),
    "sgd": (_network(0.01), Recipe(epochs=10_000, lr=0.1, **_SGD), ()),
    "quad": (_network(0.1, "square"), Recipe(epochs=10_000, lr=0.1, **_SGD), ()),
    "quad1": (_network(0.02, "square", "single frequency"), Recipe(epochs=10_000, lr=0.1, **_SGD), ("seed",)),
    "relu1": (_network(0.002, "relu", "single frequency"), Recipe(epochs=10_000, lr=0.01, **_SGD), ("seed",)),
    "grok": (_network(0.1), Recipe(**_GROK | {"weight_decay": 2.0}), ("recipe.shuffle",)),
    "grok-wd0": (_network(0.1), Recipe(**_GROK), ("recipe.shuffle",)),
}


def _runs() -> dict[str, RunSpec]:
    runs = {}
    for name, (model, recipe, ours) in RECIPES.items():
        runs |= family(f"he/{name}", _TASK, model, recipe, SEEDS[:1], ours)
        runs |= family(f"he/{name}", _TASK, model, recipe, SEEDS[1:], tuple(dict.fromkeys(("seed", *ours))))
    random = RunSpec(RandomLabels(P, equals=False, mirrored=True), *RECIPES["std"][:2], 42)
    wide = RunSpec(_TASK_97, _WIDE, Recipe(epochs=5_000, **_ADAMW), 42)
    return runs | {"he/random-labels-42": random, "he/p97-42": wide}


RUNS = _runs()
CONTROLS = {"he/random-labels-42": "of random labels"}


def named(*recipes: str) -> tuple[str, ...]:
    """Return the names of all runs of some recipes, with seed 42 of each recipe first."""
    return tuple(f"he/{recipe}-{seed}" for seed in SEEDS for recipe in recipes)
