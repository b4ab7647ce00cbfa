"""Appendices D.1 and D.2, figures 26 to 28: other ways to regularise, none at all, and a loss of lower precision."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

import pandas as pd

from modinterp.analyses.curves import rank_correlation, slingshots
from modinterp.analyses.phases import LEARNED
from modinterp.analyses.progress import fourier_gini, gini
from modinterp.claims.band import at_least, at_most
from modinterp.claims.claim import Claim, Value, not_measured, refuted
from modinterp.claims.evidence import evidence
from modinterp.claims.nanda.rows import SWEPT_DECAY
from modinterp.claims.nanda.setup import NO_DECAY, NO_GROKKING, ONE_FREQUENCY, SEEDS, no_decay
from modinterp.claims.nanda.trainings import DECIDED, final, highest, recipe_of, share, still_learning
from modinterp.runs import TrainedRun

DROPPED = tuple(f"nanda/dropout-{rate}-{seed}" for rate in (0.2, 0.5, 0.8) for seed in range(3))
PENALISED = tuple(f"nanda/l1-{of}-{strength}-{seed}"
                  for of in ("sum", "mean") for strength in (1, 10, 100) for seed in range(3))  # fmt: skip
COARSE = tuple(f"nanda/{dtype}-{seed}" for dtype in ("float32", "float16") for seed in range(3))


def _decays(*runs: TrainedRun) -> dict[str, Value]:
    at: dict[float, list[float]] = {}
    for run in sorted(runs, key=lambda run: recipe_of(run).weight_decay):
        at.setdefault(recipe_of(run).weight_decay, []).append(evidence(run).grokking.grokked)
    medians = {decay: median(epochs) for decay, epochs in at.items()}
    ratios = [medians[less] / medians[more] for less, more in ((0.3, 1.0), (1.0, 3.0))]
    return {
        "rank correlation of weight decay and median grokking epoch": rank_correlation(list(medians), list(medians.values())),
        "median grokking epoch, 0.3 over 1": ratios[0],
        "median grokking epoch, 1 over 3": ratios[1],
        **{f"median grokking epoch, weight decay {decay:g}": epoch for decay, epoch in medians.items()},
        **{f"seeds, weight decay {decay:g}": len(epochs) for decay, epochs in at.items()},
    }  # fmt: skip


def _dropout(*runs: TrainedRun) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for rate in (0.2, 0.5, 0.8):
        some = [run for run in runs if recipe_of(run).dropout == rate]
        best = [highest(run, "test_accuracy") for run in some]
        found[f"share of seeds that reach a test accuracy of 0.98, dropout {rate}"] = share([x >= 0.98 for x in best])
        found[f"highest test accuracy, dropout {rate}"] = best
        found[f"grokking epoch, dropout {rate}"] = [evidence(run).grokking.grokked for run in some]
        found[f"seeds, dropout {rate}"] = len(some)
        found[f"seeds still learning when their epochs are over, dropout {rate}"] = sum(map(still_learning, some))
    return found


def _memorised(runs: Iterable[TrainedRun]) -> list[TrainedRun]:
    return [run for run in runs if highest(run, "train_accuracy") >= LEARNED]


def _l1(*runs: TrainedRun) -> dict[str, Value]:
    return {
        "highest test accuracy": [highest(run, "test_accuracy") for run in runs],
        "epochs": [final(run, "epoch") for run in runs],
        "highest train accuracy": [highest(run, "train_accuracy") for run in runs],
        "networks that ever memorise": len(_memorised(runs)),
        "final sum of squared weights": [final(run, "sum_of_squared_weights") for run in runs],
        "networks": len(runs),
    }


def _sparsities(run: TrainedRun) -> tuple[float, float]:
    """Gini coefficients over the neurons' output weights, and over the Fourier components of W_E."""
    W_out = run.model.blocks[-1].mlp.W_out.detach()
    return gini(W_out.norm(dim=1)), fourier_gini(evidence(run).W_E)


def _less_sparse(*runs: TrainedRun) -> dict[str, Value]:
    decayed = [_sparsities(run) for run in runs if recipe_of(run).l1 == 0]
    penalised = [_sparsities(run) for run in _memorised(runs) if recipe_of(run).l1 > 0]
    most_neuron, least_fourier = max(n for n, _ in decayed), min(f for _, f in decayed)
    return {
        "Gini of the neurons, less the highest with decay": [n - most_neuron for n, _ in penalised],
        "Gini of W_E in the Fourier basis, less the lowest with decay": [f - least_fourier for _, f in penalised],
        "Gini of the neurons with l1": [n for n, _ in penalised],
        "Gini of W_E in the Fourier basis with l1": [f for _, f in penalised],
        "networks with l1 that ever memorise": len(penalised),
    }


def _shots(history: pd.DataFrame, every: int) -> int:
    """Slingshots in the first 20,000 epochs, as far as rows `every` so many epochs show them."""
    seen = history[(history["epoch"] <= 20_000) & (history["epoch"] % every == 0)]
    return len(slingshots(seen["epoch"], seen["train_loss"]))


def _low_precision(*runs: TrainedRun) -> dict[str, Value]:
    every = max(recipe_of(run).log_every for run in runs)  # all curves seen equally often
    at: dict[str, list[int]] = {"float64": [], "float32": [], "float16": []}
    for run in runs:
        at[recipe_of(run).loss_dtype].append(_shots(run.history, every))
    return {
        "slingshots in float32": at["float32"],
        "slingshots in float32 less 5 times those in float64": [n - 5 * max(at["float64"]) for n in at["float32"]],
        "slingshots in float64": at["float64"],
        "slingshots in float16": at["float16"],
        "epochs between two rows": every,
        "seeds in float32": len(at["float32"]),
    }


CLAIMS = (
    Claim(
        "nanda.fig26",
        "appendix D.1, figure 26",
        "Without weight decay it does not grok, and its excluded loss does not rise; for want of key frequencies the largest over all frequencies is taken.",
        "none printed",
        no_decay,
        NO_GROKKING,
        given=DECIDED,
        needs=NO_DECAY,
        scope="any seed",
        finding=ONE_FREQUENCY,
        figure="no_decay",
    ),
    Claim(
        "nanda.fig27",
        "appendix D.1, figure 27",
        "The less weight decay, the later it groks.",
        "about 3,000, 5,000 to 10,000 and 20,000 epochs; the text gives them to 0.3, 1 and 3, which its own sentence and figure reverse",
        _decays,
        {
            "rank correlation of weight decay and median grokking epoch": at_most(-0.9999, "strictly falling"),
            "median grokking epoch, 0.3 over 1": at_least(1.3, "2 to 4 in the paper"),
            "median grokking epoch, 1 over 3": at_least(1.3, "1.7 to 3.3 in the paper"),
        },
        needs=(*SWEPT_DECAY, *SEEDS),
        scope="any seed",
        figure="decays",
        required=("nanda/decay-0.3-*", "nanda/mainline-*", "nanda/decay-3-*"),
    ),
    Claim(
        "nanda.fig28.dropout",
        "appendix D.1, figure 28",
        "Dropout of 20% or 50% of the neurons in place of weight decay makes it grok.",
        "three of three in the text, some in the caption; of 80% nothing is said",
        _dropout,
        {
            f"share of seeds that reach a test accuracy of 0.98, dropout {rate}": at_least(2 / 3, "two of three")
            for rate in (0.2, 0.5)
        },
        given={
            f"seeds still learning when their epochs are over, dropout {rate}": at_most(0, "how long it takes is not said")
            for rate in (0.2, 0.5)
        },
        needs=DROPPED,
        scope="any seed",
        finding=not_measured("both are still rising when their epochs are over, seed 0 of each: with 20% at 92% of the pairs held out, reached steadily over 80,000 epochs; with 50% at 32% at 40,000"),
        figure="dropout",
        required=("nanda/dropout-0.2-*", "nanda/dropout-0.5-*"),
    ),
    Claim(
        "nanda.fig28.l1",
        "appendix D.1, figure 28",
        "With a penalty on the absolute weights in place of weight decay it does not grok, be it 1, 10 or 100 times their sum or mean.",
        "none of nine",
        _l1,
        {
            "highest test accuracy": at_most(0.9, "it does not generalise"),
            "epochs": at_least(20_000, "twice as long as the network that groks"),
        },
        needs=PENALISED,
        scope="any seed",
        finding=refuted("with the mean of the absolute weights as penalty (strength 1, seed 0) it memorises by epoch 200 and has 98% of the pairs held out by 2,000; with their sum (strength 1) it learns nothing at all"),
        figure="l1",
        given={"networks that ever memorise": at_least(1, "one that learns nothing has nothing to generalise")},
    ),
    Claim(
        "nanda.D1.l1_less_sparse",
        "appendix D.1",
        "A penalty on the absolute weights makes it sparser in the basis of neurons and less sparse in the Fourier basis (a speculation).",
        "none printed",
        _less_sparse,
        {
            "Gini of the neurons, less the highest with decay": at_least(0.05, "sparser, by more than initial weights differ"),
            "Gini of W_E in the Fourier basis, less the lowest with decay": at_most(-0.05, "less sparse, by as much"),
        },
        needs=(*PENALISED, *SEEDS),
        scope="any seed",
        finding=refuted("half of it: with the mean as penalty the neurons are far sparser (Gini 0.96 against 0.18 to 0.33), but W_E in the Fourier basis is as sparse as with weight decay (0.745, where five seeds have 0.66 to 0.78)"),
        figure="l1",
        given={"networks with l1 that ever memorise": at_least(1, "one that learns nothing is neither")},
        required=("nanda/l1-*", "nanda/mainline-*"),
    ),
    Claim(
        "nanda.D2.lowprec",
        "appendix D.2",
        "With a loss taken in lower precision a network of one layer shows slingshots, too.",
        "none printed; 14 in 20,000 epochs of an archived run",
        _low_precision,
        {
            "slingshots in float32": at_least(5, "14 in an archived run: a train loss from below 1e-3 to above 1e-2"),
            "slingshots in float32 less 5 times those in float64": at_least(0, "five times as many"),
        },
        needs=(*COARSE, SEEDS[0]),
        scope="any seed",
        figure="precision",
        required=("nanda/float32-*", "nanda/mainline-*"),
    ),
)  # fmt: skip
