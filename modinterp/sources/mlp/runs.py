"""The runs of Kissane's notebook on a one-hidden-layer MLP.

It states network, initialisation, seed 0, learning rate, weight decay and 30% of the data; betas, no warm-up and
50,000 epochs are those of its code, whose split is that of torch's generator.
"""

from __future__ import annotations

from modinterp.models import MLPConfig
from modinterp.runs.family import family
from modinterp.tasks import addition
from modinterp.training import Recipe

SEEDS = tuple(f"mlp/kissane-{seed}" for seed in range(5))
MAIN = SEEDS[0]  # the notebook's own seed

_TASK = addition(113, equals=False)
_RECIPE = Recipe(epochs=50_000, shuffle="torch", betas=(0.9, 0.95), warmup=0)

RUNS = {
    **family("mlp/kissane", _TASK, MLPConfig.of(_TASK), _RECIPE),
    **family("mlp/kissane", _TASK, MLPConfig.of(_TASK), _RECIPE, range(1, 5), ("seed",)),
}
