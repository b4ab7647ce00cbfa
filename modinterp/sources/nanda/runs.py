"""Define the training runs of Nanda et al. 2023.

Exact, since the paper states them: one layer, d_model 128, 4 heads of 32 dimensions, 512 ReLU neurons, no LayerNorm. p
= 113, 30% of the pairs, full batches, 40,000 epochs, AdamW with learning rate 1e-3 and weight decay 1. The released
code adds betas (0.9, 0.98), 10 steps of warm-up, the initialisation with its draw order, and the split from Python's
shuffle. The network has 114 outputs; the analyses drop the output for "=". The runs `mainline` and `rounding` follow
the paper and the released code exactly. The paper does not say which numerical replicate of seed 0 is its network:
`mainline-0` matches the paper's fingerprint. The paper's other seeds are unknown; we chose the seeds of `mainline-1`
and later runs. The run `other-draw` and every sweep draw the initial weights in another order, for 113 outputs.
"""

from __future__ import annotations

from dataclasses import replace

from modinterp.models import TransformerConfig
from modinterp.runs.family import family, until
from modinterp.tasks import DigitAddition, RandomLabels, RepeatedSubsequence, SkipTrigram, addition, multiplication
from modinterp.training import Nudge, Recipe, RunSpec

MAIN = "nanda/mainline-0"
OTHER_DRAWS = tuple(f"nanda/other-draw-{seed}" for seed in range(5))
SEEDS = (MAIN, *OTHER_DRAWS[1:])  # the network of the paper's seed, and four more

_SEED, _EPOCHS, _THREE_SEEDS = "seed", "recipe.epochs", range(3)
SWEEP = {"log_every": 100, "snapshot_every": 1000}


# by which the variants of the paper's own seed differ: nothing, or one initial matrix one unit in the last place up
_MOVED = (
    "unembed.W_U",
    "embed.W_E",
    "blocks.0.mlp.W_in",
    "blocks.0.mlp.W_out",
    "blocks.0.attn.W_O",
    "blocks.0.attn.W_V",
    "blocks.0.attn.W_Q",
)
_NUDGES = (None, *(Nudge(name, 1) for name in _MOVED))
ROUNDING = tuple(f"nanda/rounding-{number}" for number in range(len(_NUDGES)))


# the variant of the paper's seed that is `mainline-0`: of those with the paper's five frequencies the one with the most
# heads at the paper's frequencies, of several such the one of the lowest number. Chosen by this alone among the first
# four that ended on a CPU (0, 1, 2 and 4, of which 2 and 4 have all nine frequencies), before a claim was measured on
# it. The variants that are shipped were trained on a GPU, where the same number adds up in another order
FINGERPRINT = 2
PAPER_FREQS, PAPER_HEADS = (14, 35, 41, 42, 52), (35, 42, 52, 42)


def _by_the_released_code() -> dict[str, RunSpec]:
    """Return the paper's own seed by its released code, it with one matrix moved, and other seeds by the same code."""
    task = addition(113)
    model = TransformerConfig.of(task, init="left-facing", unlabelled_outputs=1)
    runs = {
        name: RunSpec(task, model, Recipe(), 0, ("nudge",) if nudge else (), nudge)
        for name, nudge in zip(ROUNDING, _NUDGES, strict=True)
    }
    runs[MAIN] = RunSpec(task, model, Recipe(), 0, ("nudge",), _NUDGES[FINGERPRINT])
    return runs | family("nanda/mainline", task, model, Recipe(), range(1, 15), (_SEED,))


def _additions(
    stem: str, seeds: range = _THREE_SEEDS, p: int = 113, n_layers: int = 1, unstated: tuple[str, ...] = (), **recipe
) -> dict[str, RunSpec]:
    """Return the runs of the paper's own network and recipe with some fields changed.

    Args:
        stem: name without the source's and the seed.
        seeds: one run each.
        p: modulus.
        n_layers: of the network.
        unstated: fields that the paper leaves open, beside the seed.
        recipe: fields of the recipe.
    """
    task = addition(p)
    model = TransformerConfig.of(task, n_layers=n_layers)
    return family(f"nanda/{stem}", task, model, Recipe(**recipe), seeds, (_SEED, *unstated))


def _sweeps() -> dict[str, RunSpec]:
    """Appendices C.2.2 and C.2.3: other fractions of the data, a second layer, other moduli."""
    runs = {}
    for percent in (10, 20, 40, 50, 60, 70, 80, 90):
        runs |= _additions(
            f"fraction-{percent}",
            range(1),
            fraction=percent / 100,
            unstated=() if percent < 40 else (_EPOCHS,),
            **({} if percent < 40 else until(1e-6, 3_000)),
            **SWEEP,
        )
    runs |= _additions("two-layers", range(8), n_layers=2, epochs=20_000, unstated=(_EPOCHS,), snapshot_every=200)
    runs |= _additions(
        "p53-decay-5", range(5), p=53, weight_decay=5.0, unstated=(_EPOCHS,), **until(1e-3, 5_000), **SWEEP
    )
    runs |= _additions("p53", p=53, unstated=(_EPOCHS,), **SWEEP)
    runs |= _additions("p109", range(8), p=109, unstated=(_EPOCHS,), **until(1e-6, 8_000), **SWEEP)
    for decay in (0.3, 0.5, 1, 3, 5, 8):
        runs |= _additions(
            f"p401-decay-{decay}",
            range(1),
            p=401,
            weight_decay=float(decay),
            epochs=10_000,
            unstated=(_EPOCHS,),
            **until(1e-2, 200),
            **SWEEP,
        )
    for percent, epochs in ((5, 5_000), (10, 5_000), (20, 4_000)):  # with 20% it is decided by 1,700
        runs |= _additions(
            f"p401-fraction-{percent}",
            p=401,
            fraction=percent / 100,
            epochs=epochs,
            unstated=(_EPOCHS,),
            **until(1e-2, 200),
            **SWEEP,
        )
    return runs


def _regularisations() -> dict[str, RunSpec]:
    """Appendices D.1 and D.2: none, more or less weight decay, dropout, penalties, and losses of lower precision."""
    runs = {}
    runs |= _additions("no-decay", weight_decay=0.0, unstated=(_EPOCHS,))
    for decay, epochs, seeds in ((0.1, 108_000, range(1)), (0.3, 60_000, _THREE_SEEDS), (3, 20_000, _THREE_SEEDS)):
        runs |= _additions(
            f"decay-{decay}",
            seeds,
            weight_decay=float(decay),
            epochs=epochs,
            unstated=(_EPOCHS,),
            **until(1e-4, 2_000),
            **SWEEP,
        )
    for rate, epochs in ((0.2, 80_000), (0.5, 40_000), (0.8, 40_000)):  # with 0.2 it is on its way at 40,000
        runs |= _additions(
            f"dropout-{rate}",
            dropout=rate,
            weight_decay=0.0,
            epochs=epochs,
            unstated=(_EPOCHS,),
            **until(1e-6, 2_000),
            **SWEEP,
        )
    for of in ("sum", "mean"):
        for strength in (1, 10, 100):
            runs |= _additions(
                f"l1-{of}-{strength}",
                l1=float(strength),
                l1_of=of,
                weight_decay=0.0,
                epochs=20_000,
                unstated=(_EPOCHS, "recipe.l1_of"),
                **SWEEP,
            )
    for dtype in ("float32", "float16"):
        runs |= _additions(
            dtype,
            loss_dtype=dtype,
            epochs=20_000,
            unstated=("recipe.loss_dtype", _EPOCHS),
            log_every=10,  # slingshots are short
            snapshot_every=1000,
        )
    return runs


def _half_as_long(spec: RunSpec) -> dict[str, RunSpec]:
    """Repeated subsequences half as long, within what two cores can do; with more weight decay it does not memorise."""
    task = RepeatedSubsequence(size=1024, length=43, subsequence=8)
    model = TransformerConfig.of(task, n_layers=2, d_model=48, d_head=12, d_mlp=None)
    unstated = (*spec.unstated, "task.length", "task.subsequence", "recipe.lr", _EPOCHS)
    recipe = replace(spec.recipe, lr=3e-3, epochs=100_000, **until(2.0, 5_000))
    return family("nanda/repeated-512-short", task, model, recipe, (0,), unstated)


def _sequences() -> dict[str, RunSpec]:
    """Appendix D.3: three more tasks, each with data without end and with few."""
    runs = {}
    every = {"log_every": 10, "snapshot_every": 1000}
    kinds = {"endless": ("fresh", 0.5), "700": ("full", 0.25)}
    for kind, (batches, fraction) in kinds.items():
        task = DigitAddition(size=2800)
        recipe = Recipe(
            epochs=6_000 if kind == "endless" else 18_000,
            fraction=fraction,
            batches=batches,
            batch_size=256 if kind == "endless" else 0,
            **every,
        )
        runs |= family(
            f"nanda/digits-{kind}",
            task,
            TransformerConfig.of(task),
            recipe,
            range(8) if kind == "endless" else _THREE_SEEDS,
            (_SEED, "recipe.batch_size", "task.size"),
        )
    for kind in ("endless", "512"):
        task = RepeatedSubsequence(size=1024)
        model = TransformerConfig.of(task, n_layers=2, d_model=48, d_head=12, d_mlp=None)
        endless = kind == "endless"
        # endless in batches of 128 alone it stays at half of the answers right
        recipe = Recipe(
            epochs=6_000 if endless else 285_000,
            fraction=0.5,
            batches="fresh" if endless else "fixed",
            batch_size=512 if endless else 128,
            betas=(0.9, 0.999),
            log_every=50 if endless else 100,
            snapshot_every=1_000 if endless else 5_000,
        )
        runs |= family(f"nanda/repeated-{kind}", task, model, recipe, (0,), (_SEED, "task.size", "task.copies"))
    runs |= _half_as_long(runs["nanda/repeated-512-0"])
    for kind in ("endless", "512"):
        task = SkipTrigram(size=2048)
        endless = kind == "endless"
        recipe = Recipe(
            epochs=3_000 if endless else 5_000,
            fraction=0.25,
            batches="fresh" if endless else "full",
            batch_size=512 if endless else 0,
            **every,
        )
        runs |= family(
            f"nanda/trigram-{kind}",
            task,
            TransformerConfig.of(task, d_mlp=None),
            recipe,
            range(8) if endless else _THREE_SEEDS,
            (_SEED, "task.size", "task.length", "recipe.batch_size"),
        )
    return runs


CONTROLS = {
    "nanda/random-labels-0": "of random labels",
    "nanda/multiplication-0": "of another operation",
    "nanda/no-decay-0": "of a run that never generalises",
}


def _controls() -> dict[str, RunSpec]:
    """Return the main network on other tasks, on which a claim about the algorithm must fail.

    Random labels are memorised long before epoch 1,000. Multiplication is learned from half of the pairs, from which it
    generalises soon; it must be solved, and how soon is no matter.
    """
    tasks = {"nanda/random-labels-0": RandomLabels(113), "nanda/multiplication-0": multiplication(113)}
    recipes = {
        "nanda/random-labels-0": Recipe(epochs=1_000, **SWEEP),
        "nanda/multiplication-0": Recipe(epochs=20_000, fraction=0.5, **until(1e-6, 300), **SWEEP),
    }
    unstated = (_SEED, "task", _EPOCHS, "recipe.fraction")
    return {n: RunSpec(task, TransformerConfig.of(task), recipes[n], 0, unstated) for n, task in tasks.items()}


RUNS = {
    **_by_the_released_code(),
    **_additions("other-draw", range(5)),
    **_sweeps(),
    **_regularisations(),
    **_sequences(),
    **_controls(),
}
