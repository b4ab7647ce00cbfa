"""Claims of appendices D.1 and D.2, figures 26 to 28: other regularisation, none, and a loss of lower precision."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from modinterp.analyses.training.curves import rank_correlation, slingshots
from modinterp.analyses.training.phases import LEARNED
from modinterp.claims.band import at_least, at_most
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import Finding, inapplicable, variant
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.nanda.claims.setup import LARGEST_EXCLUDED, MEMORISES_ONLY, NO_DECAY, largest_excluded
from modinterp.sources.nanda.claims.trainings import (
    GENERALISES,
    MEDIAN_GROKKING_EPOCH,
    highest,
    share,
    still_learning,
)
from modinterp.sources.nanda.runs import SEEDS
from modinterp.sources.nanda.tables import SWEPT_DECAY

RATES = (0.2, 0.5, 0.8)
GENERALISED = {rate: f"share of seeds that reach a test accuracy of 0.98, dropout {rate}" for rate in RATES}
HIGHEST_ACCURACY = {rate: f"highest test accuracy, dropout {rate}" for rate in RATES}
UNFINISHED = {rate: f"seeds still learning when their epochs are over, dropout {rate}" for rate in RATES}

DROPPED = tuple(f"nanda/dropout-{rate}-{seed}" for rate in RATES for seed in range(3))
PENALISED = tuple(
    f"nanda/l1-{of}-{strength}-{seed}" for of in ("sum", "mean") for strength in (1, 10, 100) for seed in range(3)
)
PENALISED_BY_SUM = tuple(name for name in PENALISED if "-sum-" in name)
COARSE = tuple(f"nanda/{dtype}-{seed}" for dtype in ("float32", "float16") for seed in range(3))


def median_epoch_with(decay: float) -> str:
    """Return the name of a number in results: the median grokking epoch with a weight decay."""
    return f"{MEDIAN_GROKKING_EPOCH}, weight decay {decay:g}"


def _decays(*runs: CyclicMeasurements) -> dict[str, Value]:
    epochs: dict[float, list[float]] = {}
    for m in sorted(runs, key=lambda m: m.recipe.weight_decay):
        epochs.setdefault(m.recipe.weight_decay, []).append(m.grokking.grokked)
    medians = {decay: median(of_seeds) for decay, of_seeds in epochs.items()}
    return {
        "rank correlation of weight decay and median grokking epoch": rank_correlation(
            list(medians), list(medians.values())
        ),
        "median grokking epoch, 0.3 over 1": medians[0.3] / medians[1.0],
        "median grokking epoch, 1 over 3": medians[1.0] / medians[3.0],
        **{median_epoch_with(decay): medians[decay] for decay in (0.3, 1.0, 3.0)},
    }


def _dropout(*runs: CyclicMeasurements) -> dict[str, Value]:
    numbers: dict[str, Value] = {}
    for rate in RATES:
        seeds = [m for m in runs if m.recipe.dropout == rate]
        numbers[HIGHEST_ACCURACY[rate]] = [highest(m, "test_accuracy") for m in seeds]
        numbers[GENERALISED[rate]] = share([highest(m, "test_accuracy") >= 0.98 for m in seeds])
        numbers[UNFINISHED[rate]] = sum(map(still_learning, seeds))
    return numbers


def _memorised(runs: Iterable[CyclicMeasurements]) -> list[CyclicMeasurements]:
    return [m for m in runs if highest(m, "train_accuracy") >= LEARNED]


def _sparsities(m: CyclicMeasurements) -> tuple[float, float]:
    """Gini coefficients over the neurons' output weights, and over the Fourier components of W_E."""
    return m.gini_of_neurons, m.gini_of_W_E


def _less_sparse(*runs: CyclicMeasurements) -> dict[str, Value]:
    decayed = [_sparsities(m) for m in runs if m.recipe.l1 == 0]
    penalised = [_sparsities(m) for m in _memorised(runs) if m.recipe.l1 > 0]
    highest_neurons, lowest_fourier = max(neurons for neurons, _ in decayed), min(fourier for _, fourier in decayed)
    return {
        "Gini of the neurons, less the highest with decay": [neurons - highest_neurons for neurons, _ in penalised],
        "Gini of W_E in the Fourier basis, less the lowest with decay": [
            fourier - lowest_fourier for _, fourier in penalised
        ],
        "Gini of the neurons with l1": [neurons for neurons, _ in penalised],
        "Gini of W_E in the Fourier basis with l1": [fourier for _, fourier in penalised],
        "networks with l1 that ever memorise": len(penalised),
    }


def _n_slingshots(m: CyclicMeasurements, every: int) -> int:
    """Slingshots in the first 20,000 epochs, as far as rows `every` so many epochs show them."""
    rows = m.history[(m.history["epoch"] <= 20_000) & (m.history["epoch"] % every == 0)]
    return len(slingshots(rows["epoch"], rows["train_loss"]))


def _low_precision(*runs: CyclicMeasurements) -> dict[str, Value]:
    every = max(m.recipe.log_every for m in runs)  # slingshots of all curves are counted on equally many rows
    counts: dict[str, list[int]] = {"float64": [], "float32": [], "float16": []}
    for m in runs:
        counts[m.recipe.loss_dtype].append(_n_slingshots(m, every))
    return {
        "slingshots in float32": counts["float32"],
        "slingshots in float32 less 5 times those in float64": [
            n - 5 * max(counts["float64"]) for n in counts["float32"]
        ],
        "slingshots in float64": counts["float64"],
        "slingshots in float16": counts["float16"],
        "epochs between two rows": every,
    }


CLAIMS = (
    Claim(
        id="nanda.fig26",
        where="appendix D.1, figure 26",
        statement=(
            "Without weight decay the network does not grok, and its excluded loss does not rise. A network that "
            "does not grok has no key frequencies, so for networks without weight decay we report the largest "
            "excluded loss over all frequencies."
        ),
        source_says="none printed",
        measure=each(lambda m: {LARGEST_EXCLUDED: largest_excluded(m)}),
        expected={
            **MEMORISES_ONLY,
            LARGEST_EXCLUDED: at_most(
                1e-3,
                "the excluded loss does not rise; in networks that grok, the circuit raises the excluded "
                "loss to several nats",
            ),
        },
        needs=NO_DECAY,
        scope="any seed",
        changed=(
            Change(
                date="2026-11-23",
                was="refuted",
                what="the tolerance of the excluded loss",
                before=(
                    "the excluded loss had to be at most ten times the train loss: it is 10.6 and 89 times the "
                    "train loss in two seeds, refuted"
                ),
                now="the excluded loss must be at most 1e-3 nats: it is 4.2e-10 and 3.6e-9 nats in the same two seeds",
                why=(
                    "the train loss is 4e-11 nats, so a ratio to the train loss only measures rounding in "
                    "float64; an excluded loss of 1e-8 nats has not risen"
                ),
            ),
        ),
        figure="no_decay",
    ),
    Claim(
        id="nanda.fig27",
        where="appendix D.1, figure 27",
        statement="The less weight decay, the later the network groks.",
        source_says=(
            "networks grok at about 3,000, 5,000 to 10,000 and 20,000 epochs; the text assigns these to "
            "weight decays of 0.3, 1 and 3, but figure 27 shows the reverse order"
        ),
        measure=_decays,
        expected={
            "rank correlation of weight decay and median grokking epoch": at_most(
                -0.9999, "a rank correlation of -1: the epoch of grokking always falls as weight decay grows"
            ),
            "median grokking epoch, 0.3 over 1": at_least(1.3, "the paper's ratio is 2 to 4"),
            "median grokking epoch, 1 over 3": at_least(1.3, "the paper's ratio is 1.7 to 3.3"),
        },
        needs=(*SWEPT_DECAY, *SEEDS),
        required=("nanda/decay-0.3-*", "nanda/mainline-*", "nanda/decay-3-*"),
        reported=tuple(map(median_epoch_with, (0.3, 1, 3))),
        scope="any seed",
        figure="decays",
        shuffled=True,
    ),
    Claim(
        id="nanda.fig28.dropout",
        where="appendix D.1, figure 28",
        statement="Dropout of 20% or 50% of the neurons in place of weight decay makes the network grok.",
        source_says=(
            "according to the text, all three seeds grok; according to the caption, some seeds grok; the "
            "paper reports nothing for a dropout of 80%"
        ),
        measure=_dropout,
        expected={
            GENERALISED[0.2]: at_least(2 / 3, "at least two of three seeds must grok"),
            GENERALISED[0.5]: at_least(2 / 3, "at least two of three seeds must grok"),
        },
        given={
            UNFINISHED[0.2]: at_most(0, "the paper does not state how long training takes"),
            UNFINISHED[0.5]: at_most(0, "the paper does not state how long training takes"),
        },
        needs=DROPPED,
        required=("nanda/dropout-0.2-*", "nanda/dropout-0.5-*"),
        scope="any seed",
        finding=inapplicable(
            "With 20% dropout of the neurons, the test accuracies of three seeds are 91%, 94% and 27% after 80,000 epochs, and all three still rise. With 50% dropout of the neurons, the test accuracies of three seeds are 32%, 36% and 9% after 40,000 epochs; the first two still rise. With 80% dropout of the neurons, the test accuracies of our seeds are 6% to 25% and no longer rise at the end of training."
        ),
        reported=(*HIGHEST_ACCURACY.values(), GENERALISED[0.8], UNFINISHED[0.8]),
        figure="dropout",
    ),
    Claim(
        id="nanda.fig28.l1",
        where="appendix D.1, figure 28",
        statement=(
            "With a penalty on the absolute weights in place of weight decay, the network does not grok. In our "
            "networks without weight decay, the penalty added to the loss is 1, 10 or 100 times the sum of "
            "absolute weights."
        ),
        source_says="none of nine networks groks",
        measure=lambda *runs: {"networks that ever memorise": len(_memorised(runs))},
        expected={
            "highest_test_accuracy": at_most(GENERALISES, "a network that does not grok does not generalise"),
            "last_epoch": at_least(
                20_000, "training must be twice as long as the network with weight decay needs to grok"
            ),
        },
        needs=PENALISED_BY_SUM,
        scope="any seed",
        finding=Finding(
            why=(
                "No network with a penalty on the sum of absolute weights memorises: at each strength of the penalty the "
                "network learns nothing. A penalty on the mean absolute weight is the penalty on the sum, divided by the "
                "number of weights. With a penalty on the mean absolute weight, networks memorise and grok at strengths "
                "1 and 10 (D1.l1_less_sparse)."
            )
        ),
        changed=(
            Change(
                date="2026-11-28",
                was="refuted",
                what="the networks that the claim is about",
                before=(
                    "the claim was about penalties on the sum and on the mean of the absolute weights: with a "
                    "penalty on the mean, six of nine networks grok; refuted"
                ),
                now="the claim is about a penalty on the sum of absolute weights, which is the l1 penalty",
                why="the words 'sum or mean' in the earlier statement were ours; the paper adds an l1 penalty to the loss",
            ),
        ),
        reported=("networks that ever memorise",),
        figure="l1",
    ),
    Claim(
        id="nanda.D1.l1_less_sparse",
        where="appendix D.1",
        statement=(
            "The source speculates: a penalty on the absolute weights makes the network sparser in the basis of "
            "neurons and less sparse in the Fourier basis."
        ),
        source_says="none printed",
        measure=_less_sparse,
        expected={
            "Gini of the neurons, less the highest with decay": at_least(
                0.05,
                "a network counts as sparser if its Gini coefficient is higher by more than untrained networks differ",
            ),
            "Gini of W_E in the Fourier basis, less the lowest with decay": at_most(
                -0.05,
                "a network counts as less sparse if its Gini coefficient is lower by more than untrained "
                "networks differ",
            ),
        },
        given={
            "networks with l1 that ever memorise": at_least(
                1, "only networks that memorise count; the sparsity of a network that learns nothing means nothing"
            )
        },
        needs=(*PENALISED, *SEEDS),
        required=("nanda/l1-*", "nanda/mainline-*"),
        scope="any seed",
        finding=variant(
            "As stated, the penalty makes networks sparser in the basis of neurons. Contrary to the statement, the penalty does not make networks less sparse in the Fourier basis. With the mean absolute weight as penalty, the neurons of six networks are far sparser than with weight decay (Gini 0.96 to 0.97 against 0.18 to 0.33). In the Fourier basis, W_E is at least as sparse as with weight decay: Gini 0.74 to 0.84 (penalty), 0.66 to 0.78 (weight decay). The penalty on the mean absolute weight is our variant of the source's l1 penalty. The usual l1 penalty is on the sum of absolute weights; with a penalty on this sum networks learn nothing."
        ),
        figure="l1",
        reported=("Gini of the neurons with l1", "Gini of W_E in the Fourier basis with l1"),
        control="without control",
    ),
    Claim(
        id="nanda.D2.lowprec",
        where="appendix D.2",
        statement="If the loss is computed in lower precision, a network of one layer also shows slingshots.",
        source_says="the paper prints no number; an archived run has 14 slingshots in 20,000 epochs",
        measure=_low_precision,
        expected={
            "slingshots in float32": at_least(
                5,
                "an archived run has 14 slingshots; in a slingshot the train loss jumps from below 1e-3 to above 1e-2",
            ),
            "slingshots in float32 less 5 times those in float64": at_least(
                0, "networks with the loss in float32 must have at least five times as many slingshots as with float64"
            ),
        },
        needs=(*COARSE, SEEDS[0]),
        required=(*COARSE[:3], "nanda/mainline-*"),
        scope="any seed",
        finding=Finding(
            "holds",
            "With the loss in float32, a network of one layer has 5 or 6 slingshots in 20,000 epochs, and the "
            "claim expects at least 5. With the loss in float64 the networks have no slingshots; with the loss "
            "in float16 three seeds have 8 to 26 slingshots.",
        ),
        changed=(
            Change(
                date="2026-11-24",
                what="the runs that the claim needs, and the verdict",
                before=(
                    "one seed with the loss in float32 was enough for the claim, and the only trained seed had "
                    "exactly the expected 5 slingshots; held"
                ),
                now="the claim needs three seeds with the loss in float32, and is open until all three are trained",
                why=(
                    "the only trained seed has the smallest number of slingshots that the claim accepts; another "
                    "seed may have fewer"
                ),
            ),
        ),
        figure="precision",
        reported=("slingshots in float64", "slingshots in float16", "epochs between two rows"),
    ),
)
