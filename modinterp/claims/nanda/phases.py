"""Section 5, figure 7 and figures 13 to 15: progress measures, and the three phases of training that they show."""

from __future__ import annotations

import math

import numpy as np
import torch

from modinterp.analyses.ablations import excluded_loss, loss_on, restricted_loss
from modinterp.analyses.cosine_sums import ideal_logits
from modinterp.analyses.phases import first_epoch, inflections, slope, value_at
from modinterp.analyses.progress import fourier_gini
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.claim import Claim, Value, refuted
from modinterp.claims.evidence import evidence
from modinterp.runs import TrainedRun
from modinterp.tasks import addition

SPLITS = ("all", "train", "test")


def _restricted_of_ideal() -> dict[str, Value]:
    task, freqs = addition(29), [3, 7, 11]
    logits = ideal_logits(29, freqs, [9.0, 8.0, 7.0])
    from_ideal = restricted_loss(logits, task.labels(), freqs)
    original = loss_on(logits, task.labels())
    return {"relative difference to the original loss": abs(from_ideal - original) / original}


def _excluded_of_ideal() -> dict[str, Value]:
    task, freqs = addition(29), [3, 7, 11]
    loss = excluded_loss(ideal_logits(29, freqs, [9.0, 8.0, 7.0]), task.labels(), freqs, torch.arange(100))
    return {"difference to ln p": abs(loss - math.log(29))}


def _excluded(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    p, t1, t2 = ev.progress, ev.phases.memorised, ev.phases.formed
    waiting = p["test_loss"][p["epoch"].between(t1, 0.8 * t2)]
    at_t1, at_t2 = (value_at(p, t, "excluded_loss_train") for t in (t1, t2))
    return {
        "excluded loss at t1": at_t1,
        "excluded loss at t2 over at t1": at_t2 / at_t1,
        "decades the test loss moves from t1 to 0.8 t2": float(np.log10(waiting.max() / waiting.min())) if len(waiting) else math.nan,
        "t1": t1, "t2": t2, "t3": ev.phases.cleaned,
        **{f"final excluded loss, {split}": float(p[f"excluded_loss_{split}"].iloc[-1]) for split in SPLITS},
    }  # fmt: skip


def _restricted(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    p, t1, t2 = ev.progress, ev.phases.memorised, ev.phases.formed
    later = p["epoch"] > t1
    below = {name: first_epoch(p["epoch"], later & (p[name] < 1)) for name in ("restricted_loss_all", "test_loss")}
    return {
        "epochs by which restricted is below 1 before test": below["test_loss"] - below["restricted_loss_all"],
        "restricted over test loss at t2": value_at(p, t2, "restricted_loss_all") / value_at(p, t2, "test_loss"),
        "restricted below 1 at epoch": below["restricted_loss_all"],
        "test below 1 at epoch": below["test_loss"],
        **{f"final restricted loss, {split}": float(p[f"restricted_loss_{split}"].iloc[-1]) for split in SPLITS},
    }


def sparsity(run: TrainedRun) -> dict[str, Value]:
    """Gini coefficients of the Fourier components of W_E and W_L at the end of memorisation, and how they rise."""
    ev = evidence(run)
    p, t1, t2 = ev.progress, ev.phases.memorised, ev.phases.formed
    end = float(p["epoch"].iloc[-1])
    names = {"W_E": "gini_W_E", "W_L": "gini_W_L"}
    return {
        **{f"Gini of {m} at t1": value_at(p, t1, c) for m, c in names.items()},
        **{f"Gini of {m}, end less t2": value_at(p, end, c) - value_at(p, t2, c) for m, c in names.items()},
        **{f"final Gini of {m}": value_at(p, end, c) for m, c in names.items()},
        "final Gini of W_U": fourier_gini(run.model.W_U[:, : ev.p].T.detach()),
    }


def _weights(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    p, t1, t2, t3 = ev.progress, ev.phases.memorised, ev.phases.formed, ev.phases.cleaned
    p = p.assign(norm=p["sum_of_squared_weights"] ** 0.5)
    falling = p["sum_of_squared_weights"][p["epoch"] >= t1]
    rises, fall = falling.diff().clip(lower=0), falling.iloc[0] - falling.iloc[-1] if len(falling) else math.nan
    return {
        "sum of all rises after t1 over the fall": float(rises.sum() / fall) if len(falling) else math.nan,
        "slope t2 to t3 over slope t1 to t2": slope(p, "sum_of_squared_weights", t2, t3) / slope(p, "sum_of_squared_weights", t1, t2),
        "slope t2 to t3 over slope t1 to t2, of the norm": slope(p, "norm", t2, t3) / slope(p, "norm", t1, t2),
    }  # fmt: skip


def _memorization(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    p, t1 = ev.progress, ev.phases.memorised
    early = p[p["epoch"] <= t1 / 2]
    ratio = (early["excluded_loss_train"] / early["train_loss"]).max() if len(early) else math.nan
    return {"t1": t1, "largest excluded over train loss before t1 / 2": float(ratio)}


def _circuit(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    t1, t2 = ev.phases.memorised, ev.phases.formed
    return {"t2 over t1": t2 / t1, "restricted loss at t2": value_at(ev.progress, t2, "restricted_loss_all"), "t2": t2}


def _cleanup(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    p, t2, t3 = ev.progress, ev.phases.formed, ev.phases.cleaned
    settled = p["excluded_loss_train"][p["epoch"] >= t3]
    spread = (settled.max() - settled.min()) / settled.median() if len(settled) else math.nan
    return {"(t3 - t2) over t2": (t3 - t2) / t2, "spread of the excluded loss after t3": float(spread), "t3": t3}


def _inflections(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    found = inflections(ev.progress, "sum_of_squared_weights")
    boundaries = (ev.phases.memorised, ev.phases.formed, ev.phases.cleaned)
    return {
        "boundaries within 25% of an inflection": sum(bool((abs(found - t) <= 0.25 * t).any()) for t in boundaries),
        "inflections": len(found),
    }


def _restricted_accuracy(run: TrainedRun) -> dict[str, Value]:
    p = evidence(run).progress
    restricted = first_epoch(p["epoch"], p["restricted_accuracy"] >= 0.99)
    full = first_epoch(p["epoch"], p["test_accuracy"] >= 0.99)
    return {"epochs by which restricted accuracy is ahead": full - restricted, "restricted": restricted, "full": full}


def _coefficients(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    p, t1 = ev.progress, ev.phases.memorised
    grown, jumps = [], []
    for column in (f"cos_{k}" for k in ev.freqs if f"cos_{k}" in p):
        final = float(p[column].iloc[-1])
        grown.append(final / value_at(p, t1, column))
        jumps.append(float(p[column].diff().abs().max()) / abs(final))
    return {"smallest growth from t1": min(grown, default=math.nan), "largest jump in 100 epochs over the final value": max(jumps, default=math.nan)}  # fmt: skip


def _single_exclusion(run: TrainedRun) -> dict[str, Value]:
    last = evidence(run).progress.iloc[-1]
    singles = [float(last[c]) for c in last.index if c.startswith("excluded_loss_") and c.rpartition("_")[2].isdigit()]
    return {"smallest excluded loss over train loss": min(singles, default=math.nan) / float(last["train_loss"])}


SPARSE_AT_THE_END = {
    **{f"Gini of {m} at t1": at_most(0.35, "low and flat until cleanup in figure 7") for m in ("W_E", "W_L")},
    **{f"Gini of {m}, end less t2": at_least(0.15, "the sharp rise of figure 7") for m in ("W_E", "W_L")},
    "final Gini of W_L": at_least(0.7, "0.79 in table 5"),
}

CLAIMS = (
    Claim(
        "nanda.s51.restricted_def",
        "section 5.1",
        "Restricted loss keeps the constant and the waves of a + b at the key frequencies; of the ideal algorithm it keeps everything.",
        "a definition",
        lambda *_: _restricted_of_ideal(),
        {"relative difference to the original loss": at_most(1e-9, "rounding")},
        needs=(),
        scope="any network",
    ),
    Claim(
        "nanda.s51.excluded_def",
        "section 5.1",
        "Excluded loss takes out just the waves of a + b at the key frequencies, on the pairs trained on; of the ideal algorithm it leaves guessing, ln p.",
        "a definition",
        lambda *_: _excluded_of_ideal(),
        {"difference to ln p": at_most(1e-9, "rounding")},
        needs=(),
        scope="any network",
    ),
    Claim(
        "nanda.fig7.tl",
        "section 5.2, figure 7 top left",
        "Excluded loss falls, then rises while a circuit forms and train and test loss stand still.",
        "boundaries at 1,400, 9,400 and 14,000",
        _excluded,
        {
            "excluded loss at t1": at_most(1e-2, "memorised without the circuit"),
            "excluded loss at t2 over at t1": at_least(1e3, "orders of magnitude in figure 7"),
            "decades the test loss moves from t1 to 0.8 t2": at_most(0.3, "flat in figure 7: within a factor of 2"),
        },
        figure="progress",
    ),
    Claim(
        "nanda.fig7.tr",
        "section 5.2, figure 7 top right",
        "Restricted loss falls before test loss does.",
        "none printed",
        _restricted,
        {
            "epochs by which restricted is below 1 before test": at_least(500, "thousands in figure 7"),
            "restricted over test loss at t2": at_most(0.1, "orders of magnitude in figure 7"),
        },
        figure="progress",
    ),
    Claim(
        "nanda.fig7.bl",
        "section 5.2, figure 7 bottom left",
        "The Gini coefficients of the Fourier components of W_E and W_L rise sharply in cleanup.",
        "about 0.75 to 0.8 at the end (0.76 and 0.79 in table 5)",
        sparsity,
        SPARSE_AT_THE_END,
        figure="progress",
    ),
    Claim(
        "nanda.fig7.br",
        "section 5.2, figure 7 bottom right",
        "The sum of squared weights falls smoothly while the circuit forms, and faster in cleanup.",
        "none printed",
        _weights,
        {
            "sum of all rises after t1 over the fall": at_most(0, "smooth: it only falls"),
            "slope t2 to t3 over slope t1 to t2": at_least(2, "visibly steeper in figure 7"),
        },
        figure="progress",
        finding=refuted(
            "the weights fall smoothly, but as fast in circuit formation as in cleanup (ratio 1.07): in this network the two phases run into each other"
        ),
    ),
    Claim(
        "nanda.s52.memorization",
        "section 5.2",
        "First phase, memorisation: train and excluded loss fall together.",
        "epochs 0 to 1,400",
        _memorization,
        {
            "t1": between(800, 2500, "1,400 in the paper"),
            "largest excluded over train loss before t1 / 2": at_most(10, "together in figure 7"),
        },
        figure="progress",
        finding=refuted(
            "a near miss: at epoch 500 of t1 = 1,100 the excluded loss is 10.05 times the train loss, so the circuit begins to matter already while the network memorises"
        ),
    ),
    Claim(
        "nanda.s52.circuit",
        "section 5.2",
        "Second phase, circuit formation: the circuit is there well before the network groks.",
        "epochs 1,400 to 9,400",
        _circuit,
        {
            "t2 over t1": at_least(2, "6.7 in the paper"),
            "restricted loss at t2": at_most(1, "far below test loss in figure 7"),
        },
        figure="progress",
    ),
    Claim(
        "nanda.s52.cleanup",
        "section 5.2",
        "Third phase, cleanup: test loss falls suddenly, weights shrink, and then everything is stable.",
        "epochs 9,400 to 14,000",
        _cleanup,
        {
            "(t3 - t2) over t2": at_most(1, "0.49 in the paper"),
            "spread of the excluded loss after t3": at_most(0.25, "a plateau in figure 7"),
        },
        figure="progress",
    ),
    Claim(
        "nanda.s53.wd_link",
        "section 5.3",
        "The boundaries of the phases coincide with inflections of the weight norm.",
        "none printed",
        _inflections,
        {"boundaries within 25% of an inflection": at_least(2, "two of three, since the statement is a soft one")},
        figure="progress",
    ),
    Claim(
        "nanda.fig13",
        "appendix C.1.5, figure 13",
        "The network restricted to its key frequencies is accurate well before the whole network is.",
        "none printed",
        _restricted_accuracy,
        {"epochs by which restricted accuracy is ahead": at_least(500, "thousands in figure 13")},
        figure="restricted_accuracy",
    ),
    Claim(
        "nanda.fig14",
        "appendix C.1.5, figure 14",
        "The coefficients of cos(w_k(a + b - c)) in the logits grow smoothly over training.",
        "none printed",
        _coefficients,
        {
            "smallest growth from t1": at_least(5, "from near 0 in figure 14"),
            "largest jump in 100 epochs over the final value": at_most(0.3, "smooth in figure 14"),
        },
        figure="coefficients",
        finding=refuted(
            "smooth, but the smallest growth from t1 to the end is 4.88, not 5: at t1 a fifth of the final coefficient is there"
        ),
    ),
    Claim(
        "nanda.fig15",
        "appendix C.1.5, figure 15",
        "Each key frequency by itself is needed at the end: without it the train loss is much higher.",
        "none printed",
        _single_exclusion,
        {"smallest excluded loss over train loss": at_least(10, "orders of magnitude in figure 15")},
        figure="single_exclusion",
    ),
)
