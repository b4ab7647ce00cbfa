"""Find memorisation, grokking and the phases of training in histories (definitions D15 and D16)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
import pandas as pd

from modinterp.analyses.checked import checked
from modinterp.analyses.meanings import Holds
from modinterp.arguments import OR_NEVER

LEARNED = 0.99  # accuracy that counts as learned
FEWEST_IN_A_PHASE = 4  # measured epochs, from which its boundaries are told
Time = Annotated[float, OR_NEVER]  # an epoch; NaN for never
Table = Annotated[pd.DataFrame, Holds(("epoch",))]
History = Annotated[pd.DataFrame, Holds(("epoch", "train_loss", "test_loss", "train_accuracy", "test_accuracy"))]
Progress = Annotated[pd.DataFrame, Holds(("epoch", "test_loss", "test_accuracy", "excluded_loss_train"))]


@checked
def first_epoch(epochs: pd.Series, condition: pd.Series) -> float:
    """Return the first epoch at which a condition is true; NaN if it never is.

    >>> epochs = pd.Series([0, 100, 200])
    >>> first_epoch(epochs, epochs > 50), first_epoch(epochs, epochs > 500)
    (100.0, nan)
    """
    hits = epochs[condition]
    return float(hits.iloc[0]) if len(hits) else math.nan


@dataclass(frozen=True)
class Grokking:
    """Epochs of memorising and generalising of one network (definition D15).

    Attributes:
        memorised: first epoch with a train accuracy of at least 0.99; NaN for never.
        grokked: first epoch with a test accuracy of at least 0.99; NaN for never.
        highest_test_loss: largest test loss between memorising and grokking. [nats]
        highest_ratio: largest ratio of test to train loss between memorising and grokking.
        n_classes: number of answers, whose logarithm is the loss at chance.
    """

    memorised: float
    grokked: float
    highest_test_loss: float
    highest_ratio: float
    n_classes: int

    @property
    def delayed(self) -> bool:
        """True if the network grokked: it generalised at least 500 epochs after memorising, with a high test loss in
        between.

        A test loss is high if it is more than 1 nat above chance, or at least 100 times the train loss.
        """
        apart = self.highest_test_loss > math.log(self.n_classes) + 1 or self.highest_ratio >= 100
        return self.grokked - self.memorised >= 500 and apart


def _learned(history: pd.DataFrame) -> tuple[float, float]:
    """Return the first epochs with a train accuracy and with a test accuracy of at least 0.99; NaN for never."""
    train, test = (first_epoch(history["epoch"], history[f"{part}_accuracy"] >= LEARNED) for part in ("train", "test"))
    return train, test


@checked
def grokking(history: History, n_classes: int) -> Grokking:
    """Determine from a history whether and when a network memorised and grokked.

    Args:
        history: table with the columns epoch, train_loss, test_loss, train_accuracy and test_accuracy.
        n_classes: number of answers, whose logarithm is the loss at chance.
    Source: Nanda et al. 2023; made precise as definition D15.
    """
    memorised, grokked = _learned(history)
    between = history["epoch"].between(memorised, grokked if grokked == grokked else math.inf)
    test, ratio = history["test_loss"], history["test_loss"] / history["train_loss"]
    highest = [float(x[between].max()) if between.any() else math.nan for x in (test, ratio)]
    return Grokking(memorised, grokked, highest[0], highest[1], n_classes)


@dataclass(frozen=True)
class Phases:
    """Boundaries of the three phases of training, in epochs; a boundary that is not reached is NaN (definition D16).

    Attributes:
        memorisation_ended: t1, the epoch with the lowest excluded loss before the network groks. This is later than
            `Grokking.memorised`, the first epoch at which the training pairs are right.
        formed: end of circuit formation, t2: first epoch after t1 with a test loss below half its plateau.
        cleaned: end of cleanup, t3: first epoch after t1 with a test loss of at most twice the final test loss.
        plateau: median test loss from t1 to the grokking epoch. [nats]
        apart: largest distance between two measured epochs from half of t1 to t3; NaN if it is unknown.
    """

    FORMERLY: ClassVar[Mapping[str, str]] = {"memorised": "memorisation_ended"}  # in what was recorded before

    memorisation_ended: float
    formed: float
    cleaned: float
    plateau: float
    apart: float = math.nan

    @property
    def is_coarse(self) -> bool:
        """True if a phase contains fewer than four measured epochs, too few to separate the phases."""
        ends = (0.0, self.memorisation_ended, self.formed, self.cleaned)
        lengths = [end - start for start, end in pairwise(ends) if end == end and start == start]
        return bool(lengths) and self.apart > min(lengths) / FEWEST_IN_A_PHASE

    @property
    def words(self) -> str:
        """The boundaries in words, with a warning if the measured epochs are too far apart to determine them."""
        epochs = f"{self.memorisation_ended:,.0f}, {self.formed:,.0f} and {self.cleaned:,.0f}"
        if not self.is_coarse:
            return f"boundaries at epochs {epochs}"
        return f"boundaries near epochs {epochs}, uncertain because snapshots are {self.apart:,.0f} epochs apart"

    def dozen_of(self, epochs: Sequence[int]) -> list[int]:
        """Select about a dozen epochs spread over the phases: the ends, the boundaries, and two within each phase.

        Args:
            epochs: available epochs, in ascending order; boundaries that are not reached are left out.
        """
        reached = (t for t in (self.memorisation_ended, self.formed, self.cleaned) if t == t)
        knots = [epochs[0], *reached, epochs[-1]]
        targets = [start + (end - start) * i / 3 for start, end in pairwise(knots) for i in range(3)]
        return sorted({min(epochs, key=lambda e: abs(e - t)) for t in [*targets, epochs[-1]]})


@checked
def phases(progress: Progress) -> Phases:
    """Determine the boundaries of the three phases of training from progress measures.

    Args:
        progress: from `modinterp.analyses.training.progress.progress_measures`, rows in the order of epochs.
    Source: Nanda et al. 2023, section 5.2; made precise as definition D16.
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
    last = max(t for t in (memorised, formed, cleaned) if t == t)
    around = epochs[epochs.between(memorised / 2, last)]
    apart = float(around.diff().max()) if len(around) > 1 else float(epochs.diff().max())
    return Phases(memorised, formed, cleaned, plateau, apart)


@checked
def value_at(table: Table, epoch: Time, column: str) -> float:
    """Return the value of a column at the row nearest to an epoch; NaN for a NaN epoch or an empty table.

    Args:
        table: table with a column epoch.
    """
    if epoch != epoch or table.empty:
        return math.nan
    return float(table[column].loc[(table["epoch"] - epoch).abs().idxmin()])


@checked
def slope(table: Table, column: str, start: Time, end: Time) -> float:
    """Return the mean change of a column per epoch between two epochs; NaN unless the end is later than the start.

    Args:
        table: table with a column epoch.
        start, end: epochs; the nearest rows of the table are used.
    """
    if not end > start:
        return math.nan
    return (value_at(table, end, column) - value_at(table, start, column)) / (end - start)


@checked
def inflections(table: Table, column: str, width: int = 5) -> np.ndarray:
    """Return the epochs at which the second difference of the smoothed logarithm of a column has a local extremum.

    Smoothing is a centred running mean over `width` rows. Rows up to the column's largest value, and the next rows that
    the smoothing mixes with them, are left out. Extrema count only if they have at least a tenth of the largest size.

    Args:
        table: table with a column epoch, its rows evenly spaced.
        column: a column of positive numbers.
        width: number of rows in the running mean.
    """
    smooth = np.log(table[column]).rolling(width, center=True).mean()
    bend = smooth.diff().diff().shift(-1).abs().iloc[int(table[column].to_numpy().argmax()) + width :]
    peak = (bend >= bend.shift(1)) & (bend > bend.shift(-1)) & (bend >= 0.1 * bend.max())
    return table["epoch"].loc[bend.index[peak]].to_numpy()


@dataclass(frozen=True)
class Fall:
    """Epochs between which the test loss of a network falls after memorisation; NaN for never.

    Attributes:
        start: first epoch after memorisation with a test loss below half its plateau.
        end: first epoch after memorisation with a test loss below 1e-2 nats.
    """

    start: float
    end: float


@checked
def fall(history: History) -> Fall:
    """Find the epochs between which the test loss falls when a network groks, from its history alone.

    The plateau of the test loss is its median between the first train and the first test accuracy of 0.99.

    Args:
        history: table with the columns epoch, test_loss, train_accuracy and test_accuracy.
    Source: "Circuit engineering", losses of the addition.
    """
    epochs, test = history["epoch"], history["test_loss"]
    memorised, grokked = _learned(history)
    if not grokked > memorised:
        return Fall(math.nan, math.nan)
    plateau, after = test[epochs.between(memorised, grokked)].median(), epochs > memorised
    return Fall(first_epoch(epochs, after & (test < plateau / 2)), first_epoch(epochs, after & (test < 1e-2)))
