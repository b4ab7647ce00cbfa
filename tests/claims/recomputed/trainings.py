"""What the histories of trainings say, recomputed."""

from __future__ import annotations

import math

import numpy as np
from claims.recomputed.network import PRIMES, Array, Numbers, first_epoch, history, recipe
from claims.recomputed.waves import cosine_fve


def _times(h: dict[str, Array], of: str = "") -> tuple[float, float]:
    """Epochs at which a network first has a train and a test accuracy of 0.99."""
    return first_epoch(h, h[f"train_accuracy{of}"] >= 0.99), first_epoch(h, h[f"test_accuracy{of}"] >= 0.99)


def losses(run: str) -> Numbers:
    """The largest and the last losses, and how much later than the train accuracy the test accuracy comes."""
    h = history(run)
    memorised, grokked = _times(h)
    return {
        "highest_test_loss": float(h["test_loss"].max()),
        "final_test_loss": float(h["test_loss"][-1]),
        "final_train_loss": float(h["train_loss"][-1]),
        "grokking_ratio": grokked / memorised,
    }


def grokking_window(run: str) -> Numbers:
    """From when to when the test loss falls: from half its median before it groks to 1e-2."""
    h = history(run)
    memorised, grokked = _times(h)
    plateau = np.median(h["test_loss"][(h["epoch"] >= memorised) & (h["epoch"] <= grokked)])
    start, end = (first_epoch(h, (h["epoch"] > memorised) & (h["test_loss"] < x)) for x in (plateau / 2, 1e-2))
    return {"epoch at which grokking begins": start, "epochs that grokking takes": end - start}


def low_losses(run: str) -> Numbers:
    """How many of the 29 tasks end with a test loss of at most 0.05."""
    h = history(run)
    return {"tasks with a test loss of at most 0.05": sum(float(h[f"test_loss_mod_{q}"][-1]) <= 0.05 for q in PRIMES)}


def delayed_tasks(run: str) -> Numbers:
    """How many of the 29 tasks are generalised 500 epochs or more after they are memorised."""
    h = history(run)
    times = [_times(h, f"_mod_{q}") for q in PRIMES]
    late = sum(grokked - memorised >= 500 for memorised, grokked in times)
    return {"tasks that generalise 500 epochs or more after they are memorised": late}


def diverging(run: str) -> Numbers:
    """The test loss when the train loss is first below 1e-3, and at the end."""
    h = history(run)
    at_1e_3 = float(h["test_loss"][(h["train_loss"] < 1e-3).argmax()])
    return {"test loss at a train loss of 1e-3": at_1e_3, "final_test_loss": float(h["test_loss"][-1])}


def without_positions(*runs: str) -> Numbers:
    """Which networks grok, 500 epochs after memorising and apart in between, and the FVE of their logits."""
    delayed = []
    for run in runs:
        h = history(run)
        memorised, grokked = _times(h)
        between = (h["epoch"] >= memorised) & (h["epoch"] <= grokked)
        test, train = h["test_loss"][between], h["train_loss"][between]
        apart = test.max() > math.log(113) + 1 or (test / train).max() >= 100
        delayed.append(float(grokked - memorised >= 500 and apart))
    return {"delayed": delayed, "logit_fve": [cosine_fve(run) for run in runs]}


def table_5_accuracies(*runs: str) -> Numbers:
    """The last test accuracy of the networks of one layer without dropout."""
    specs = {run: recipe(run) for run in runs}
    kept = [run for run, spec in specs.items() if spec["model"]["n_layers"] == 1 and not spec["recipe"]["dropout"]]
    return {"test accuracy, one layer with weight decay": [float(history(run)["test_accuracy"][-1]) for run in kept]}
