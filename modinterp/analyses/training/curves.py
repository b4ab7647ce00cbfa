"""Analyse training curves: slingshots, sudden drops, the duration of a fall, peaks and rank correlations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from modinterp.analyses.checked import checked
from modinterp.analyses.training.phases import Time, first_epoch

LOW, HIGH = 1e-3, 1e-2  # thresholds of a slingshot [nats]


@checked
def slingshots(epochs: pd.Series, loss: pd.Series, low: float = LOW, high: float = HIGH) -> np.ndarray:
    """Find slingshots: epochs at which a low loss jumps up, from below `low` to above `high`.

    The loss must fall below `low` again before the next slingshot counts. Changes between two rows of a history are not
    detected.

    Args:
        epochs, loss: columns of a history, one row for each logged epoch.
        low, high: thresholds. [nats]
    Source: Nanda et al. 2023, appendix D.2; the thresholds are ours.

    >>> slingshots(pd.Series([0, 10, 20, 30, 40]), pd.Series([1e-4, 0.5, 0.2, 1e-5, 1.0])).tolist()
    [10, 40]
    """
    springs, was_low = [], False
    for epoch, value in zip(epochs, loss, strict=True):
        if was_low and value > high:
            springs.append(epoch)
        was_low = value < low or (was_low and value <= high)
    return np.array(springs)


@dataclass(frozen=True)
class Drop:
    """The largest fall of a curve within a number of epochs; all values are NaN for a curve with one row.

    Attributes:
        size: height of the fall in the curve's units; negative for a curve that rises throughout.
        start, end: epochs between which the curve falls.
    """

    size: float
    start: float
    end: float


@checked
def largest_drop(epochs: pd.Series, loss: pd.Series, within: float) -> Drop:
    """Return the largest fall of a curve from one row of a history to a later row at most `within` epochs after it.

    >>> largest_drop(pd.Series([0, 10, 20, 30]), pd.Series([4.0, 3.0, 1.0, 1.0]), within=10)
    Drop(size=2.0, start=10.0, end=20.0)
    """
    x, y = epochs.to_numpy(dtype=float), loss.to_numpy(dtype=float)
    best = Drop(math.nan, math.nan, math.nan)
    for first in range(len(x) - 1):
        last = int(np.searchsorted(x, x[first] + within, side="right"))
        if last > first + 1:
            lowest = first + 1 + int(y[first + 1 : last].argmin())
            size = float(y[first] - y[lowest])
            if size > best.size or best.size != best.size:
                best = Drop(size, float(x[first]), float(x[lowest]))
    return best


@checked
def time_to_fall(epochs: pd.Series, loss: pd.Series, high: float, low: float) -> float:
    """Return the epochs from the last row above `high` to the first row below `low`; NaN if the curve does not fall so
    far.

    >>> time_to_fall(pd.Series([0, 10, 20, 30]), pd.Series([4.0, 3.0, 1.0, 0.0]), high=2, low=0.5)
    20.0
    """
    end = first_epoch(epochs, loss < low)
    above = epochs[(loss > high) & (epochs < end)]
    return end - float(above.iloc[-1]) if len(above) else math.nan


@dataclass(frozen=True)
class Peak:
    """The highest value of a curve, its epoch, and the share of it that the curve loses afterwards.

    Attributes:
        height: largest value, in the curve's units.
        epoch: epoch of the largest value.
        share_lost: largest share of its height that the curve loses afterwards.
    """

    height: float
    epoch: float
    share_lost: float


@checked
def peak(epochs: pd.Series, loss: pd.Series) -> Peak:
    """The highest value of a curve, its epoch, and the share of it that the curve loses afterwards.

    >>> peak(pd.Series([0, 10, 20]), pd.Series([1.0, 4.0, 1.0]))
    Peak(height=4.0, epoch=10.0, share_lost=0.75)
    """
    top = int(loss.to_numpy().argmax())
    height = float(loss.iloc[top])
    return Peak(height, float(epochs.iloc[top]), 1 - float(loss.iloc[top:].min()) / height)


@checked
def rank_correlation(x: Sequence[Time], y: Sequence[Time]) -> float:
    """Return Spearman's rank correlation; ties share their rank, infinity ranks last, and pairs with a NaN are left
    out.

    The correlation is NaN for fewer than three pairs, and if all values of x or all values of y are equal.

    >>> round(rank_correlation([1, 2, 3], [10, 100, 1000]), 9)
    1.0
    """
    pairs = pd.DataFrame({"x": x, "y": y}, dtype=float).dropna().rank()
    return float(pairs["x"].corr(pairs["y"])) if len(pairs) > 2 and (pairs.nunique() > 1).all() else math.nan
