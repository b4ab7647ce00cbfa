"""Problems with the data, and what is said of all the tasks together."""

from __future__ import annotations

from collections.abc import Sequence

from modinterp.analyses.phases import grokking
from modinterp.claims.band import at_least, at_most, between
from modinterp.claims.circuits.evidence import ordering_evidence
from modinterp.claims.claim import Claim, Value, refuted
from modinterp.runs import TrainedRun
from modinterp.runs.catalogue.circuits import WIDTHS
from modinterp.tasks import Ordering

MAX = tuple(f"circuits/max-{seed}" for seed in range(3))
BALANCED = tuple(f"circuits/max-balanced-{seed}" for seed in range(3))
LEARNED = "an untrained network does this too, and says nothing by it"


def _no_grok(*runs: TrainedRun) -> dict[str, Value]:
    found = [grokking(run.history, run.task.heads[0]) for run in runs]
    return {
        "delay of the test set over the training set, in units of the latter": [
            (g.grokked - g.memorised) / g.memorised for g in found
        ],
        "runs that grok": sum(g.delayed for g in found),
        "step of 99% on the training set": [g.memorised for g in found],
        "step of 99% on the test set": [g.grokked for g in found],
    }


def _sort_hard(small: TrainedRun, large: TrainedRun) -> dict[str, Value]:
    few, many = ordering_evidence(small), ordering_evidence(large)
    return {"gain in accuracy": many.accuracy - few.accuracy, "small": few.accuracy, "ten times": many.accuracy}


def _below_small() -> dict[str, Value]:
    task = Ordering("max", size=40_000)
    numbers = task.fresh(task.size, seed=0).inputs[:, : task.n]
    return {
        "inputs with all numbers below 20": int((numbers.amax(dim=1) < task.small_limit).sum()),
        "expected": task.size * (task.small_limit / task.limit) ** task.n,
    }


def _rebalance(plain: TrainedRun, balanced: TrainedRun) -> dict[str, Value]:
    before, after = ordering_evidence(plain), ordering_evidence(balanced)
    share = after.task.small_share
    augmented = [share * ev.small_accuracy + (1 - share) * ev.accuracy for ev in (before, after)]
    return {
        "gain on the augmented test set": augmented[1] - augmented[0],
        "accuracy on the augmented test set after": augmented[1],
        "before": augmented[0],
        "small numbers alone before": before.small_accuracy,
        "small numbers alone after": after.small_accuracy,
        "share of small inputs in the augmented test set": share,
    }


def _marginal(plain: TrainedRun, balanced: TrainedRun) -> dict[str, Value]:
    before, after = ordering_evidence(plain).accuracy, ordering_evidence(balanced).accuracy
    return {"gain on the uniform test set": abs(after - before), "accuracy after": after, "before": before}


def _sort_and_median(sort: TrainedRun, median: TrainedRun) -> dict[str, Value]:
    ours, theirs = ordering_evidence(sort), ordering_evidence(median)
    return {
        "loss of the median over that of the sort": theirs.loss / ours.loss,
        "accuracy of the sort less that of the median": ours.accuracy - theirs.accuracy,
        "loss of the sort": ours.loss,
        "loss of the median": theirs.loss,
    }


def _final_losses(runs: Sequence[TrainedRun]) -> dict[int, float]:
    return {run.model.cfg.d_model: float(run.history["test_loss"].iloc[-1]) for run in runs if len(run.history)}


def _width(*runs: TrainedRun) -> dict[str, Value]:
    medians = [run for run in runs if isinstance(run.task, Ordering)]
    of_add, of_median = _final_losses([run for run in runs if run not in medians]), _final_losses(medians)
    curves = {f"{task}, width {d}": loss for task, of in (("addition", of_add), ("median", of_median))
              for d, loss in of.items()}  # fmt: skip
    best = {name: float(min(of, key=lambda d: of[d])) if of else float("nan")
            for name, of in (("addition", of_add), ("median", of_median))}  # fmt: skip
    return {
        **{f"best width of {name}": width for name, width in best.items()},
        "loss of the median at its best": min(of_median.values(), default=float("nan")),
        **curves,
    }


CLAIMS = (
    Claim(
        "circuits.data.max_no_grok",
        "Problems",
        "The maximum generalises at once, without being memorised first.",
        "no gap between the two curves",
        _no_grok,
        {
            "delay of the test set over the training set, in units of the latter": at_most(0.1, "no gap is seen"),
            "runs that grok": at_most(0, "no grokking at all"),
        },
        needs=MAX,
        scope="any seed",
        figure="curves",
    ),
    Claim(
        "circuits.data.sort_hard",
        "Problems",
        "The sort generalises only from about ten times as many inputs.",
        "10 times",
        _sort_hard,
        {"gain in accuracy": at_least(0.1, "\"does not generalise properly\" before")},
        needs=("circuits/sort-small-0", "circuits/sort-0"),
        finding=refuted("99.78% of the tokens are right with 40,000 inputs, 99.93% with 400,000"),
    ),
    Claim(
        "circuits.data.max_below20",
        "Distribution",
        "Of 40,000 uniform draws of five numbers below 100 hardly any have all below 20.",
        "10",
        _below_small,
        {
            "inputs with all numbers below 20": between(2, 25),
            "expected": between(12.79, 12.81),
        },
        needs=(),
        scope="any network",
    ),
    Claim(
        "circuits.data.rebalance",
        "Distribution",
        "With inputs of small numbers added to the training set, accuracy on a test set with such inputs rises.",
        "from about 85% to about 95%",
        _rebalance,
        {
            "gain on the augmented test set": at_least(0.05, "10 points in the source, times one half"),
            "accuracy on the augmented test set after": at_least(0.93, "about 95% in the source"),
        },
        needs=(MAX[0], BALANCED[0]),
        figure="accuracy",
    ),
    Claim(
        "circuits.data.marginal",
        "General observations",
        "On uniform inputs, the added small ones change little.",
        "marginally",
        _marginal,
        {
            "gain on the uniform test set": at_most(0.03, "marginal"),
            "accuracy after": at_least(0.9, LEARNED),
        },
        needs=(MAX[0], BALANCED[0]),
        figure="accuracy",
    ),
    Claim(
        "circuits.obs.sort_vs_median",
        "General observations",
        "The sort is learned better than the median.",
        "a tenth of the loss, 5 points of accuracy more",
        _sort_and_median,
        {
            "loss of the median over that of the sort": at_least(2, "10 in the source, seed-specific"),
            "accuracy of the sort less that of the median": at_least(0, "5 points in the source, seed-specific"),
        },
        needs=("circuits/sort-small-0", "circuits/median-0"),  # both from 40,000 inputs
    ),
    Claim(
        "circuits.obs.width",
        "General observations, loss by width",
        "Addition is learned best by a narrow network, the median by a wide one.",
        "32 and 512",
        _width,
        {
            "best width of addition": at_most(64, "32 in the source, seed-specific"),
            "best width of median": at_least(128, "512 in the source, seed-specific"),
            "loss of the median at its best": at_most(2.3, "half of what guessing costs; else no width is good"),
        },
        needs=tuple(f"circuits/{task}-width-{d}-0" for task in ("add", "median") for d in WIDTHS),
        figure="widths",
    ),
)  # fmt: skip
