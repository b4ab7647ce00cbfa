"""Define the training runs of ARENA's monthly problems: running sums, sorted lists, palindromes, unique letters, sums
of two numbers.

Exact, as in the notebooks: sizes, data, random order, Adam with decay in the gradient, batches of 512, and the falling
learning rate. The authors used seed 42. We chose the seeds other than 42.
"""

from __future__ import annotations

from collections.abc import Iterable

from modinterp.models import TransformerConfig
from modinterp.tasks import ColumnSum, FirstUnique, Palindromes, SignOfSum, SortedList, StreamTask
from modinterp.training import Recipe, RunSpec

SEEDS = (42, *range(7))
BATCH = 512


def _recipe(task: StreamTask, rounds: int, lr: float, lr_end: float, decay: float) -> Recipe:
    """Adam over so many rounds of the training inputs, with a row of history and a snapshot each.

    The palindromes alone have a loss in float64 in their notebook, where the rate is constant.
    """
    steps = -(-task.size // BATCH)
    return Recipe(
        epochs=rounds * steps,
        fraction=task.share,
        batches="permuted",
        batch_size=BATCH,
        lr=lr,
        lr_end=lr_end,
        lr_stairs=rounds if lr_end != lr else 0,
        weight_decay=decay,
        decay="coupled",
        betas=(0.9, 0.999),
        warmup=0,
        loss_dtype="float64" if isinstance(task, Palindromes) else "float32",
        log_every=steps,
        snapshot_every=steps,
    )


def _runs(
    stem: str,
    tasks: Iterable[StreamTask],
    rounds: int,
    rates: tuple[float, float],
    decay: float,
    **sizes: int | str | None,
) -> dict[str, RunSpec]:
    """Return the runs of one problem, by name; a task for each seed, whose data the seed decides."""
    runs = {}
    for task in tasks:
        model = TransformerConfig.of(task, attn_biases=True, unembed_bias=True, init="0.8/sqrt(d_model)", **sizes)
        spec = RunSpec(task, model, _recipe(task, rounds, *rates, decay), task.data_seed)
        runs[f"arena/{stem}-{task.data_seed}"] = spec
    return runs


_SIGNS = [SignOfSum(size=150_000, held_out=10_000, data_seed=seed) for seed in SEEDS]
_LISTS = [SortedList(size=150_000, held_out=10_000, data_seed=seed) for seed in SEEDS]
_PALINDROMES = [Palindromes(size=100_000, held_out=5_000, data_seed=seed) for seed in SEEDS]
_LETTERS = [FirstUnique(size=100_000, held_out=5_000, data_seed=seed) for seed in SEEDS]
_SUMS = [ColumnSum(size=100_000, held_out=5_000, data_seed=seed) for seed in SEEDS]
CUMSUM, SORT, PALINDROME, UNIQUE, SUM, SUM1 = (
    tuple(f"arena/{stem}-{seed}" for seed in SEEDS)
    for stem in ("cumsum", "sort", "palindrome", "unique", "sum", "sum1")
)
_ATTENTION_ALONE = {"d_mlp": None, "normalization_type": "LN"}
_SUM_SIZES = {"d_model": 48, "n_heads": 3, "d_head": 24, **_ATTENTION_ALONE}

RUNS = {
    **_runs("cumsum", _SIGNS, 20, (1e-3, 1e-4), 0.01, d_model=24, n_heads=1, d_head=12, d_mlp=8),
    **_runs("sort", _LISTS, 25, (1e-3, 1e-4), 0.005, d_model=96, n_heads=2, d_head=48, **_ATTENTION_ALONE),
    **_runs(
        "palindrome",
        _PALINDROMES,
        15,
        (1e-3, 1e-3),
        0.0,
        n_layers=2,
        d_model=28,
        n_heads=2,
        d_head=14,
        **_ATTENTION_ALONE,
    ),
    **_runs(
        "unique",
        _LETTERS,
        50,
        (1e-3, 1e-3),
        0.0,
        n_layers=2,
        d_model=42,
        n_heads=3,
        d_head=14,
        **_ATTENTION_ALONE,
    ),
    **_runs("sum", _SUMS, 100, (2e-3, 1e-4), 0.001, n_layers=2, **_SUM_SIZES),
    **_runs("sum1", _SUMS, 100, (2e-3, 1e-4), 0.001, n_layers=1, **_SUM_SIZES),
}
