"""Define the training runs of Syrkis & Søgaard 2024 (MIIII).

Exact, since the paper states them: one block, d_model 256, 4 heads, 4 d_model neurons, no biases, He initialisation.
The paper also states the learning rate 3e-4, weight decay 1/3, betas 0.9 and 0.98, dropout 1/10 (in the code one mask
for the whole batch), and Grokfast with alpha 0.98 and lambda 1/2. The released code trains for 65,536 epochs. The paper
states that 30% of the data are used for training, and the released code uses 50%. With 30% of the data the main run
learns two tasks of 29, so the variants train on half of the data. We drew the initial weights and the split, since the
released code draws both with another library. Our choice: how plain modular addition is trained, which the paper does
not state, the length of variants, and the warm-up.
"""

from __future__ import annotations

from dataclasses import replace

from modinterp.models import TransformerConfig
from modinterp.runs.family import family, until
from modinterp.tasks import PrimeRemainders, Task, addition, primes_below
from modinterp.training import Recipe, RunSpec

CODED, PRINTED = "miiii/p113-half-0", "miiii/p113-0"  # trained on half as in the source's code, on 30% as in its text
ALONE, TOGETHER = "miiii/p37-alone-0", "miiii/p37-0"  # remainders by 31 alone, and beside all others
LAMBDA0, NO_DROPOUT = "miiii/p113-lambda0-0", "miiii/p113-no-dropout-0"
BASIS, MASKED = "miiii/basis-0", "miiii/masked-0"
NANDA = tuple(f"miiii/nanda-{seed}" for seed in range(5))
ONE_OF_EACH = (CODED, "miiii/nanda-[0-4]")  # what a claim that compares the two tasks cannot do without
NANDA_LAMBDA0 = tuple(f"miiii/nanda-lambda0-{seed}" for seed in range(5))
SMALL = ("miiii/p23-0", "miiii/p37-0", "miiii/p53-0")

RECIPE = Recipe(
    epochs=65_536,
    lr=3e-4,
    weight_decay=1 / 3,
    betas=(0.9, 0.98),
    warmup=0,
    residual_dropout=0.1,
    grokfast=0.5,
    grokfast_alpha=0.98,
    log_every=64,
    snapshot_every=4096,
    spectra_every=1024,
)
_UNSTATED = ("seed", "recipe.warmup")


def network(task: Task, d_model: int = 256, n_heads: int = 4) -> TransformerConfig:
    """Return the source's network for a task: heads share d_model; 4 d_model neurons; no biases; He initialisation."""
    return TransformerConfig.of(
        task,
        d_model=d_model,
        n_heads=n_heads,
        d_head=d_model // n_heads,
        d_mlp=4 * d_model,
        mlp_biases=False,
        init="he",
    )


def _runs(
    stem: str,
    task: Task,
    seeds: range = range(1),
    unstated: tuple[str, ...] = (),
    d_model: int = 256,
    **recipe,
) -> dict[str, RunSpec]:
    """Return the runs by the source's recipe, but for the fields that are given; a number of epochs that is given is
    our choice.
    """
    trained_by = replace(RECIPE, **recipe)
    chosen = (*_UNSTATED, *unstated) + ("recipe.epochs",) * ("epochs" in recipe)
    return family(f"miiii/{stem}", task, network(task, d_model), trained_by, seeds, chosen)


_PLAIN = {"unstated": ("model.d_model",), "d_model": 128, "epochs": 40_000}
_SMALL = {"epochs": 32_768, "unstated": ("task.p",)}

RUNS = {
    **_runs("p113", PrimeRemainders(113)),
    **_runs("p113-half", PrimeRemainders(113), fraction=0.5),
    **_runs(
        "p113-lambda0", PrimeRemainders(113), fraction=0.5, grokfast=0.0, epochs=36_864
    ),  # p113-half is 96% right by then; what takes a third longer shows
    **_runs(
        "p113-no-dropout", PrimeRemainders(113), fraction=0.5, residual_dropout=0.0
    ),  # at epoch 20,480 it still memorises
    **_runs("basis", PrimeRemainders(113, shuffled=True), fraction=0.5, epochs=8_192),
    **_runs(
        "masked", PrimeRemainders(113, masked=(2, 3, 5, 7)), fraction=0.5, epochs=40_960
    ),  # p113-half has learned 15 of the other 25 by then
    **_runs("nanda", addition(113), range(5), **_PLAIN),
    **_runs(
        "nanda-lambda0", addition(113), range(5), **_PLAIN, grokfast=0.0, **until(1e-4, 2_000)
    ),  # when it groks is decided by then
    **_runs("p23", PrimeRemainders(23), **_SMALL),
    **_runs("p37", PrimeRemainders(37), **_SMALL),
    **_runs("p37-alone", PrimeRemainders(37, masked=primes_below(31)), **_SMALL),
    **_runs("p53", PrimeRemainders(53), **_SMALL),
}
