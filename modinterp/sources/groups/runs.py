"""Define the training runs of Chughtai et al. 2023, by the configurations of its released code.

Networks, optimiser, data fractions and numbers of epochs are those of the released code. For the MLPs, split and
initial weights are exact, too, since the code's seeds decide both on the CPU. Our choice: a training ends 20,000 epochs
after its test loss has become small.
"""

from __future__ import annotations

from modinterp.models import MLPConfig, TransformerConfig
from modinterp.runs.family import family, of_another_operation, of_random_labels, until
from modinterp.sources.groups.order import S5_ELEMENTS
from modinterp.sources.groups.source import SOURCE
from modinterp.tasks import Group
from modinterp.training import Recipe, RunSpec

_ORDERS = {"S5": S5_ELEMENTS}
_MLP_FRACTIONS = {"S5": 0.4, "D59": 0.3, "A5": 0.5, "C113": 0.3}
_T_FRACTIONS = {"S5": 0.6, "D59": 0.3, "C113": 0.3}
_T_EPOCHS = {"S5": 50_000, "D59": 100_000, "C113": 50_000}
_OURS = ("seed", "recipe.stop_at", "recipe.settle")
_SEEDS = range(1, 4)
_MANY = range(1, 9)  # of the groups that most statements are about


def _recipe(epochs: int, fraction: float) -> Recipe:
    return Recipe(epochs, fraction, "torch", warmup=0, log_every=100, snapshot_every=1000, **until(1e-4, 20_000))  # type: ignore[arg-type]


def _mlps(group: str, width: int = 128) -> dict[str, RunSpec]:
    task = Group(group, elements=_ORDERS.get(group, ()), vocabularies=2)
    model = MLPConfig.of(task, d_model=256, d_mlp=width, joined="concatenated", init="1/sqrt(width)")
    return family(
        f"groups/{group.lower()}-mlp{f'-width-{width}' * (width != 128)}",
        task,
        model,
        _recipe(250_000, _MLP_FRACTIONS[group]),
        _MANY if group in ("S5", "A5") and width == 128 else _SEEDS,
        _OURS,
    )


def _transformers(group: str) -> dict[str, RunSpec]:
    task = Group(group, elements=_ORDERS.get(group, ()), equals=True)
    model = TransformerConfig.of(task, mlp_biases=False, init="0.8/sqrt(d_model)")
    recipe = _recipe(_T_EPOCHS[group], _T_FRACTIONS[group])
    return family(f"groups/{group.lower()}-t", task, model, recipe, _SEEDS, _OURS)


_FAMILIES = {f"{group}-mlp": _mlps(group) for group in _MLP_FRACTIONS} | {
    f"{group}-t": _transformers(group) for group in _T_FRACTIONS
}
_FAMILIES["S5-mlp-narrow"] = _mlps("S5", 64)
RUNS = {name: spec for members in _FAMILIES.values() for name, spec in members.items()}
MAIN = SOURCE.main_run
D59_MLP, A5_MLP, C113_MLP = (tuple(_FAMILIES[f"{group}-mlp"]) for group in ("D59", "A5", "C113"))
S5_MLP = (MAIN, *(name for name in _FAMILIES["S5-mlp"] if name != MAIN))
S5_T, D59_T, C113_T = (tuple(_FAMILIES[f"{group}-t"]) for group in ("S5", "D59", "C113"))
S5_NARROW = tuple(_FAMILIES["S5-mlp-narrow"])
MLPS, TRANSFORMERS = (*S5_MLP, *D59_MLP, *A5_MLP, *C113_MLP), (*S5_T, *D59_T, *C113_T)

CONTROLS = {
    "groups/random-labels-mlp-1": "of random labels",
    "groups/c120-mlp-1": "of another operation",
    "groups/random-labels-t-1": "of random labels",
    "groups/c120-t-1": "of another operation",
}
RUNS |= of_random_labels("groups/random-labels-mlp-1", RUNS["groups/s5-mlp-1"], epochs=3_000)
RUNS |= of_another_operation("groups/c120-mlp-1", RUNS["groups/s5-mlp-1"], Group("C120", vocabularies=2))
RUNS |= of_random_labels("groups/random-labels-t-1", RUNS["groups/s5-t-1"], epochs=1_000)
RUNS |= of_another_operation("groups/c120-t-1", RUNS["groups/s5-t-1"], Group("C120", equals=True))
