"""Define the training runs of Kissane's notebook on a one-hidden-layer MLP.

The run `kissane` follows the notebook exactly in network, seed 0, learning rate, weight decay and 30% of the data. The
run also follows the notebook's code: betas, no warm-up, 50,000 epochs, and weights and split by torch's generator. We
chose the seeds of all other runs. The run `other-draw` draws other weights: the embedding is divided by the root of its
113 rows, not by that of d_model, 128.
"""

from __future__ import annotations

from modinterp.models import MLPConfig
from modinterp.runs.family import family, of_another_operation, of_random_labels
from modinterp.tasks import ModularArithmetic, addition
from modinterp.training import Recipe

MAIN = "mlp/kissane-0"  # the notebook's own seed
OTHER_DRAWS = tuple(f"mlp/other-draw-{seed}" for seed in range(5))
SEEDS = (MAIN, *OTHER_DRAWS[1:])  # the network of the notebook's seed, and four more

_TASK = addition(113, equals=False)
_RECIPE = Recipe(epochs=50_000, shuffle="torch", betas=(0.9, 0.95), warmup=0)

_MODEL = MLPConfig.of(_TASK, init="1/sqrt(width)")

RUNS = {
    **family("mlp/kissane", _TASK, _MODEL, _RECIPE),
    **family("mlp/kissane", _TASK, _MODEL, _RECIPE, range(1, 10), ("seed",)),
    **family("mlp/other-draw", _TASK, MLPConfig.of(_TASK), _RECIPE, range(5), ("seed", "model.init")),
}

CONTROLS = {"mlp/random-labels-0": "of random labels", "mlp/multiplication-0": "of another operation"}
RUNS |= of_random_labels("mlp/random-labels-0", RUNS[MAIN], epochs=1_000)
RUNS |= of_another_operation("mlp/multiplication-0", RUNS[MAIN], ModularArithmetic(113, "mul", equals=False))
