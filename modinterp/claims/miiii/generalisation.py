"""When each task is learned, and what all of them together are worth as a primality test."""

from __future__ import annotations

import math
from statistics import median

from modinterp.analyses.curves import rank_correlation
from modinterp.analyses.generalisation import inversions, never_last, spread
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.claim import Claim, Value, not_measured, refuted
from modinterp.claims.miiii.evidence import (
    CODED,
    FIRST,
    GENERALISED,
    LEARNED_BECAUSE,
    MASKED,
    NO_DROPOUT,
    PRINTED,
    DigitsEvidence,
    digits_evidence,
)
from modinterp.runs import TrainedRun


def _times(ev: DigitsEvidence) -> tuple[list[float], dict[int, float]]:
    """Epochs at which the first four and the other tasks generalised, never as infinity."""
    others = ev.generalised(ev.others)
    return never_last(list(ev.generalised(FIRST).values())), dict(
        zip(others, never_last(list(others.values())), strict=True)
    )


def _accuracy(run: TrainedRun, *printed: TrainedRun) -> dict[str, Value]:
    """Of the run on half of the inputs; beside it how many tasks one on 30% learns."""
    ev = digits_evidence(run)
    first, others = _times(ev)
    in_turn = [*first, min(others.values(), default=math.nan)]
    accuracies = ev.last("test_accuracy")
    learned = [int((digits_evidence(other).last("test_accuracy") >= 0.99).sum()) for other in printed]
    return {
        "tasks with a test accuracy of 0.99": int((accuracies >= 0.99).sum()),
        "2, 3, 5, 7, then the first of the others: pairs out of order": inversions(in_turn),
        "Spearman's correlation of q and the epoch, other tasks": rank_correlation(list(others), list(others.values())),
        "median epoch of the other tasks": median(others.values()) if others else math.nan,
        "lowest test accuracy": float(accuracies.min()),
        "mean test accuracy": float(accuracies.mean()),
        **{f"epoch of q = {q}": time for q, time in zip(FIRST, first, strict=False)},
        "first of the other tasks": in_turn[-1],
        "last of the other tasks": max(others.values(), default=math.nan),
        **({"tasks with that trained on 30%, as printed": learned} if learned else {}),
    }


def _loss(run: TrainedRun) -> dict[str, Value]:
    ev = digits_evidence(run)
    test, train = ev.last("test_loss"), ev.last("train_loss")
    return {
        "tasks with a test loss of at most 0.05": int((test <= 0.05).sum()),
        "highest test loss": float(test.max()),
        "highest train loss": float(train.max()),
    }


def _grokked(run: TrainedRun) -> dict[str, Value]:
    times = digits_evidence(run).times
    gaps = [late - early for early, late in zip(times.memorised, times.generalised, strict=True)]
    known = [gap for gap in gaps if gap == gap]
    return {
        "tasks that generalise 500 epochs or more after they are memorised": times.delayed(),
        "median delay": median(known) if known else math.nan,
        "latest memorised": max(times.memorised),
    }


def _together(run: TrainedRun) -> dict[str, Value]:
    first, others = _times(digits_evidence(run))
    return {
        "interquartile range of log10 of the epoch, other tasks": spread(list(others.values())),
        "share of the other tasks that generalise": sum(map(math.isfinite, others.values())) / max(len(others), 1),
        "other tasks": len(others),
        "the same with the first four": spread([*first, *others.values()]),
    }


def _primality(run: TrainedRun) -> dict[str, Value]:
    ev = digits_evidence(run)
    found = ev.primality
    return {
        "F1": found.f1,
        "mean test accuracy": ev.accuracy,
        "precision": found.precision,
        "recall": found.recall,
        "called prime": found.called,
        "primes": found.primes,
        "tasks solved": ev.solved,
    }


def _no_dropout(run: TrainedRun) -> dict[str, Value]:
    accuracies = dict(
        zip(digits_evidence(run).primes, digits_evidence(run).last("test_accuracy").tolist(), strict=True)
    )
    return {
        "lower test accuracy of q = 2 and q = 3": min(accuracies[q] for q in (2, 3)),
        "other tasks with a test accuracy of 0.99": sum(share >= 0.99 for q, share in accuracies.items() if q > 3),
        "mean test accuracy of the others": sum(s for q, s in accuracies.items() if q > 3) / (len(accuracies) - 2),
    }


def _masked_order(masked: TrainedRun, plain: TrainedRun) -> dict[str, Value]:
    ours, theirs = (_times(digits_evidence(run))[1] for run in (masked, plain))
    earliest = sorted(ours, key=lambda q: ours[q])[:4]
    return {
        "of the first four to generalise, how many are among 11, 13, 17, 19": len({11, 13, 17, 19} & set(earliest)),
        "median epoch over that with 2, 3, 5, 7": median(ours.values()) / median(theirs.values()),
        "tasks solved": sum(time < float("inf") for time in ours.values()),
    }


CLAIMS = (
    Claim("miiii.fig5.accuracy", "figure 5",
          "All 29 tasks are generalised; 2, 3, 5 and 7 first and in this order, the others later and in no order.",
          "29 of 29; the others near epoch 40,000", _accuracy,
          {"tasks with a test accuracy of 0.99": at_least(27, "29 in the source, two of grace"),
           "2, 3, 5, 7, then the first of the others: pairs out of order": at_most(1, "none in the source, one of grace"),
           "Spearman's correlation of q and the epoch, other tasks": at_most(0.8, "no order is seen in the source"),
           "median epoch of the other tasks": between(10_000, 65_536, "near 40,000 in the source; the run ends at 65,536")},
          needs=(CODED, PRINTED), required=(CODED,), figure="accuracy",
          finding=refuted("2, 3, 5 and 7 come first and in order, but 25 of 29 reach 99% in 65,536 epochs (79, 83, 97 and 101 are at 94% to "
                          "98%), and the others are learned in the order of their size (Spearman's correlation 0.89)")),
    Claim("miiii.fig6.ce", "figure 6", "The cross-entropy of every task falls as its accuracy rises.", "29 of 29", _loss,
          {"tasks with a test loss of at most 0.05": at_least(27, "29 in the source, two of grace")},
          needs=(CODED,), figure="losses",
          finding=refuted("25 of 29 end below 0.05; those of 79, 83, 97 and 101 have fallen from 8.4 to 9.9 to 0.08 to 0.19")),
    Claim("miiii.grokked_all", "model performance", "Every task is grokked: memorised first, generalised later.", "29 of 29",
          _grokked,
          {"tasks that generalise 500 epochs or more after they are memorised": at_least(25, "29 in the source, four of grace")},
          needs=(CODED,), figure="accuracy",
          finding=refuted("23 of 29: all are memorised by epoch 13,696 and 25 generalise, 2 and 3 of them as soon as they are memorised")),
    Claim("miiii.25_together", "model performance",
          "The 25 tasks of the primes from 11 on generalise together, which suggests that they share what they do.", "near epoch 40,000", _together,
          {"interquartile range of log10 of the epoch, other tasks": at_most(0.3, "within a factor of two")},
          given={"share of the other tasks that generalise": at_least(0.9, LEARNED_BECAUSE)},
          needs=(CODED,), figure="accuracy",
          finding=not_measured("21 of the 25 generalise in 65,536 epochs, between 20,608 and 57,152; 23 would decide it")),
    Claim("miiii.no_mi_prime_detection", "background",
          "All tasks together are a primality test: a number from 113 to 12,768 is prime if none of its remainders is 0.",
          "not measured in the source", _primality,
          {"F1": at_least(0.99, "what 29 solved tasks give")},
          given=GENERALISED, needs=(CODED,), figure="primality"),
    Claim("miiii.x.nodropout", "appendix", "Without dropout the network overfits every task but 2 and 3.", "2 and 3 alone",
          _no_dropout,
          {"lower test accuracy of q = 2 and q = 3": at_least(0.99, "these two generalise in the source"),
           "other tasks with a test accuracy of 0.99": at_most(0, "no other does in the source")},
          needs=(NO_DROPOUT,), finding=not_measured("awaits miiii/p113-no-dropout-0")),
    Claim("miiii.x.masked_order", "appendix",
          "Without the tasks 2, 3, 5 and 7 those of 11, 13, 17 and 19 are learned first, and nothing is delayed.",
          "11, 13, 17, 19", _masked_order,
          {"of the first four to generalise, how many are among 11, 13, 17, 19": at_least(3, "four in the source, one of grace"),
           "median epoch over that with 2, 3, 5, 7": at_most(1.5, "not delayed, give or take one seed")},
          given={"tasks solved": at_least(13, "half of the 25, so that their median epoch is known")}, needs=(MASKED, CODED),
          finding=not_measured("awaits miiii/masked-0")),
)  # fmt: skip
