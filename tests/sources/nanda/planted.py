"""Trainings whose course is known, because they are written down epoch by epoch, and not trained."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from modinterp.models import TransformerConfig, hooked, initial_weights
from modinterp.runs import TrainedRun
from modinterp.sources import spec
from modinterp.tasks import addition

SMALL = addition(5)
CONFIG = TransformerConfig.of(SMALL, d_model=8, n_heads=1, d_head=8, d_mlp=8)


def trained(name: str, memorised: float = 200, grokked: float = math.inf, epochs: int = 40_000, peak: float = 20.0,
            every: int = 100, spring: tuple[int, ...] = ()) -> TrainedRun:  # fmt: skip
    """A run by the recipe of that name that memorises, generalises and springs up at known epochs."""
    epoch = np.arange(0, epochs + 1, every)

    def fallen(at: float) -> np.ndarray:
        return np.clip(epoch - at + every, 0, None) / every

    train, late = 4.7 * 10.0 ** -np.clip(fallen(memorised) * 3, 0, 8), fallen(grokked)
    test = np.where(late > 0, peak * 10.0 ** -np.clip(late * 3, 0, 9), np.where(epoch > 0, peak, min(4.8, peak)))
    train[np.isin(epoch, spring)] = 1.0
    history = pd.DataFrame({
        "epoch": epoch, "train_loss": train, "test_loss": test, "train_accuracy": np.where(epoch < memorised, 0.1, 1.0),
        "test_accuracy": np.where(epoch < grokked, 0.1, 1.0), "sum_of_squared_weights": 100.0,
    })  # fmt: skip
    small = replace(spec(name), task=SMALL, model=CONFIG)
    return TrainedRun(name, SMALL, hooked(CONFIG, initial_weights(CONFIG, seed=0)), small, history)


GROKKING = {10: math.inf, 20: math.inf, 30: 9000, 40: 2000, 50: 700, 60: 500, 70: 400, 80: 300, 90: 250}


def fractions(grokked: dict[int, float] = GROKKING) -> list[TrainedRun]:
    return [
        trained("nanda/mainline-0" if percent == 30 else f"nanda/fraction-{percent}-0", grokked=at, every=10,
                peak=20.0 - percent / 10)
        for percent, at in grokked.items()
    ]  # fmt: skip
