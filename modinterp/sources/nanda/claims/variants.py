"""Claims of appendices C.2.2 and D.2, figures 22 to 25: networks with a second layer, and other moduli."""

from __future__ import annotations

import math
from statistics import median

from modinterp.analyses.training.curves import slingshots
from modinterp.analyses.training.phases import LEARNED
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.checking import Claim
from modinterp.claims.claim import Change, Value, each
from modinterp.claims.finding import Finding, mixed, variant
from modinterp.measurements import CyclicMeasurements
from modinterp.sources.nanda.claims.trainings import (
    DELAY,
    GENERALISES,
    LOGIT_FVE,
    MEAN_MLP_FVE,
    MEDIAN_GROKKING_EPOCH,
    THREE_OF_FIVE,
    curve,
    delay,
    highest,
    share,
)
from modinterp.sources.nanda.runs import SEEDS
from modinterp.sources.nanda.tables import runs_of

WITH_SLINGSHOT = "share of seeds with a slingshot"
DELAYED = "share of seeds that generalise at least 500 epochs after memorising"

TWO_LAYERS, P109, P53 = runs_of("2-layer"), runs_of("P109"), runs_of("P53")
P401_DECAYS = tuple(f"nanda/p401-decay-{decay}-0" for decay in (0.3, 0.5, 1, 3, 5, 8))
P401_FRACTIONS = tuple(f"nanda/p401-fraction-{percent}-{seed}" for percent in (5, 10, 20) for seed in range(3))


def _two_layers(*runs: CyclicMeasurements) -> dict[str, Value]:
    counts = [len(slingshots(curve(m, "epoch"), curve(m, "train_loss"))) for m in runs]
    best = [highest(m, "test_accuracy") for m in runs]
    return {
        "share of seeds that reach a test accuracy of 0.99": share([accuracy >= LEARNED for accuracy in best]),
        WITH_SLINGSHOT: share([n > 0 for n in counts]),
    }


def _excluded_before_grokking(m: CyclicMeasurements) -> dict[str, Value]:
    until = math.inf if math.isnan(m.grokking.grokked) else m.grokking.grokked
    before = m.progress[m.progress["epoch"].between(m.grokking.memorised, until, inclusive="left")]
    ratio = before["excluded_loss_train"] / before["train_loss"]
    return {"largest excluded over train loss before it groks": float(ratio.max()) if len(ratio) else math.nan}


def _like_mainline(*runs: CyclicMeasurements) -> dict[str, Value]:
    summaries = [m.summary for m in runs]
    return {
        MEDIAN_GROKKING_EPOCH: median(m.grokking.grokked for m in runs),
        LOGIT_FVE: [summary.logit_fve for summary in summaries],
        MEAN_MLP_FVE: [summary.mean_fve for summary in summaries],
    }


def _by_fraction_at_401(*runs: CyclicMeasurements) -> dict[str, Value]:
    scarce = [m for m in runs if m.recipe.fraction < 0.15]
    ample = [m for m in runs if m not in scarce]
    return {
        "highest test accuracy with 5% and 10%": [highest(m, "test_accuracy") for m in scarce],
        "epochs from memorising to generalising with 20%": [delay(m) for m in ample],
    }


CLAIMS = (
    Claim(
        id="nanda.fig22",
        where="appendix C.2.2, figure 22",
        statement="Networks of two layers grok to some degree, and show slingshots.",
        source_says="the paper prints no number; test losses 9.5e-7 to 6.5e-2 in table 5",
        measure=_two_layers,
        expected={
            "share of seeds that reach a test accuracy of 0.99": at_least(
                0.6, "networks grok to some degree if at least three of five networks grok"
            ),
            WITH_SLINGSHOT: at_least(
                0.6,
                "at least three of five networks must have slingshots, in which the train loss jumps from "
                "below 1e-3 to above 1e-2",
            ),
        },
        behaviour=("share of seeds that reach a test accuracy of 0.99",),
        needs=TWO_LAYERS,
        required=TWO_LAYERS[:3],
        changed=(THREE_OF_FIVE,),
        scope="any seed",
        figure="two_layers",
    ),
    Claim(
        id="nanda.fig23",
        where="appendix C.2.2, figure 23",
        statement="In a network of two layers the excluded loss rises before grokking.",
        source_says="none printed",
        measure=each(_excluded_before_grokking),
        expected={
            "largest excluded over train loss before it groks": at_least(
                10, "in figure 23 the excluded loss rises by an order of magnitude"
            )
        },
        needs=TWO_LAYERS,
        scope="any seed",
        figure="two_layers_excluded",
        control="also true of a contrast",
        contrast=("nanda/no-decay-0",),
    ),
    Claim(
        id="nanda.D2.slingshot2L",
        where="appendix D.2",
        statement="Networks of two layers show slingshots.",
        source_says="none printed",
        measure=lambda *runs: {WITH_SLINGSHOT: _two_layers(*runs)[WITH_SLINGSHOT]},
        expected={WITH_SLINGSHOT: at_least(0.6, "three of five networks must have slingshots, as in figure 22")},
        needs=TWO_LAYERS,
        required=TWO_LAYERS[:3],
        changed=(THREE_OF_FIVE,),
        scope="any seed",
        figure="two_layers",
    ),
    Claim(
        id="nanda.fig24",
        where="appendix C.2.2, figure 24",
        statement="A network that adds modulo 53 groks with a weight decay of 5.",
        source_says="all five runs grok",
        measure=lambda *runs: {DELAYED: share([delay(m) >= 500 for m in runs])},
        expected={
            DELAYED: at_least(0.8, "at least four of five networks must grok"),
        },
        needs=P53,
        scope="any seed",
        figure="p53",
    ),
    Claim(
        id="nanda.C22.p53_wd1",
        where="appendix C.2.2",
        statement="With a weight decay of 1, a network that adds modulo 53 memorises and never generalises.",
        source_says="none printed",
        expected={
            "highest_test_accuracy": at_most(
                GENERALISES, "the test accuracy must never reach that of a network that generalises"
            ),
            "highest_train_accuracy": at_least(0.999, "the train accuracy must be that of a network that memorises"),
            "last_epoch": at_least(40_000, "the training must be as long as in the paper"),
        },
        needs=tuple(f"nanda/p53-{seed}" for seed in range(3)),
        scope="any seed",
        finding=mixed(
            "Modulo 53, seeds 0 and 1 memorise by epoch 100 and grok at epochs 14,500 and 16,300. By epoch "
            "40,000, seeds 0 and 1 modulo 53 reach an accuracy of 100% and test losses of 3e-7 and 5e-7. Seed 2 "
            "modulo 53 does not grok (test accuracy 7.3%)."
        ),
        changed=(
            Change(
                date="2026-11-23",
                was="refuted",
                what="the definition of the measured number",
                before=(
                    "the claim used the share of three seeds whose test accuracy stays below 0.9: the share is "
                    "0.33, where 0.67 was expected; refuted"
                ),
                now="the test accuracy of each seed must stay at 0.9 or below, which is true in one of three seeds",
                why=(
                    "the claim is about a single network, so the share of seeds that do not generalise is reported with its "
                    "interval, not tested"
                ),
            ),
        ),
        figure="p53",
    ),
    Claim(
        id="nanda.C22.p109",
        where="appendix C.2.2",
        statement="For addition modulo 109, all results are like the results for addition modulo 113.",
        source_says="test losses 1.7e-7 to 3.0e-7, Gini of W_L 0.82 to 0.86, FVE of the logits 95% to 99% (table 5)",
        measure=_like_mainline,
        expected={
            "highest_test_loss": at_least(
                10, "as for mod 113, the highest test loss must be at least twice the loss of guessing"
            ),
            "final_test_loss": at_most(1e-6, "the same tolerance as for mod 113"),
            "grokked": between(
                3_000,
                25_000,
                "the same tolerance as for mod 113: the paper's networks grok near epoch 10,000, and seeds differ",
            ),
            MEDIAN_GROKKING_EPOCH: between(5_000, 15_000, "the same tolerance as for mod 113"),
            "grokking_ratio": at_least(
                3,
                "the same tolerance as for mod 113: the paper's network groks at 7 times the epoch of "
                "memorisation, and we accept half of this ratio",
            ),
            LOGIT_FVE: at_least(0.9, "the same tolerance as for mod 113: the FVE of the logits is 0.95 in the paper"),
            MEAN_MLP_FVE: at_least(0.92, "the same tolerance as for mod 113: the mean FVE of table 1 is 0.962"),
            "gini_read": at_least(0.7, "the same tolerance as for mod 113"),
        },
        needs=P109,
        scope="any seed",
        figure="p109",
    ),
    Claim(
        id="nanda.fig25",
        where="appendix C.2.2, figure 25",
        statement="A network that adds modulo 401 generalises at once, for all weight decays from 0.3 to 8.",
        source_says="the network generalises at once with each of six weight decays",
        measure=lambda *runs: {DELAY: [delay(m) for m in runs if not math.isnan(m.grokking.memorised)]},
        expected={
            DELAY: at_most(
                500,
                "the claim D15 defines generalising at once; a weight decay of 5 or 8 may keep a network "
                "from learning anything, so we only report these two decays",
            )
        },
        needs=P401_DECAYS,
        required=tuple(
            name for name in P401_DECAYS if not name.startswith(("nanda/p401-decay-5", "nanda/p401-decay-8"))
        ),
        scope="any seed",
        finding=Finding(
            "holds",
            "With weight decays of 0.3, 0.5, 1, 3 and 5, the network modulo 401 generalises 500, 400, 200, 100 "
            "and 0 epochs after memorising: more weight decay means less delay. With a weight decay of 8, the "
            "network modulo 401 answers at best 99% of the training pairs and 98% of the test pairs. The network "
            "with a weight decay of 8 reaches its best accuracy by epoch 800, and does not improve further.",
        ),
        changed=(
            Change(
                date="2026-11-23",
                what="the runs that the claim needs, and the verdict",
                before=(
                    "one of the six weight decays was enough for the claim, and networks with weight decays of "
                    "0.3 and 1 were trained; held"
                ),
                now="the claim needs weight decays of 0.3, 0.5, 1 and 3, and is open until networks with all four are trained",
                why=(
                    "the statement is about every weight decay, and a weight decay of 5 or 8 may keep a network from "
                    "learning anything"
                ),
            ),
        ),
        figure="p401",
        contrast=SEEDS,
    ),
    Claim(
        id="nanda.C22.p401_frac",
        where="appendix C.2.2",
        statement=(
            "Modulo 401, a network trained on 5% or 10% of the pairs memorises and never generalises. Modulo "
            "401, a network trained on 20% of the pairs generalises at once."
        ),
        source_says="all three networks with each fraction of the pairs",
        measure=_by_fraction_at_401,
        expected={
            "highest test accuracy with 5% and 10%": at_most(
                0.5, "with 5% and 10% of the pairs the network must never generalise"
            ),
            "epochs from memorising to generalising with 20%": at_most(
                1000, "with 20% of the pairs the network must generalise at once"
            ),
        },
        behaviour=("highest test accuracy with 5% and 10%",),
        needs=P401_FRACTIONS,
        required=("nanda/p401-fraction-20-*", "nanda/p401-fraction-[15]*"),
        scope="any seed",
        finding=variant(
            "Our trainings modulo 401 stop at 4,000 epochs (20% of the pairs) or 5,000 epochs (5% and 10%). When "
            "trained on 20% of the pairs modulo 401, three seeds memorise by epoch 700. When trained on 20% of "
            "the pairs, one seed generalises at epoch 3,500. When trained on 20% of the pairs, the two other "
            "seeds have test accuracies of 46% and 6.0% at epoch 4,000, which still rise. When trained on 5% or "
            "10% of the pairs, all six seeds stay near chance, as the source states. At epoch 5,000 the highest "
            "test accuracy of the six seeds trained on 5% or 10% of the pairs is 2.9%. With 5% or 10% of the "
            "pairs, the five other seeds have test accuracies of at most 0.4%, and test losses of 21 to 64."
        ),
        figure="p401_fractions",
        control="without control",
    ),
)
