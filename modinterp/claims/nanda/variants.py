"""Appendices C.2.2 and D.2, figures 22 to 25: a second layer, and other moduli."""

from __future__ import annotations

import math
from statistics import median

from modinterp.analyses.curves import rank_correlation, slingshots
from modinterp.analyses.phases import LEARNED
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.claim import Claim, Value, each, refuted
from modinterp.claims.evidence import evidence
from modinterp.claims.nanda.rows import runs_of
from modinterp.claims.nanda.trainings import DECIDED, MISSING, delay, final, highest, recipe_of, share, undecided
from modinterp.runs import TrainedRun

TWO_LAYERS, P109, P53 = runs_of("2-layer"), runs_of("P109"), runs_of("P53")
P401_DECAYS = tuple(f"nanda/p401-decay-{decay}-0" for decay in (0.3, 0.5, 1, 3, 5, 8))
P401_FRACTIONS = tuple(f"nanda/p401-fraction-{percent}-{seed}" for percent in (5, 10, 20) for seed in range(3))


def shots(run: TrainedRun) -> int:
    """Number of slingshots of the train loss."""
    return len(slingshots(run.history["epoch"], run.history["train_loss"]))


def _two_layers(*runs: TrainedRun) -> dict[str, Value]:
    counts, best = [shots(run) for run in runs], [highest(run, "test_accuracy") for run in runs]
    return {
        "share of seeds that reach a test accuracy of 0.99": share([x >= LEARNED for x in best]),
        "share of seeds with a slingshot": share([n > 0 for n in counts]),
        "slingshots": counts,
        "highest test accuracy": best,
        "seeds": len(runs),
    }


def _slingshots(*runs: TrainedRun) -> dict[str, Value]:
    found = _two_layers(*runs)
    return {name: found[name] for name in ("share of seeds with a slingshot", "slingshots", "seeds")}


def _excluded_before_grokking(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    until = ev.grokking.grokked if ev.grokking.grokked == ev.grokking.grokked else math.inf
    before = ev.progress[ev.progress["epoch"].between(ev.grokking.memorised, until, inclusive="left")]
    ratio, excluded = before["excluded_loss_train"] / before["train_loss"], before["excluded_loss_train"].tolist()
    return {
        "largest excluded over train loss before it groks": float(ratio.max()) if len(ratio) else math.nan,
        "rank correlation of excluded loss and epoch before it groks": rank_correlation(before["epoch"].tolist(), excluded),
        "snapshots before it groks": len(before),
    }  # fmt: skip


def _groks_at_53(*runs: TrainedRun) -> dict[str, Value]:
    delays = [delay(run) for run in runs]
    return {
        "share of seeds that generalise at least 500 epochs after memorising": share([x >= 500 for x in delays]),
        "epochs from memorising to generalising": delays,
        "highest test loss": [highest(run, "test_loss") for run in runs],
        "seeds": len(runs),
    }


def _never_at_53(*runs: TrainedRun) -> dict[str, Value]:
    best = [highest(run, "test_accuracy") for run in runs]
    below = [x < 0.9 for x in best]
    return {
        "share of seeds whose test accuracy stays below 0.9": share(below),
        MISSING: undecided(below),
        "highest test accuracy": best,
        "train accuracy": [highest(run, "train_accuracy") for run in runs],
        "epochs": [final(run, "epoch") for run in runs],
        "seeds": len(runs),
    }


def _like_mainline(*runs: TrainedRun) -> dict[str, Value]:
    found, rows = [evidence(run).grokking for run in runs], [evidence(run).summary for run in runs]
    return {
        "highest test loss": [highest(run, "test_loss") for run in runs],
        "final test loss": [final(run, "test_loss") for run in runs],
        "grokking epoch": [g.grokked for g in found],
        "median grokking epoch": median(g.grokked for g in found),
        "grokking over memorisation epoch": [g.grokked / g.memorised if g.memorised else math.nan for g in found],
        "logit FVE": [row.logit_fve for row in rows],
        "mean MLP FVE": [row.mean_fve for row in rows],
        "Gini of W_L": [row.gini_W_L for row in rows],
        "key frequencies": [len(row.keys.freqs) for row in rows],
        "seeds": len(runs),
    }


def _by_decay_at_401(*runs: TrainedRun) -> dict[str, Value]:
    learned = [run for run in runs if evidence(run).grokking.memorised == evidence(run).grokking.memorised]
    return {
        "epochs from memorising to generalising": [delay(run) for run in learned],
        "highest test loss": [highest(run, "test_loss") for run in learned],
        "weight decays": len(runs),
        "weight decays with which it never memorises": len(runs) - len(learned),
    }


def _by_fraction_at_401(*runs: TrainedRun) -> dict[str, Value]:
    scarce = [run for run in runs if recipe_of(run).fraction < 0.15]
    ample = [run for run in runs if run not in scarce]
    return {
        "highest test accuracy with 5% and 10%": [highest(run, "test_accuracy") for run in scarce],
        "train accuracy with 5% and 10%": [highest(run, "train_accuracy") for run in scarce],
        "epochs from memorising to generalising with 20%": [delay(run) for run in ample],
        "networks": len(runs),
    }


CLAIMS = (
    Claim(
        "nanda.fig22",
        "appendix C.2.2, figure 22",
        "Networks of two layers grok to some degree, with slingshots.",
        "none printed; test losses 9.5e-7 to 6.5e-2 in table 5",
        _two_layers,
        {
            "share of seeds that reach a test accuracy of 0.99": at_least(0.6, "three of five: to some degree"),
            "share of seeds with a slingshot": at_least(
                0.6, "three of five: a train loss from below 1e-3 to above 1e-2"
            ),
        },
        needs=TWO_LAYERS,
        scope="any seed",
        figure="two_layers",
    ),
    Claim(
        "nanda.fig23",
        "appendix C.2.2, figure 23",
        "In a network of two layers the excluded loss rises before it groks.",
        "none printed",
        each(_excluded_before_grokking),
        {"largest excluded over train loss before it groks": at_least(10, "an order of magnitude in figure 23")},
        needs=TWO_LAYERS,
        scope="any seed",
        figure="two_layers_excluded",
    ),
    Claim(
        "nanda.D2.slingshot2L",
        "appendix D.2",
        "Networks of two layers show slingshots.",
        "none printed",
        _slingshots,
        {"share of seeds with a slingshot": at_least(0.6, "as figure 22: three of five")},
        needs=TWO_LAYERS,
        scope="any seed",
        figure="two_layers",
    ),
    Claim(
        "nanda.fig24",
        "appendix C.2.2, figure 24",
        "Mod 53 it groks with a weight decay of 5.",
        "five of five runs",
        _groks_at_53,
        {
            "share of seeds that generalise at least 500 epochs after memorising": at_least(0.8, "four of five"),
        },
        needs=P53,
        scope="any seed",
        figure="p53",
    ),
    Claim(
        "nanda.C22.p53_wd1",
        "appendix C.2.2",
        "Mod 53 with a weight decay of 1 it memorises and never generalises.",
        "none printed",
        _never_at_53,
        {
            "share of seeds whose test accuracy stays below 0.9": at_least(2 / 3, "two of three"),
            "train accuracy": at_least(0.999, "it memorises"),
            "epochs": at_least(40_000, "as long as the paper trains"),
        },
        given=DECIDED,
        needs=tuple(f"nanda/p53-{seed}" for seed in range(3)),
        scope="any seed",
        finding=refuted(
            "seeds 0 and 1 memorise by epoch 100 and grok at 14,500 and 16,300, to 100% and test losses of 3e-7 and 5e-7 by epoch 40,000; seed 2 does not (7.3%)"
        ),
        figure="p53",
    ),
    Claim(
        "nanda.C22.p109",
        "appendix C.2.2",
        "Mod 109 everything is as mod 113.",
        "test losses 1.7e-7 to 3.0e-7, Gini of W_L 0.82 to 0.86, FVE of the logits 95% to 99% (table 5)",
        _like_mainline,
        {
            "highest test loss": at_least(10, "as mod 113: twice chance"),
            "final test loss": at_most(1e-6, "as mod 113"),
            "grokking epoch": between(3_000, 25_000, "as mod 113: 10,000 in the paper, seeds differ"),
            "median grokking epoch": between(5_000, 15_000, "as mod 113"),
            "grokking over memorisation epoch": at_least(3, "as mod 113: 7 in the paper, less than half of it"),
            "logit FVE": at_least(0.9, "as mod 113: 0.95 in the paper"),
            "mean MLP FVE": at_least(0.92, "as mod 113: 0.962 is the mean of table 1"),
            "Gini of W_L": at_least(0.7, "as mod 113"),
        },
        needs=P109,
        scope="any seed",
        figure="p109",
    ),
    Claim(
        "nanda.fig25",
        "appendix C.2.2, figure 25",
        "Mod 401 it generalises at once, whatever the weight decay from 0.3 to 8.",
        "six of six",
        _by_decay_at_401,
        {
            "epochs from memorising to generalising": at_most(
                500,
                "at once (definition D15); a weight decay of 5 or 8 may keep it from learning anything, which is reported",
            )
        },
        needs=P401_DECAYS,
        scope="any seed",
        figure="p401",
    ),
    Claim(
        "nanda.C22.p401_frac",
        "appendix C.2.2",
        "Mod 401 with 5% and 10% of the pairs it memorises and never generalises, with 20% it generalises at once.",
        "three of three each",
        _by_fraction_at_401,
        {
            "highest test accuracy with 5% and 10%": at_most(0.5, "never generalises"),
            "epochs from memorising to generalising with 20%": at_most(1000, "at once"),
        },
        needs=P401_FRACTIONS,
        scope="any seed",
        finding=refuted(
            "with 20% it memorises by epoch 700 and is right on 6.0% of the pairs held out at 4,000, slowly rising; with 5%, as said, it stays at chance (0.2% at 5,000, where its test loss is 62)"
        ),
        figure="p401_fractions",
        required=("nanda/p401-fraction-20-*", "nanda/p401-fraction-[15]*"),
    ),
)
