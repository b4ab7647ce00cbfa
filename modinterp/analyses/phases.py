"""When a network memorised, when it grokked, and the three phases between (definition D15 and D16)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

LEARNED = 0.99


def first_epoch(epochs: pd.Series, reached: pd.Series) -> float:
    """The first epoch at which something is true; NaN if it never is.

    >>> epochs = pd.Series([0, 100, 200])
    >>> first_epoch(epochs, epochs > 50), first_epoch(epochs, epochs > 500)
    (100.0, nan)
    """
    hits = epochs[reached]
    return float(hits.iloc[0]) if len(hits) else math.nan


@dataclass(frozen=True)
class Grokking:
    """Whether and when a network generalised after it had memorised (definition D15). Epochs; NaN for never.

    Attributes:
        memorised: first epoch with train accuracy of at least 0.99.
        grokked: first epoch with test accuracy of at least 0.99.
        highest_test_loss: largest test loss between the two. [nats]
        highest_ratio: largest ratio of test to train loss between the two.
    """

    memorised: float
    grokked: float
    highest_test_loss: float
    highest_ratio: float
    n_classes: int

    @property
    def delayed(self) -> bool:
        """True grokking: 500 epochs of delay or more, and in between a test loss more than 1 nat above chance, or at
        least 100 times the train loss."""
        apart = self.highest_test_loss > math.log(self.n_classes) + 1 or self.highest_ratio >= 100
        return self.grokked - self.memorised >= 500 and apart


def _learned(history: pd.DataFrame) -> tuple[float, float]:
    """Epochs at which what is trained on and what is held out is first answered as well as counts as learned."""
    train, test = (first_epoch(history["epoch"], history[f"{part}_accuracy"] >= LEARNED) for part in ("train", "test"))
    return train, test


def grokking(history: pd.DataFrame, n_classes: int) -> Grokking:
    """Read memorisation and grokking off a history with the columns epoch, and loss and accuracy of train and test."""
    memorised, grokked = _learned(history)
    between = history["epoch"].between(memorised, grokked if grokked == grokked else math.inf)
    test, ratio = history["test_loss"], history["test_loss"] / history["train_loss"]
    highest = [float(x[between].max()) if between.any() else math.nan for x in (test, ratio)]
    return Grokking(memorised, grokked, highest[0], highest[1], n_classes)


@dataclass(frozen=True)
class Phases:
    """Boundaries of the phases, in epochs (definition D16); NaN where one is not reached.

    Attributes:
        memorised: end of memorisation, t1: where the excluded loss is lowest before the network groks.
        formed: end of circuit formation, t2: from where the test loss is below half its plateau after t1.
        cleaned: end of cleanup, t3: first epoch with a test loss of at most twice the final one.
        plateau: median test loss from t1 to the grokking epoch. [nats]
    """

    memorised: float
    formed: float
    cleaned: float
    plateau: float


def phases(progress: pd.DataFrame) -> Phases:
    """Read the phases off progress measures, rows in the order of epochs.

    The plateau of the test loss after memorisation is its median between t1 and the first epoch with a test accuracy of
    0.99. Source: Nanda et al. 2023, section 5.2.
    """
    epochs, test = progress["epoch"], progress["test_loss"]
    grokked = first_epoch(epochs, progress["test_accuracy"] >= LEARNED)
    if grokked != grokked:
        return Phases(math.nan, math.nan, math.nan, math.nan)
    before = progress[epochs < grokked]
    if before.empty:
        return Phases(math.nan, math.nan, math.nan, math.nan)
    memorised = float(before["epoch"].loc[before["excluded_loss_train"].idxmin()])
    plateau = float(test[epochs.between(memorised, grokked)].median())
    after = epochs > memorised
    formed = first_epoch(epochs, after & (test < plateau / 2))
    cleaned = first_epoch(epochs, after & (test <= 2 * test.iloc[-1]))
    return Phases(memorised, formed, cleaned, plateau)


def value_at(table: pd.DataFrame, epoch: float, column: str) -> float:
    """A measure at the row nearest to an epoch; NaN for a NaN epoch or an empty table."""
    if epoch != epoch or table.empty:
        return math.nan
    return float(table[column].loc[(table["epoch"] - epoch).abs().idxmin()])


def slope(table: pd.DataFrame, column: str, start: float, end: float) -> float:
    """Mean change of a measure per epoch between two epochs; NaN where they do not differ."""
    if not end > start:
        return math.nan
    return (value_at(table, end, column) - value_at(table, start, column)) / (end - start)


def inflections(table: pd.DataFrame, column: str, width: int = 5) -> np.ndarray:
    """Epochs at which the second difference of the smoothed logarithm of a measure has a local extremum.

    Smoothing is a centred running mean over `width` rows. The first rise to the measure's largest value, and as many
    rows after it as the smoothing reaches, are passed over; of the extrema only those of at least a tenth of the
    largest size count. Rows must be evenly spaced.
    """
    smooth = np.log(table[column]).rolling(width, center=True).mean()
    bend = smooth.diff().diff().shift(-1).abs().iloc[int(table[column].to_numpy().argmax()) + width :]
    peak = (bend >= bend.shift(1)) & (bend > bend.shift(-1)) & (bend >= 0.1 * bend.max())
    return table["epoch"].loc[bend.index[peak]].to_numpy()


@dataclass(frozen=True)
class Fall:
    """When the test loss of a network that memorised comes down. Epochs; NaN for never.

    Attributes:
        start: from where it is below half its plateau after memorisation.
        end: from where it is below 1e-2.
    """

    start: float
    end: float


def fall(history: pd.DataFrame) -> Fall:
    """Read off a history alone when grokking begins and ends; the plateau is the median between the two accuracies.

    Source: "Circuit engineering", losses of the addition.
    """
    epochs, test = history["epoch"], history["test_loss"]
    memorised, grokked = _learned(history)
    if not grokked > memorised:
        return Fall(math.nan, math.nan)
    plateau, after = test[epochs.between(memorised, grokked)].median(), epochs > memorised
    return Fall(first_epoch(epochs, after & (test < plateau / 2)), first_epoch(epochs, after & (test < 1e-2)))
