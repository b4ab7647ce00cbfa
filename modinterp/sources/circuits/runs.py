"""Define the training runs of "Circuit engineering": addition, maximum, median and sort.

Exact, since the report states them: one layer, 4 heads of 32 dimensions, and widths such as 32 and 512. The report
trains addition on 5,000 pairs. Maximum, minimum, median and sort have five numbers and CLS as input, and 40,000
training samples; the sort has ten times as many. The report states no recipe, so no run is labelled "the recipe with
our draw". Nearly everything else is our choice: seeds, initial weights, numbers below 100, batches of 512, a loss in
float64, AdamW at 1e-3 with a decay of 0.1, and 512 neurons. In balanced training data, a tenth of the inputs has only
small numbers.

We tested other choices on the balanced maximum in 2,000 steps: three seeds, decay 0 and 1, a learning rate of 3e-4, 128
neurons, and a hundredth of small inputs. With other seeds, decays, rates or widths, the algorithm stays the same, with
99.7% to 99.9% right answers. With other seeds, decays, rates or widths, the CLS scores lie on lines (R squared 0.90 to
0.97) of slope 0.28 to 0.52. If the largest number leads by 10, it gets 97% to 99% of the attention. Of the numbers from
20 on, the networks copy 97.5% to 98.8%. Trained on 5,000 inputs, the maximum network answers 99.3% right and copies 90%
of the numbers. Training length changes two measurements on the balanced maximum: the slope of the CLS scores and the
mean cosine of the position embeddings. The slope of the CLS scores is 0.28 at step 2,000, and 0.36 to 0.58 at step
20,000; the report has 0.15. The mean cosine of the position embeddings is 0.04 at step 2,000 and 0.40 at step 20,000;
the report says "close". The slope and the cosine both grow with the length of training, which the report does not
state.
"""

from __future__ import annotations

from dataclasses import replace

from modinterp.models import TransformerConfig
from modinterp.runs.family import family
from modinterp.tasks import Ordering, addition
from modinterp.training import Recipe, RunSpec

_OPTIMISER = ("seed", "recipe.lr", "recipe.weight_decay", "recipe.betas", "recipe.warmup", "recipe.epochs")
_DATA = ("task.limit", "recipe.batches", "recipe.batch_size", "model.d_mlp")
_MANY = range(10)  # seeds that say in how many networks a statement holds; claims ask for the first three
WIDTHS = (8, 16, 32, 64, 128, 256, 512)
ADD, MAX, BALANCED, MEDIAN, SORT, ONE_HEAD = (
    tuple(f"circuits/{stem}-{seed}" for seed in range(3))
    for stem in ("add", "max", "max-balanced", "median", "sort", "sort-one-head")
)
SMALL_SORT = "circuits/sort-small-0"
SMALL_SORTS, ONE_ANSWER = (
    tuple(f"circuits/{stem}-{seed}" for seed in range(3)) for stem in ("sort-small", "sort-one-answer")
)
OF_WIDTHS = tuple(
    f"circuits/{task}-width-{width}-{seed}" for task in ("add", "median") for seed in range(3) for width in WIDTHS
)
_PAIRS = 0.3916  # 5,000 of 12,769
_EVERY = {"log_every": 100, "snapshot_every": 1000}
_ORDERING = Recipe(
    epochs=20_000, fraction=0.8, batches="shuffled", batch_size=512, weight_decay=0.1, betas=(0.9, 0.98), **_EVERY
)

_SHORTER = replace(_ORDERING, epochs=10_000)  # a sort learns five answers from every input; a sweep compares widths


def _ordering(
    stem: str, task: Ordering, unstated: tuple[str, ...] = (), seeds: range = range(3), **sizes: int
) -> dict[str, RunSpec]:
    """Seeds of a task on numbers, with those fields as our choice that the report leaves open."""
    model = TransformerConfig.of(task, **sizes)
    recipe = _SHORTER if task.ask == "sort" or "d_model" in sizes else _ORDERING
    return family(f"circuits/{stem}", task, model, recipe, seeds, (*_OPTIMISER, *_DATA, *unstated))


def _widths() -> dict[str, RunSpec]:
    """Addition and the median, learned by networks of several widths."""
    runs, pairs, medians = {}, addition(113), Ordering("median", size=50_000)
    for width in WIDTHS:
        model = TransformerConfig.of(pairs, d_model=width, d_mlp=4 * width)
        runs |= family(
            f"circuits/add-width-{width}",
            pairs,
            model,
            Recipe(epochs=7_500, fraction=_PAIRS, **_EVERY),
            range(3),
            (*_OPTIMISER, "model.d_model", "model.d_mlp"),
        )
        runs |= _ordering(f"median-width-{width}", medians, ("model.d_model",), d_model=width, d_mlp=4 * width)
    return runs


def _addition(epochs: int, seeds: range) -> dict[str, RunSpec]:
    """Modular addition from 5,000 pairs."""
    task, recipe = addition(113), Recipe(epochs=epochs, fraction=_PAIRS, **_EVERY)
    return family("circuits/add", task, TransformerConfig.of(task), recipe, seeds, _OPTIMISER)


RUNS = {
    # 25,000 lie past the report's window of grokking; from 7,500 on the first hardly changed, its sum of squares by 1%
    **_addition(25_000, range(1)),
    **_addition(10_000, _MANY[1:]),
    **_ordering("max", Ordering("max", size=50_000)),
    **_ordering("max-balanced", Ordering("max", size=50_000, small_share=0.1), ("task.small_share",), _MANY),
    **_ordering("median", Ordering("median", size=50_000)),
    **_ordering("sort", Ordering("sort", size=500_000), seeds=_MANY),
    **_ordering("sort-small", Ordering("sort", size=50_000)),
    **_ordering("sort-one-answer", Ordering("sort", size=50_000, asked=1), ("task.asked",)),
    **_ordering("sort-one-head", Ordering("sort", size=500_000), n_heads=1),
    **_widths(),
}

CONTROLS = {
    "circuits/max-balanced-0": "of another operation",  # of the claims on medians
    "circuits/median-0": "of another operation",  # of those on maxima
    "nanda/random-labels-0": "of random labels",  # of those on additions
    "nanda/multiplication-0": "of another operation",
}
