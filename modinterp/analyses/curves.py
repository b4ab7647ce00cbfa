"""Curves of a training as numbers: slingshots, and what several curves have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from modinterp.analyses.phases import NAN

LOW, HIGH = 1e-3, 1e-2


def slingshots(epochs: pd.Series, loss: pd.Series, low: float = LOW, high: float = HIGH) -> np.ndarray:
    """Epochs at which a loss that was low springs up: it goes from below `low` to above `high`.

    It must come below `low` again before the next is counted. What happens between two rows of a history is not seen.

    Source: Nanda et al. 2023, appendix D.2; the thresholds are those of the ledger (figure 22).
    """
    found, was_low = [], False
    for epoch, value in zip(epochs, loss, strict=True):
        if was_low and value > high:
            found.append(epoch)
        was_low = value < low or (was_low and value <= high)
    return np.array(found)


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's correlation of the ranks, ties sharing theirs; pairs with a NaN are left out.

    NaN for fewer than three pairs, of which the ranks say nothing, and where all of one are equal.

    >>> round(rank_correlation([1, 2, 3], [10, 100, 1000]), 9)
    1.0
    """
    pairs = pd.DataFrame({"x": x, "y": y}, dtype=float).dropna().rank()
    return float(pairs["x"].corr(pairs["y"])) if len(pairs) > 2 and (pairs.nunique() > 1).all() else NAN
