"""The runs of Kissane's notebook on a one-hidden-layer MLP.

Exact: the network, seed 0, learning rate, weight decay and 30% of the data, which it states; betas, no warm-up, 50,000
epochs and the split by torch's generator, which are those of its code. The recipe with our draw: the initial weights,
whose embedding the notebook divides by the root of d_model, 128, and ours by that of its 113 rows. Ours: seeds 1 to 4.
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
